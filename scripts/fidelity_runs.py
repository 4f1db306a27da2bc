"""How the tables on fidelity run flowsched, and what they take from its results."""

import json
import pathlib
import shlex
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MADE_BY, SECONDS = "made-by.txt", "seconds.txt"


def said(command):
    """What a command prints in the root of the repository."""
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


class Flowsched:
    """Runs the program in the root of the repository and remembers the commands."""

    def __init__(self, binary, table):
        self.binary, self.table = pathlib.Path(binary).resolve(), table
        self.runs, self.commands, self.program = 0, [], {}
        self.hosts = []  # Settings of the kernel on the lab's hosts.

    def json(self, *arguments):
        """What a command prints as JSON."""
        line = shlex.join(["flowsched", *arguments])
        self.commands += [line] * (line not in self.commands)
        command = [self.binary, *arguments, "--format", "json"]
        return json.loads(said(command))

    def run(self, experiment, *settings, quick=False, command=("run",)):
        """The summary of an experiment, with the folder that has its results and the seconds that the command took."""
        self.runs += 1
        folder = f"results/fidelity/{self.table}-{self.runs}"
        sets = [word for setting in settings for word in ("--set", setting)]
        scale = ["--quick"] if quick else []
        file = f"experiments/{experiment}.toml"
        arguments = [*command, file, *scale, *sets, "--out", folder]
        made_by = "\n".join([
            f"program of {self.binary.stat().st_mtime_ns}",
            *self.hosts,
            shlex.join(arguments),
            (ROOT / file).read_text(),
        ])
        summary, seconds = self.kept(folder, arguments, made_by), ROOT / folder / SECONDS
        if not summary:
            start = time.monotonic()
            summary = self.json(*arguments)
            seconds.write_text(f"{time.monotonic() - start:.1f}")
        (ROOT / folder / MADE_BY).write_text(made_by)
        self.program = summary["program"]
        return summary | {"folder": folder, "seconds": float(seconds.read_text())}

    def kept(self, folder, arguments, made_by):
        """The summary that an interrupted measurement left of the same command."""
        kept = ROOT / folder
        if not (kept / MADE_BY).exists() or (kept / MADE_BY).read_text() != made_by:
            shutil.rmtree(kept, ignore_errors=True)
            return None
        self.commands.append(shlex.join(["flowsched", *arguments]))
        return json.loads((kept / "summary.json").read_text())

    def lab(self, experiment, *settings):
        """How well the lab kept to real time in each run of an experiment, with the varied keys."""
        summary = self.run(experiment, *settings, command=("lab", "run"))
        return [(one["run"].partition(" at ")[2], one) for one in conduct(summary)]

    def reproduced(self, experiment, seeds=None):
        """The summary of an experiment that `flowsched reproduce --lab` has run, or runs now. All its runs are valid."""
        self.json("reproduce", experiment, "--lab", *(["--seeds", str(seeds)] if seeds else []))
        folders = (ROOT / "results" / "reproduce" / "lab").glob(f"{experiment}-*")
        folder = str(max(folders, key=lambda one: one.stat().st_mtime).relative_to(ROOT))
        summary = json.loads((ROOT / folder / "summary.json").read_text())
        self.program = summary["program"]
        if late := late_runs(summary | {"folder": folder}):
            sys.exit(too_late(late))
        return summary | {"folder": folder}

    def test(self, package, program, tests):
        """What these tests of a program print."""
        command = ["cargo", "test", "--release", "-p", package, "--test", program, tests, "--", "--nocapture"]
        self.commands.append(shlex.join(command))
        version, commit = said([self.binary, "--version"]), said(["git", "rev-parse", "--short=12", "HEAD"])
        self.program = {"version": version.split()[-1], "commit": commit.strip()}
        return said(command)

    def diff(self, before, after):
        """By scheme, how FCTs changed by class of flows."""
        changes = self.json("diff", before["folder"], after["folder"])
        return {one["scheme"]: one["fct"] for one in changes["schemes"]}


def conduct(summary):
    """How well the lab kept to real time in each of these runs."""
    return json.loads((ROOT / summary["folder"] / "lab.json").read_text())


def valid_lab(flowsched, experiment, *settings, quick=False, needed=True):
    """The summary of an experiment in the lab, all of whose runs are valid; `None` if they are not and not needed."""
    lab = flowsched.run(experiment, *settings, quick=quick, command=("lab", "run", "--tries", "3"))
    late = late_runs(lab)
    if late and needed:
        (ROOT / lab["folder"] / MADE_BY).unlink()
        sys.exit(too_late(late))
    return None if late else lab


def late_runs(lab):
    """The runs of the lab that are not valid."""
    return [run["run"] for run in conduct(lab) if not run["valid"]]


def too_late(runs):
    """What to say if there is no table because these runs are not valid."""
    return f"The lab was late in {', '.join(runs)}. Measure again while nothing else runs."


def change(fct, sizes="all", figure="mean"):
    """The change of a figure of the FCTs of all flows or of a class of flows, with its interval."""
    found = [fct[sizes][figure][key] for key in ("change", "low", "high")]
    if found[0] < 1:
        return "{:+.1f}% [{:.1f}, {:.1f}]".format(*(100 * one for one in found))
    return "{:.3g} times as long [{:.3g}, {:.3g}]".format(*(1 + one for one in found))


def against_first(summary, scheme, **point):
    """How the FCTs of a scheme compare with those of the first scheme."""
    found = [
        one["fct"]
        for one in summary["comparisons"]
        if one["scheme"] == scheme and all(one["point"][key] == value for key, value in point.items())
    ]
    assert len(found) == 1, f"{scheme} at {point}: {len(found)} comparisons"
    return found[0]


def mean_ms(summary, scheme, sizes, point):
    """The mean FCT of a class of flows at a point, over the seeds."""
    runs = [run for run in summary["runs"] if run["scheme"] == scheme and run["point"] == point]
    mean = sum(run["fct_us"][sizes]["mean"] for run in runs) / len(runs)
    return f"{mean / 1000:.3g} ms"
