"""What a sweep costs beside its runs.

    python python/benches/sweep_overhead.py [PAIRS [FLOWS]]

Does the same runs in one process and as a sweep on two workers, in pairs. For each it prints the processor time of all
processes, from their start to their end, over what the runs themselves take (`cpu_s` in their summaries): reading
experiments, writing results, Dask, and starting the cluster. Both are parts of one time, so that it matters little what
else the machine does. The overhead of a sweep is what it takes over what one process takes.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

EXPERIMENT = {
    "name": "overhead",
    "topology": {"kind": "leaf-spine"},
    "workload": {"sizes": "web-search-bytes", "load": 0.6},
    "scheme": [{"preset": "dctcp"}, {"preset": "pias", "queues": 4}],
}
LOADS = [0.4, 0.8]
SEEDS = 5


def alone(flows: int, folder: Path) -> tuple[int, float]:
    """Does all runs in this process: how many, and the seconds that they take."""
    import flowsched

    experiment = flowsched.Experiment(EXPERIMENT).set("workload.flows", flows)
    experiment.set("seeds", SEEDS).vary("workload.load", LOADS)
    runs = experiment.run(threads=2, progress=False, out=folder / "alone").summary["cpu_s"]
    return len(runs), sum(runs.to_pylist())


def swept(flows: int, folder: Path) -> tuple[int, float]:
    """The same as a sweep on two workers."""
    from distributed import Client, LocalCluster

    import flowsched

    experiment = flowsched.Experiment(EXPERIMENT).set("workload.flows", flows)
    vary = {"workload.load": LOADS}
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        with Client(cluster) as client:
            sweep = flowsched.sweep(
                experiment,
                vary,
                seeds=range(1, SEEDS + 1),
                client=client,
                out=folder / "swept",
                progress=False,
            )
            runs = sweep.summary["cpu_s"]
    return len(runs), sum(runs.to_pylist())


def measured(way: str, flows: int, folder: Path) -> tuple[int, float, float]:
    """Has another process do the runs: how many, their seconds, and the seconds of all processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, __file__, way, str(flows), str(folder)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return int(said[0]), float(said[1]), total


def main() -> None:
    if sys.argv[1:2] in (["alone"], ["swept"]):
        way = alone if sys.argv[1] == "alone" else swept
        print(*way(int(sys.argv[2]), Path(sys.argv[3])))
        return
    pairs, flows = (int(word) for word in [*sys.argv[1:3], *["3", "10000"][len(sys.argv) - 1 :]])
    overheads = []
    for pair in range(1, pairs + 1):
        shares = {}
        for way in ("alone", "swept")[:: 1 if pair % 2 else -1]:
            with tempfile.TemporaryDirectory() as folder:
                count, runs, total = measured(way, flows, Path(folder))
            shares[way] = total / runs
            print(
                f"pair {pair}, {way}: {count} runs of {runs / count:.2f} s, {runs:.1f} s; "
                f"all processes {total:.1f} s, {100 * (total / runs - 1):.1f}% more",
                flush=True,
            )
        overheads.append(100 * (shares["swept"] / shares["alone"] - 1))
    each = ", ".join(f"{overhead:.1f}%" for overhead in overheads)
    print(f"overhead of a sweep: median {statistics.median(overheads):.1f}% of {each}")


if __name__ == "__main__":
    main()
