"""A sweep on a real Slurm, one of whose jobs is cancelled on the way.

    python/clusters/slurm_cluster.sh python python/clusters/slurm_sweep.py

Two jobs of one core do 40 runs. Needs flowsched with the extra `dask`, and dask-jobqueue. Not part of the tests, because it needs Slurm.
"""

from __future__ import annotations

import subprocess
import tempfile
import threading
import time
from pathlib import Path

from dask_jobqueue import SLURMCluster
from distributed import Client

import flowsched

EXPERIMENT = {
    "name": "slurm",
    "topology": {"kind": "star", "hosts": 8},
    "workload": {"sizes": "web-search-bytes", "flows": 500, "load": 0.6},
    "scheme": [{"preset": "dctcp"}, {"preset": "pias", "queues": 4}],
}
LOADS, SEEDS = [0.4, 0.8], 10


def jobs() -> list[str]:
    """The numbers of the jobs that run."""
    listed = ["squeue", "--noheader", "--states=RUNNING", "--format=%A"]
    return subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split()


def cancel_one(store: Path, cancelled: list[str]) -> None:
    """Cancels a job once a few runs are in the store."""
    while len(list(store.glob("*/summary.json"))) < 5:
        time.sleep(0.1)
    cancelled.append(jobs()[0])
    subprocess.run(["scancel", cancelled[0]], check=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        store, cancelled = Path(folder, "store"), []
        with SLURMCluster(
            cores=1,
            processes=1,
            memory="1GB",
            walltime="00:10:00",
            interface="lo",
            local_directory=folder,
            log_directory=folder,
        ) as cluster:
            cluster.adapt(minimum_jobs=2, maximum_jobs=2)
            canceller = threading.Thread(target=cancel_one, args=(store, cancelled))
            canceller.start()
            swept = flowsched.sweep(
                flowsched.Experiment(EXPERIMENT),
                {"workload.load": LOADS},
                seeds=range(1, SEEDS + 1),
                client=Client(cluster),
                out=store,
                progress=False,
            )
            canceller.join()
        whole = flowsched.Experiment(EXPERIMENT).set("seeds", SEEDS).vary("workload.load", LOADS)
        assert swept.complete and len(swept.runs) == 2 * len(LOADS) * SEEDS
        assert swept.flows.equals(whole.run(progress=False).flows)
        print(f"{len(swept.runs)} runs in Slurm jobs, of which job {cancelled[0]} was cancelled on the way:")
        print("the dataset equals that of one process")


if __name__ == "__main__":
    main()
