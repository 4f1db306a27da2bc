"""``python -m flowsched.sweep``: a sweep from the shell.

>>> arguments = parser().parse_args(["my.toml", "--vary", "workload.load=0.5,0.8", "--out", "results"])
>>> arguments.vary
[('workload.load', '0.5,0.8')]
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import types
from collections.abc import Sequence
from typing import Any

from . import _sweeping
from ._until import RelativeInterval, relative_interval
from .errors import FlowschedError
from .experiment import Experiment


def parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    of_sweep = argparse.ArgumentParser(
        prog="python -m flowsched.sweep",
        description="Run an experiment at many points, each run as a Dask task.",
        epilog="The same command goes on after an interruption: what is in the store is not run again.",
    )
    of_sweep.add_argument("file", metavar="FILE.toml", help="the experiment")
    of_sweep.add_argument(
        "--vary",
        action="append",
        default=[],
        type=_varied,
        metavar="KEY=VALUES",
        help="workload.load=0.5..0.9:0.1 or topology.routing=spray,ecmp; may be repeated",
    )
    of_sweep.add_argument("--set", action="append", default=[], type=_varied, metavar="KEY=VALUE")
    of_sweep.add_argument("--seeds", type=int, metavar="N", help="how many seeds, from the file's first")
    of_sweep.add_argument("--quick", action="store_true", help="use the file's [quick] values")
    of_sweep.add_argument("--out", required=True, metavar="DIR", help="the store, seen by every worker")
    of_sweep.add_argument(
        "--scheduler", metavar="ADDRESS", help="of a Dask cluster, tcp://host:8786; else a local one"
    )
    of_sweep.add_argument(
        "--until",
        type=_rule,
        metavar="WIDTH:FIGURE",
        help="add seeds until the interval is as narrow, 0.02:small.mean",
    )
    return of_sweep


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the sweep, prints how its schemes compare, and returns the exit status."""
    wanted = parser().parse_args(arguments)
    try:
        experiment = Experiment.from_toml(wanted.file, quick=wanted.quick)
        for key, value in wanted.set:
            experiment.set(key, value)
        if wanted.seeds is not None:
            experiment.set("seeds", wanted.seeds)
        with contextlib.ExitStack() as stack:
            client: Any = None
            if wanted.scheduler:
                from distributed import Client

                client = stack.enter_context(Client(wanted.scheduler))
            swept = _sweeping.sweep(
                experiment, dict(wanted.vary), client=client, out=wanted.out, until=wanted.until
            )
    except (FlowschedError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("error: interrupted; the same command runs the rest", file=sys.stderr)
        return 1
    print(swept)
    if swept.runs:
        print(swept.compare(swept.schemes[0]))
        print(f"Dataset: {swept.dataset}")
    for run, why in swept.failed.items():
        print(f"failed: {run}: {why}", file=sys.stderr)
    return 0 if swept.complete else 1


def _varied(text: str) -> tuple[str, str]:
    key, equals, values = text.partition("=")
    if not (key and equals and values):
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUES, such as workload.load=0.5,0.8")
    return key, values


def _rule(text: str) -> RelativeInterval:
    width, _, figure = text.partition(":")
    try:
        return relative_interval(float(width), of=figure)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{error} (write WIDTH:FIGURE, such as 0.02:small.mean)") from error


if __name__ == "__main__":
    # Workers are separate processes and import this module under its own name.
    sys.exit(main())
else:

    class _Callable(types.ModuleType):
        """Makes the module callable: ``flowsched.sweep`` works whether it names the function or this module."""

        __call__ = staticmethod(_sweeping.sweep)

    sys.modules[__name__].__class__ = _Callable
