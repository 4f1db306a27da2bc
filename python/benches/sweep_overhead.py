"""What a sweep costs beside its runs.

    python python/benches/sweep_overhead.py [FLOWS]

Prints the processor time that 20 runs on two workers take in all processes over what the runs themselves take
(`cpu_s` in their summaries), less 1: reading experiments, writing results, Dask, and starting the workers. Processor
time does not depend on what else the machine does.
"""

from __future__ import annotations

import resource
import sys
import tempfile

from distributed import Client, LocalCluster

import flowsched

EXPERIMENT = {
    "name": "overhead",
    "topology": {"kind": "star", "hosts": 16},
    "workload": {"sizes": "web-search-bytes", "flows": 2000, "load": 0.6},
    "scheme": [{"preset": "dctcp"}, {"preset": "pias", "queues": 4}],
}


def processor_time() -> float:
    """User and system seconds of this process and of those that it has waited for."""
    usages = [resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def main() -> None:
    flows = int(sys.argv[1]) if sys.argv[1:] else 2000
    experiment = flowsched.Experiment(EXPERIMENT).set("workload.flows", flows)
    vary = {"workload.load": [0.4, 0.8]}
    before = processor_time()
    with tempfile.TemporaryDirectory() as store:
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
            with Client(cluster) as client:
                begun = processor_time()
                swept = flowsched.sweep(
                    experiment, vary, seeds=range(5), client=client, out=store, progress=False
                )
                driver = processor_time() - begun
        total = processor_time() - before
        runs = sum(swept.summary["cpu_s"].to_pylist())
    print(f"{len(swept.runs)} runs of {runs / len(swept.runs):.2f} s each: {runs:.1f} s")
    print(f"all processes: {total:.1f} s, {100 * (total / runs - 1):.1f}% more; the client alone {driver:.1f} s")


if __name__ == "__main__":
    main()
