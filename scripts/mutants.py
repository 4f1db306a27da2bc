#!/usr/bin/env python3
"""Mutation testing: how many small changes of the code make a test fail.

cargo-mutants makes the mutants. Each is applied to a copy of the repository. The tests of its own crate
run first; if they pass, those of the crates that depend on it run. A line per mutant goes to the results
file at once, so that the same command continues after an interruption.

    scripts/mutants.py [--sample N] [--seed N] [--crates NAME ...] [--folder DIR]
"""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys

# The crates that are tested, and the crates whose tests use them: those that fail soonest come first.
DEPENDENTS = {
    "schemes": ["sim", "fluid", "experiment", "run"],
    "sim": ["experiment", "run", ""],
    "fluid": ["experiment", "run", ""],
    "thresholds": ["schemes", "experiment", ""],
    "experiment": ["run", "report", ""],
    "agent": [],
}
ROOT = pathlib.Path(__file__).resolve().parent.parent
# A mutant that does not end is caught. The slowest tests take half of this on a quiet machine.
LIMIT = 600


def package(crate):
    return f"flowsched-{crate}" if crate else "flowsched"


def mutants(crate):
    """All mutants of a crate, each with the name of its crate and a key that tells it from all others."""
    command = ["cargo", "mutants", "--list", "--json", "--diff", "--package", package(crate)]
    found = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    for mutant in found:
        mutant["crate"] = crate
        mutant["key"] = hashlib.sha256(mutant["diff"].encode()).hexdigest()[:16]
    return found


def run(command, copy, target):
    """How a command in the copy ends: its exit status, or None if it takes too long."""
    environment = dict(os.environ, CARGO_TARGET_DIR=str(target), CARGO_INCREMENTAL="1")
    # The group ends as a whole: a test that does not stop would keep the processor.
    process = subprocess.Popen(
        command, cwd=copy, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL, start_new_session=True,
    )
    try:
        return process.wait(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return None
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def outcome(mutant, copy, target):
    """What becomes of a mutant: `unviable`, `missed`, or the crate whose tests catch it."""
    own = package(mutant["crate"])
    if run(["cargo", "test", "--no-run", "--package", own], copy, target) != 0:
        return "unviable"
    for crate in [mutant["crate"], *DEPENDENTS[mutant["crate"]]]:
        if run(["cargo", "test", "--package", package(crate)], copy, target) != 0:
            return f"caught by {package(crate)}"
    return "missed"


def fresh_copy(copy):
    if copy.exists():
        shutil.rmtree(copy)
    copy.mkdir(parents=True)
    archive = subprocess.Popen(["git", "archive", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE)
    subprocess.run(["tar", "--extract", "--touch"], cwd=copy, stdin=archive.stdout, check=True)
    if archive.wait() != 0:
        sys.exit("git archive failed")


def patch(mutant, copy, *options):
    command = ["patch", "--silent", *options, str(copy / mutant["file"])]
    subprocess.run(command, input=mutant["diff"], text=True, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sample", type=int, help="so many viable mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--crates", nargs="*", default=list(DEPENDENTS), choices=list(DEPENDENTS))
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "target/mutants")
    arguments = parser.parse_args()

    candidates = [mutant for crate in arguments.crates for mutant in mutants(crate)]
    random.Random(arguments.seed).shuffle(candidates)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    results = arguments.folder / "results.jsonl"
    lines = results.read_text().splitlines() if results.exists() else []
    known = {record["key"]: record for record in map(json.loads, lines)}
    copy, target = arguments.folder / "copy", arguments.folder / "target"
    fresh_copy(copy)

    counts = collections.Counter()
    for mutant in candidates:
        if arguments.sample and sum(counts.values()) - counts["unviable"] >= arguments.sample:
            break
        record = known.get(mutant["key"])
        if not record:
            patch(mutant, copy)
            found = outcome(mutant, copy, target)
            patch(mutant, copy, "--reverse")
            record = {name: mutant[name] for name in ("key", "crate", "name")} | {"outcome": found}
            with results.open("a") as file:
                file.write(json.dumps(record) + "\n")
        counts[record["outcome"].split(" by ")[0]] += 1
        print(f"{record['outcome']:30} {record['name']}", flush=True)
    viable = counts["caught"] + counts["missed"]
    if viable:
        print(f"{counts['caught']} of {viable} viable mutants caught ({counts['caught'] / viable:.1%})")


if __name__ == "__main__":
    main()
