#!/usr/bin/env python3
"""Which model of thresholds agrees with packet simulation? Part two: the tables.

Reads what `run.py` left in OUT_DIR, as many seeds as every scene has, and what the models say of
every set of thresholds (`cargo build --release -p flowsched-thresholds --example predict`).

    benches/which_model/table.py OUT_DIR [--predict target/release/examples/predict]
"""
import argparse
import json
import math
import pathlib
import re
import subprocess

MODELS = ["multilevel-fcfs", "multilevel-ps", "pias-mm1", "pias-mm1-bound"]
MEASURES = {"mean FCT": ("fct_us", "mean-fct"), "mean slowdown": ("slowdown", "mean-slowdown")}
# Student's t, 95% two-sided, by degrees of freedom.
T95 = [math.nan, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]


def interval(values):
    """Mean and half the width of the 95% interval by Student's t."""
    count = len(values)
    mean = sum(values) / count
    if count < 2:
        return mean, math.nan
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / (count - 1))
    return mean, T95[count - 1] * deviation / math.sqrt(count)


def shown(values, unit="%"):
    mean, half = interval(values)
    return f"{mean:+.1f}{unit} ± {half:.1f}"


def ranks(values):
    """Ranks from 1, the mean of those that tie (a millionth apart or less)."""
    order = sorted(range(len(values)), key=lambda index: values[index])
    found = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while (end + 1 < len(order)
               and values[order[end + 1]] <= values[order[start]] * (1 + 1e-6)):
            end += 1
        for index in order[start:end + 1]:
            found[index] = (start + end) / 2 + 1
        start = end + 1
    return found


def spearman(one, other):
    """The rank correlation of two lists; nothing where one of them is all ties."""
    one, other = ranks(one), ranks(other)
    middle = (len(one) + 1) / 2
    product = sum((a - middle) * (b - middle) for a, b in zip(one, other))
    squares = [sum((a - middle) ** 2 for a in values) for values in (one, other)]
    return product / math.sqrt(squares[0] * squares[1]) if min(squares) > 0 else None


class Scene:
    """The sets of thresholds of one workload and load: what was simulated, what models say."""

    def __init__(self, out, stem, seeds, predict):
        about = json.loads((out / f"{stem}.sets.json").read_text())
        self.workload, self.load, self.flows = about["workload"], about["load"], about["flows"]
        self.sets = about["sets"]
        self.by_seed = []
        self.unfinished = 0
        for seed in seeds:
            runs = json.loads((out / f"{stem}.seed-{seed}.json").read_text())["runs"]
            self.unfinished += sum(run["flows"] - run["finished"] for run in runs)
            self.by_seed.append({run["scheme"]: run for run in runs})
        lines = [" ".join(map(str, [self.workload, self.load, *known["thresholds"]]))
                 for known in self.sets]
        done = subprocess.run([predict], input="\n".join(lines), text=True, check=True,
                              capture_output=True)
        self.said = [json.loads(line) for line in done.stdout.splitlines()]

    def values(self, name, kind, size="all"):
        """Of the set `name`, under whatever name it was simulated, a mean over flows a seed."""
        for known in self.sets:
            if name in known["names"]:
                return [runs[known["names"][0]][kind][size]["mean"] for runs in self.by_seed]
        return None

    def change(self, name, base, kind, size="all"):
        """By how many percent `name` is more than `base`, a value a seed; None without `name`."""
        ours, theirs = self.values(name, kind, size), self.values(base, kind, size)
        return ours and [100 * (a / b - 1) for a, b in zip(ours, theirs)]

    def correlation(self, model, measure, counts=lambda known: True):
        """Of a model's ranking of the sets with the simulation's, a value a seed; nothing where
        the model has no steady state for some of the sets: those are left out of it."""
        kind, objective = MEASURES[measure]
        pairs = [(said[model][objective], known["names"][0])
                 for known, said in zip(self.sets, self.said)
                 if counts(known) and said[model][objective] is not None]
        if len(pairs) < 3:
            return None
        found = [spearman([value for value, _ in pairs],
                          [runs[name][kind]["all"]["mean"] for _, name in pairs])
                 for runs in self.by_seed]
        return None if None in found else found


def queues(known):
    return len(known["thresholds"]) + 1


def scene_table(scene):
    """Every set, against the published thresholds."""
    rows = ["| thresholds, queues | mean FCT | mean slowdown |", "|---|---|---|"]
    for known in scene.sets:
        name = known["names"][0]
        cells = [", ".join(known["names"])]
        for kind, _ in MEASURES.values():
            values = scene.values(name, kind)
            mean = sum(values) / len(values)
            text = f"{mean / 1000:.2f} ms" if kind == "fct_us" else f"{mean:.2f}"
            change = scene.change(name, "published 8", kind)
            cells.append(text if name == "published 8" else f"{text}, {shown(change)}")
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows)


