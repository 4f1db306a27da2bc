"""What a sweep costs beside its runs.

    python python/benches/sweep_overhead.py [PAIRS [FLOWS]]

Does the same runs in one process and as a sweep on two workers, in pairs. For each it prints the processor time of all
processes over what the runs themselves take (`cpu_s` in their summaries): reading experiments, writing results, and
Dask. Both are parts of one time, so that it matters little what else the machine does. The start of Python and of the
cluster, which is the same for any number of runs, stands by itself. The overhead of a sweep is what it takes over what
one process takes, after the start.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXPERIMENT = {
    "name": "overhead",
    "topology": {"kind": "leaf-spine"},
    "workload": {"sizes": "web-search-bytes", "load": 0.6},
    "scheme": [{"preset": "dctcp"}, {"preset": "pias", "queues": 4}],
}
LOADS = [0.4, 0.8]
SEEDS = 5


def alone(flows: int, folder: Path) -> tuple[int, float, float]:
    """Does all runs in this process: how many, the seconds that they take, and those of the start."""
    import flowsched

    start = time.process_time()
    experiment = flowsched.Experiment(EXPERIMENT).set("workload.flows", flows)
    experiment.set("seeds", SEEDS).vary("workload.load", LOADS)
    runs = experiment.run(threads=2, progress=False, out=folder / "alone").summary["cpu_s"]
    return len(runs), sum(runs.to_pylist()), start


def started() -> float:
    """The processor time of a worker that has what every task imports."""
    import flowsched  # noqa: F401

    return time.process_time()


def swept(flows: int, folder: Path) -> tuple[int, float, float]:
    """The same as a sweep on two workers."""
    from distributed import Client, LocalCluster

    import flowsched

    experiment = flowsched.Experiment(EXPERIMENT).set("workload.flows", flows)
    vary = {"workload.load": LOADS}
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        with Client(cluster) as client:
            client.wait_for_workers(2)
            start = time.process_time() + sum(client.run(started).values())
            sweep = flowsched.sweep(
                experiment,
                vary,
                seeds=range(1, SEEDS + 1),
                client=client,
                out=folder / "swept",
                progress=False,
            )
            runs = sweep.summary["cpu_s"]
    return len(runs), sum(runs.to_pylist()), start


def measured(way: str, flows: int, folder: Path) -> tuple[int, float, float, float]:
    """Has another process do the runs: how many, their seconds, those of the start, and those of the rest."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, __file__, way, str(flows), str(folder)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    start = float(said[2])
    return int(said[0]), float(said[1]), start, total - start


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
                count, runs, start, rest = measured(way, flows, Path(folder))
            shares[way] = rest / runs
            print(
                f"pair {pair}, {way}: start {start:.1f} s; {count} runs of {runs / count:.2f} s, {runs:.1f} s; "
                f"all processes {rest:.1f} s, {100 * (rest / runs - 1):.1f}% more",
                flush=True,
            )
        overheads.append(100 * (shares["swept"] / shares["alone"] - 1))
    each = ", ".join(f"{overhead:.1f}%" for overhead in overheads)
    print(f"overhead of a sweep: median {statistics.median(overheads):.1f}% of {each}")


if __name__ == "__main__":
    main()
