#!/usr/bin/env python3
"""Runs the tests of the workspace as `cargo test` does, but some beside others.

    scripts/run-tests.py ARGUMENTS

ARGUMENTS are those of `cargo test`. The tests of the agent, the controller and the traffic tools mostly wait for
daemons and packets, so they run beside those that compute. The lab's tests keep real time, so they run alone, after
all others. Documentation tests come last.
If a test fails, the others run nevertheless, and its output is printed again at the end.
"""

import json
import os
import pathlib
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor

WAITING = ["flowsched-agent", "flowsched-controller", "flowsched-traffic"]
ALONE = ["flowsched-lab"]


def built(arguments):
    """The programs that run tests, each with the folder of its package."""
    command = ["cargo", "test", *arguments, "--no-run", "--message-format=json-render-diagnostics"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit("The tests were not built: see the errors above.")
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return [
        (pathlib.Path(message["manifest_path"]).parent, message["executable"])
        for message in messages
        if message["reason"] == "compiler-artifact" and message["profile"]["test"] and message["executable"]
    ]


def name(folder):
    """The name of the package in a folder."""
    return tomllib.loads((folder / "Cargo.toml").read_text())["package"]["name"]


def run(programs):
    """Runs programs one after the other: which of them fail, each with what its tests said."""
    failed = []
    for folder, program in programs:
        shown = f"{name(folder)}: {pathlib.Path(program).name}"
        # What `cargo test` gives to tests.
        environment = os.environ | {"CARGO_MANIFEST_DIR": str(folder), "CARGO_PKG_NAME": name(folder)}
        output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        done = subprocess.run([program], cwd=folder, env=environment, **output)
        print(f"     Running {shown}\n{done.stdout}", flush=True)
        if done.returncode != 0:
            told = done.stdout[max(done.stdout.find("failures:"), 0) :]
            failed.append(f"{shown}\n{told}")
    return failed


def main():
    programs = built(sys.argv[1:])
    waiting = [one for one in programs if name(one[0]) in WAITING]
    alone = [one for one in programs if name(one[0]) in ALONE]
    others = [one for one in programs if one not in waiting and one not in alone]
    with ThreadPoolExecutor() as lanes:
        failed = sum(lanes.map(run, [waiting, others]), [])
    failed += run(alone)
    documentation = ["cargo", "test", *sys.argv[1:], "--doc"]
    failed += ["documentation"] * (subprocess.run(documentation).returncode != 0)
    if failed:
        sys.exit("These tests failed:\n" + "\n".join(failed))


if __name__ == "__main__":
    os.chdir(pathlib.Path(__file__).resolve().parent.parent)
    main()
