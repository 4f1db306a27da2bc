#!/usr/bin/env python3
"""Which model of thresholds agrees with packet simulation? Part one: the simulations.

For each workload and load: the thresholds of every model and baseline for 2, 4 and 8 queues,
simulated on the same flows. Seed after seed, so that whenever it is ended there are whole seeds;
what is there already is not run again. `table.py` makes the tables of
docs/src/appendix/threshold-models.md from it.

    benches/which_model/run.py OUT_DIR [--flows-web N] [--flows-mining N] [--seeds N]
"""
import argparse
import json
import pathlib
import subprocess

MODELS = ["multilevel-fcfs", "multilevel-ps", "pias-mm1", "pias-mm1-bound"]
# Those of which the mean slowdown is an objective too.
OF_FCT = ["multilevel-fcfs", "multilevel-ps"]
QUEUES = [2, 4, 8]
LOADS = [0.5, 0.6, 0.7, 0.8, 0.9]


def ask(binary, workload, load, queues, model, *more):
    """What `flowsched thresholds` answers, or None where the model has no steady state."""
    command = [binary, "thresholds", "--workload", workload, "--load", str(load),
               "--queues", str(queues), "--model", model, "--format", "json", *more]
    done = subprocess.run(command, capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def sets(binary, workload, load):
    """The thresholds in bytes by name: those of the published run first, then by model."""
    found = {}
    for queues in reversed(QUEUES):
        compared = ask(binary, workload, load, queues, "multilevel-fcfs", "--compare")
        for other in reversed(compared["others"]):
            if other["name"] != "one-queue":
                found[f"{other['name']} {queues}"] = other["thresholds_bytes"]
        for model in MODELS:
            answer = ask(binary, workload, load, queues, model)
            if answer is not None:
                found[f"{model} {queues}"] = answer["thresholds_bytes"]
        for model in OF_FCT:
            answer = ask(binary, workload, load, queues, model, "--objective", "mean-slowdown")
            found[f"{model} slowdown {queues}"] = answer["thresholds_bytes"]
    return found


def distinct(named, largest):
    """The sets that differ in effect, each with the names of those that do not: a level without
    flows is none."""
    by_effect = {}
    for name, thresholds in named.items():
        effect = tuple(sorted({size for size in thresholds if size < largest}))
        by_effect.setdefault(effect, []).append(name)
    return by_effect


def scene(workload, load, flows, by_effect):
    """The experiment's text."""
    lines = [f'name = "Thresholds by model: {workload} at load {load}"', "seeds = 1", "",
             "[topology]", 'kind = "star"', "hosts = 16", 'host_link = "10Gbps"', "", "[workload]",
             f'sizes = "{workload}"', 'pattern = "all-to-all"', f"load = {load}", f"flows = {flows}"]
    for effect, names in by_effect.items():
        sizes = " ".join(f"{size}B" for size in effect)
        lines += ["", "[[scheme]]", f'name = "{names[0]}"', 'preset = "pias"',
                  f"queues = {len(effect) + 1}", f'thresholds = "{sizes}"']
    lines += ["", "[[scheme]]", 'name = "one-queue"', 'preset = "dctcp"']
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--binary", default="target/release/flowsched")
    parser.add_argument("--flows-web", type=int, default=5000)
    parser.add_argument("--flows-mining", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    flows = {"web-search-packets": (arguments.flows_web, 20_000 * 1460),
             "data-mining-packets": (arguments.flows_mining, 666_667 * 1460)}
    for workload, (count, largest) in flows.items():
        for load in LOADS:
            by_effect = distinct(sets(arguments.binary, workload, load), largest)
            stem = arguments.out / f"{workload}-{load}"
            stem.with_name(stem.name + ".toml").write_text(scene(workload, load, count, by_effect))
            known = [{"names": names, "thresholds": effect} for effect, names in by_effect.items()]
            known.append({"names": ["one-queue"], "thresholds": []})
            about = {"workload": workload, "load": load, "flows": count, "sets": known}
            stem.with_name(stem.name + ".sets.json").write_text(json.dumps(about, indent=1))
    for seed in range(1, arguments.seeds + 1):
        for workload in flows:
            for load in LOADS:
                simulate(arguments, f"{workload}-{load}", seed)


def simulate(arguments, stem, seed):
    result = arguments.out / f"{stem}.seed-{seed}.json"
    if result.exists():
        return
    done = subprocess.run(
        [arguments.binary, "run", str(arguments.out / f"{stem}.toml"), "--seed", str(seed),
         "--threads", str(arguments.threads), "--format", "json",
         "--out", str(arguments.out / f"{stem}.seed-{seed}")],
        capture_output=True, text=True, check=True)
    result.write_text(done.stdout)
    spent = sum(run["cpu_s"] for run in json.loads(done.stdout)["runs"])
    print(f"{stem} seed {seed}: {spent:.0f} s", flush=True)


if __name__ == "__main__":
    main()