def correlation_table(scenes, measure, counts):
    """A row a scene and one for all of a workload, a column a model, and by how much the first
    model is above the second."""
    heads = [*MODELS, f"{MODELS[0]} less {MODELS[1]}"]
    rows = ["| scene | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]

    def row(title, cells):
        rows.append(f"| {title} | " + " | ".join(cells) + " |")

    def cell(values, sign=""):
        if not values:
            return "–"
        mean, half = interval(values)
        return f"{mean:{sign}.2f} ± {half:.2f}"

    for workload in dict.fromkeys(scene.workload for scene in scenes):
        ours = [scene for scene in scenes if scene.workload == workload]
        by_model = {model: [scene.correlation(model, measure, counts) for scene in ours]
                    for model in MODELS}
        overall = {}
        for model in MODELS:
            known = [found for found in by_model[model] if found]
            # Seeds are independent, loads of one seed are not: they share the sizes.
            overall[model] = [sum(part) / len(part) for part in zip(*known)] if known else None

        def cells(found):
            less = [a - b for a, b in zip(found[MODELS[0]], found[MODELS[1]])]
            return [cell(found[model]) for model in MODELS] + [cell(less, "+")]

        for index, scene in enumerate(ours):
            row(f"{workload}, {scene.load}",
                cells({model: by_model[model][index] for model in MODELS}))
        row(f"**{workload}, all**", cells(overall))
    return "\n".join(rows)


def change_table(scenes, pairs, measure):
    """A row a set and what it is compared with, a column a load, and the mean over the loads."""
    kind, _ = MEASURES[measure]
    out = []
    for workload in dict.fromkeys(scene.workload for scene in scenes):
        ours = [scene for scene in scenes if scene.workload == workload]
        out.append(f"| {workload} | " + " | ".join(str(scene.load) for scene in ours) + " | all |")
        out.append("|---" * (len(ours) + 2) + "|")
        for name, base in pairs:
            changes = [scene.change(name, base, kind) for scene in ours]
            cells = [shown(change) if change else "–" for change in changes]
            if any(changes):
                every = over_loads(ours, name, base, kind)
                out.append(f"| {name} | " + " | ".join(cells) + f" | {every} |")
        out.append("")
    return "\n".join(out)


def over_loads(scenes, name, base, kind, size="all"):
    """The mean change over the loads, a value a seed, with how many loads there are if not all."""
    changes = [scene.change(name, base, kind, size) for scene in scenes]
    known = [change for change in changes if change]
    if not known:
        return "–"
    # Seeds are independent, loads of one seed are not: they share the sizes.
    missing = "" if len(known) == len(changes) else f" ({len(known)} of {len(changes)} loads)"
    return shown([sum(part) / len(part) for part in zip(*known)]) + missing


def summary_table(scenes, names):
    """Against the published thresholds, over all loads: a row a set."""
    workloads = list(dict.fromkeys(scene.workload for scene in scenes))
    heads = [f"{workload.removesuffix('-packets')}, {measure}"
             for workload in workloads for measure in MEASURES]
    rows = ["| thresholds, queues | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for name in names:
        cells = [over_loads([scene for scene in scenes if scene.workload == workload], name,
                            "published 8", kind)
                 for workload in workloads for kind, _ in MEASURES.values()]
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def class_table(scenes, names):
    """Mean FCT against the published thresholds, over all loads, by size class."""
    workloads = list(dict.fromkeys(scene.workload for scene in scenes))
    sizes = ["small", "medium", "large"]
    heads = [f"{workload.removesuffix('-packets')}, {size}"
             for workload in workloads for size in sizes]
    rows = ["| thresholds, queues | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for name in names:
        cells = [over_loads([scene for scene in scenes if scene.workload == workload], name,
                            "published 8", "fct_us", size)
                 for workload in workloads for size in sizes]
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--predict", default="target/release/examples/predict")
    parser.add_argument("--scenes", action="store_true", help="a table for every scene as well")
    arguments = parser.parse_args()
    out = arguments.out
    stems = sorted((file.name.removesuffix(".sets.json") for file in out.glob("*.sets.json")),
                   key=lambda stem: (stem.startswith("data"), stem))
    scenes = []
    for workload in dict.fromkeys(stem.rsplit("-", 1)[0] for stem in stems):
        ours = [stem for stem in stems if stem.startswith(workload)]
        seeds = set.intersection(*({int(re.search(r"seed-(\d+)\.json", file.name)[1])
                                    for file in out.glob(f"{stem}.seed-*.json")} for stem in ours))
        found = [Scene(out, stem, sorted(seeds), arguments.predict) for stem in ours]
        unfinished = sum(scene.unfinished for scene in found)
        print(f"{workload}: {len(seeds)} seeds of {found[0].flows} flows, {unfinished} unfinished\n")
        scenes += found
    names = [f"{name} {count}" for count in (8, 4, 2) for name in
             ["multilevel-fcfs", "multilevel-fcfs slowdown", "multilevel-ps",
              "multilevel-ps slowdown", "pias-mm1", "pias-mm1-bound", "equal-split",
              "exponential"]] + ["one-queue"]
    print("## Against the published thresholds, over all loads\n")
    print(summary_table(scenes, names) + "\n")
    print("## Mean FCT against the published thresholds, over all loads, by size\n")
    eight = [name for name in names if name.endswith(" 8") or name == "one-queue"]
    print(class_table(scenes, eight) + "\n")
    for measure in MEASURES:
        print(f"## {measure}\n\n### Against the published thresholds\n")
        print(change_table(scenes, [(name, "published 8") for name in names], measure))
        print("### multilevel-ps against multilevel-fcfs\n")
        pairs = [(f"multilevel-ps {count}", f"multilevel-fcfs {count}") for count in (8, 4, 2)]
        print(change_table(scenes, pairs, measure))
        print("### Rank correlation, all sets\n")
        print(correlation_table(scenes, measure, lambda known: True) + "\n")
        print("### Rank correlation, sets of 4 and more queues\n")
        print(correlation_table(scenes, measure, lambda known: queues(known) >= 4) + "\n")
    if arguments.scenes:
        for scene in scenes:
            print(f"### {scene.workload}, load {scene.load}\n\n{scene_table(scene)}\n")


if __name__ == "__main__":
    main()
