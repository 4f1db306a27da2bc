#!/usr/bin/env python3
"""Which model of thresholds agrees with packet simulation?

For each workload, load and number of queues: the thresholds of every model and baseline, simulated
on the same flows. Writes an experiment file a scene, its results, and the table of
docs/src/explanation/which-model.md to standard output.

    benches/which_model/run.py OUT_DIR [--flows-web N] [--flows-mining N] [--seeds N]
"""
import argparse
import json
import math
import pathlib
import subprocess

BINARY = "target/release/flowsched"
MODELS = ["multilevel-fcfs", "multilevel-ps", "pias-mm1", "pias-mm1-bound"]
QUEUES = [2, 4, 8]
LOADS = [0.5, 0.6, 0.7, 0.8, 0.9]


def thresholds(workload, load, queues, model):
    """The model's thresholds in bytes, or None where it is unstable."""
    command = [BINARY, "thresholds", "--workload", workload, "--load", str(load),
               "--queues", str(queues), "--model", model, "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    return json.loads(done.stdout)["thresholds_bytes"] if done.returncode == 0 else None


def published(workload, load):
    """The PIAS authors' simulation's thresholds for 8 queues, bytes."""
    table = {
        "web-search-packets": {
            0.9: "759 1132 1456 1737 2010 2199 2325", 0.8: "909 1329 1648 1960 2143 2337 2484",
            0.7: "999 1305 1564 1763 1956 2149 2309", 0.6: "956 1381 1718 2028 2297 2551 2660",
            0.5: "1059 1412 1643 1869 2008 2115 2184"},
        "data-mining-packets": {
            0.9: "750 1083 1416 13705 14952 21125 28253", 0.8: "745 1083 1391 13689 14936 21149 27245",
            0.7: "907 1301 1619 12166 12915 21313 26374", 0.6: "840 1232 1617 11950 12238 21494 25720",
            0.5: "805 1106 1401 10693 11970 21162 22272"},
    }
    return [int(packets) * 1460 for packets in table[workload][load].split()]


def scene(workload, load, flows, seeds):
    """The experiment's text, and the names of its schemes."""
    lines = [f'name = "Thresholds by model: {workload} at load {load}"', f"seeds = {seeds}", "",
             "[topology]", 'kind = "star"', "hosts = 16", 'host_link = "10Gbps"', "", "[workload]",
             f'sizes = "{workload}"', 'pattern = "all-to-all"', f"load = {load}", f"flows = {flows}"]

    def scheme(name, queues, text):
        lines.extend(["", "[[scheme]]", f'name = "{name}"', 'preset = "pias"', f"queues = {queues}",
                      f'thresholds = "{text}"'])

    def in_bytes(sizes):
        return " ".join(f"{size}B" for size in sizes)

    scheme("published 8", 8, in_bytes(published(workload, load)))
    for queues in QUEUES:
        for model in MODELS:
            found = thresholds(workload, load, queues, model)
            if found is not None:
                scheme(f"{model} {queues}", queues, in_bytes(found))
        scheme(f"equal-split {queues}", queues, "equal-split")
        exponential = [200_000 * 2**level for level in range(queues - 1)]
        scheme(f"exponential {queues}", queues, in_bytes(exponential))
    lines.extend(["", "[[scheme]]", 'preset = "dctcp"'])
    return "\n".join(lines) + "\n"


def interval(values):
    """Mean and half the width of the 95% interval by Student's t."""
    t = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 8: 2.365, 10: 2.262}
    count = len(values)
    mean = sum(values) / count
    if count < 2:
        return mean, math.nan
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / (count - 1))
    return mean, t[count] * deviation / math.sqrt(count)


def table(runs):
    """Markdown: changes of mean FCT and mean slowdown against the published thresholds."""
    def by_seed(name, measure):
        return {run["seed"]: run[measure]["all"]["mean"] for run in runs if run["scheme"] == name}

    names = list(dict.fromkeys(run["scheme"] for run in runs))
    rows = []
    for name in names:
        cells = [name]
        for measure in ("fct_us", "slowdown"):
            base, ours = by_seed(names[0], measure), by_seed(name, measure)
            change = [100 * (ours[seed] / base[seed] - 1) for seed in base]
            mean, half = interval(change)
            value = sum(ours.values()) / len(ours)
            shown = f"{value / 1000:.2f} ms" if measure == "fct_us" else f"{value:.2f}"
            cells.append(shown if name == names[0] else f"{shown}, {mean:+.1f}% ± {half:.1f}")
        rows.append("| " + " | ".join(cells) + " |")
    head = "| thresholds, queues | mean FCT | mean slowdown |\n|---|---|---|"
    return head + "\n" + "\n".join(rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--flows-web", type=int, default=20000)
    parser.add_argument("--flows-mining", type=int, default=20000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    flows = {"web-search-packets": arguments.flows_web, "data-mining-packets": arguments.flows_mining}
    for workload, count in flows.items():
        for load in LOADS:
            file = arguments.out / f"{workload}-{load}.toml"
            file.write_text(scene(workload, load, count, arguments.seeds))
            done = subprocess.run(
                [BINARY, "run", str(file), "--threads", str(arguments.threads), "--format", "json",
                 "--out", str(arguments.out / file.stem)], capture_output=True, text=True, check=True)
            print(f"\n### {workload}, load {load}\n", flush=True)
            print(table(json.loads(done.stdout)["runs"]), flush=True)


if __name__ == "__main__":
    main()
