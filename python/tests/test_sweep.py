"""Sweeps: nothing is lost, nothing runs twice, and the dataset equals that of one process.

The small form runs with every test; `make soak` runs 500 experiments on eight workers (`-m soak`).
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from conftest import SMALL
from distributed import Client, LocalCluster, WorkerPlugin

import flowsched
from flowsched import store

VARY = {"workload.load": [0.3, 0.6], "scheme.pias.queues": [2, 4]}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with cluster(2) as local, Client(local) as connected:
        yield connected


def cluster(workers: int) -> LocalCluster:
    return LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0")


class Counts(WorkerPlugin):
    """Notes every run that begins and every one that is put into the store, in a file for each."""

    name = "counts"

    def __init__(self, notes: Path) -> None:
        self.notes = notes

    def setup(self, worker: Any) -> None:
        from flowsched import _tasks

        simulate, publish = _tasks._simulate, _tasks._publish
        pid = os.getpid()

        def noted_simulate(experiment: Any, place: str, address: str) -> None:
            simulate(experiment, place, address)

        def noted_publish(results: Path, folder: Path) -> None:
            publish(results, folder)
            with (self.notes / f"{pid}.txt").open("a") as file:
                file.write(f"{folder.name}\n")

        _tasks._simulate, _tasks._publish = noted_simulate, noted_publish


def finished(notes: Path) -> Counter[str]:
    """How often each run was put into the store."""
    return Counter(line for file in notes.glob("*.txt") for line in file.read_text().split())


def test_a_sweep_has_every_point_with_the_keys_as_columns(client: Client, tmp_path: Path) -> None:
    swept = flowsched.sweep(
        flowsched.Experiment(SMALL), VARY, seeds=range(2), client=client, out=tmp_path, progress=False
    )
    assert swept.complete and len(swept.runs) == 2 * 2 * 2 * 2
    whole = flowsched.Experiment(SMALL).set("seed", 0)
    for key, values in VARY.items():
        whole.vary(key, values)
    # One process, all runs in one folder: the same rows in the same order.
    assert swept.flows.equals(whole.run(progress=False).flows)
    assert swept.flows.schema.names[:2] == ["workload.load", "scheme.pias.queues"]
    assert swept.ports.num_rows > 0 and swept.summary.num_rows == 16
    one = swept.compare("dctcp").change("pias", at={"workload.load": 0.6, "scheme.pias.queues": 4})
    assert one.seeds == 2
    # Any reader of partitioned datasets finds them.
    read = ds.dataset(swept.dataset / "flows", partitioning="hive").to_table()
    assert read.num_rows == swept.flows.num_rows
    axes = swept.plot.load_sweep()
    assert list(axes.containers[0].lines[0].get_xdata()) == [0.3, 0.6]
    assert swept.slowdown_by_size().num_rows > 0
    assert "pias" in swept._repr_html_()


def test_what_is_there_is_not_run_again(client: Client, tmp_path: Path) -> None:
    def sweep(loads: list[float]) -> flowsched.Sweep:
        experiment = flowsched.Experiment(SMALL)
        vary = {"workload.load": loads}
        return flowsched.sweep(experiment, vary, client=client, out=tmp_path, progress=False)

    first = sweep([0.3])
    written = {run.folder: run.folder.stat().st_mtime_ns for run in first.runs}
    both = sweep([0.3, 0.6])
    assert len(both.runs) == 2 * len(first.runs)
    assert all(folder.stat().st_mtime_ns == when for folder, when in written.items())
    # A scheme that a varied key does not change is run once for all its values.
    flowsched.sweep(
        flowsched.Experiment(SMALL).set("workload.load", 0.3),
        {"scheme.pias.queues": [3, 4]},
        client=client,
        out=tmp_path,
        progress=False,
    )
    assert len(list(tmp_path.glob("*/summary.json"))) == len(both.runs) + 2


def test_seeds_are_added_until_the_interval_is_narrow(client: Client, tmp_path: Path) -> None:
    swept = flowsched.sweep(
        flowsched.Experiment(SMALL),
        {"workload.load": [0.3, 0.6]},
        seeds=range(1, 4),
        client=client,
        out=tmp_path,
        until=flowsched.relative_interval(0.25, of="small.mean", most=12),
        progress=False,
    )
    for point in swept.points:
        for scheme in swept.schemes:
            runs = [run for run in swept.runs if (run.point, run.scheme) == (point, scheme)]
            values = [run.summary()["fct_us"]["small"]["mean"] for run in runs]
            mean, interval = flowsched._native.mean_over_seeds(values) or (0.0, None)
            assert interval is not None
            half = (interval[1] - interval[0]) / 2 / mean
            assert half <= 0.25 or len(runs) == 12, (point, scheme, half, len(runs))
    counts = Counter(run.point["workload.load"] for run in swept.runs)
    assert all(6 <= count <= 24 for count in counts.values())


def test_a_figure_that_no_run_has_is_refused_before_any_run() -> None:
    for figure in ("small.mean", "fct_us.small.mean", "slowdown.all.p99", "load.utilisation", "timeouts"):
        flowsched.relative_interval(0.5, of=figure)
    for figure in ("small.men", "scheme", "schedule", "fct_us", ""):
        with pytest.raises(ValueError, match="no figure"):
            flowsched.relative_interval(0.5, of=figure)


def test_a_sweep_whose_runs_all_fail_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from flowsched import _sweeping, _tasks

    def fail(*_: Any) -> None:
        raise RuntimeError("no luck")

    file = tmp_path / "small.toml"
    file.write_text(flowsched.Experiment(SMALL).resolved)
    monkeypatch.setattr(_tasks, "_simulate", fail)
    local = LocalCluster(n_workers=1, processes=False, dashboard_address=":0")
    with local, Client(local) as connected:
        monkeypatch.setattr(_sweeping, "_client_or_local", lambda _: contextlib.nullcontext(connected))
        command = importlib.import_module("flowsched.sweep")
        assert command.main([str(file), "--out", str(tmp_path / "store")]) == 1
    assert "failed: dctcp with seed 1: RuntimeError: no luck" in capsys.readouterr().err


def test_a_run_that_no_worker_has_memory_for_is_refused(client: Client, tmp_path: Path) -> None:
    experiment = flowsched.Experiment(SMALL).set("workload.flows", 100_000_000)
    with pytest.raises(flowsched.TooLargeError, match="no worker has more"):
        flowsched.sweep(experiment, {}, client=client, out=tmp_path, progress=False)


def test_tasks_declare_their_memory(client: Client, tmp_path: Path) -> None:
    flowsched.sweep(
        flowsched.Experiment(SMALL), {}, seeds=[1], client=client, out=tmp_path, progress=False
    )
    declared = client.run(lambda dask_worker: dask_worker.state.total_resources)
    assert all(worker["flowsched_memory"] > 1e8 for worker in declared.values())


def test_workers_may_come_after_the_sweep_begins(tmp_path: Path) -> None:
    # As jobs of Slurm do, which wait in a queue.
    with cluster(0) as local, Client(local) as client:
        growing = threading.Timer(2, local.scale, args=[2])
        growing.start()
        swept = flowsched.sweep(
            flowsched.Experiment(SMALL), {}, seeds=[1, 2], client=client, out=tmp_path, progress=False
        )
        growing.join()
        assert swept.complete and len(swept.runs) == 4
        declared = client.run(lambda dask_worker: dask_worker.state.available_resources)
        assert all(worker["flowsched_memory"] > 1e8 for worker in declared.values())


def test_the_shell_does_the_same(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text(flowsched.Experiment(SMALL).resolved)
    words = ["--vary", "workload.load=0.3,0.6", "--seeds", "2", "--out", str(tmp_path / "store")]
    command = [sys.executable, "-m", "flowsched.sweep", str(file), *words]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "2 points, 8 runs" in said and "pias against dctcp, mean of all at workload.load = 0.6" in said
    listed = [sys.executable, "-m", "flowsched.store", "list", str(tmp_path / "store")]
    lines = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(lines) == 9 and all(line.startswith("complete") for line in lines)
    wrong = subprocess.run([*command[:4], "--out", "x", "--vary", "load"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "KEY=VALUES" in wrong.stderr
    assert callable(importlib.import_module("flowsched.sweep"))


def test_what_is_old_is_listed_and_removed(client: Client, tmp_path: Path) -> None:
    experiment = flowsched.Experiment(SMALL)
    swept = flowsched.sweep(experiment, {}, seeds=[1], client=client, out=tmp_path, progress=False)
    summary = swept.runs[0].folder / "summary.json"
    commit = flowsched.__commit__
    summary.write_text(summary.read_text().replace(f'"commit": "{commit}"', '"commit": "older"'))
    old = [entry for entry in store.entries(tmp_path) if entry.old]
    assert [entry.folder for entry in old] == [swept.runs[0].folder]
    assert [entry.folder for entry in store.remove(tmp_path)] == [old[0].folder]
    assert not swept.runs[0].folder.exists() and swept.runs[1].folder.exists()
    assert len(store.remove(tmp_path, older_than_days=0)) == 2
    assert store.entries(tmp_path) == []


def test_an_age_needs_a_unit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert store.main(["remove", str(tmp_path), "--older-than", "12h"]) == 0
    for age, expected in {"30": "write 30d", "d": "is no age", "-1d": "is no age"}.items():
        with pytest.raises(SystemExit):
            store.main(["remove", str(tmp_path), f"--older-than={age}"])
        assert expected in capsys.readouterr().err


def test_a_worker_is_killed_and_anothers_disk_is_full(tmp_path: Path) -> None:
    hurt(tmp_path, workers=3, loads=[0.3, 0.6], seeds=6, flows=400)


@pytest.mark.soak
def test_500_experiments_on_eight_workers(tmp_path: Path) -> None:
    hurt(tmp_path, workers=8, loads=[0.2, 0.4, 0.6, 0.7, 0.8], seeds=50, flows=2000)


def hurt(tmp_path: Path, workers: int, loads: list[float], seeds: int, flows: int) -> None:
    """Runs a sweep while one worker is killed with -9 and the disk of another one is full."""
    experiment = flowsched.Experiment(SMALL).set("workload.flows", flows)
    vary = {"workload.load": loads}
    notes = tmp_path / "notes"
    notes.mkdir()
    with cluster(workers) as local, Client(local) as client:
        client.register_plugin(Counts(notes))
        addresses = list(client.scheduler_info(n_workers=-1)["workers"])
        pids = client.run(os.getpid)
        full, killed = addresses[0], pids[addresses[1]]
        client.run(fill_the_disk, workers=[full])

        def kill() -> None:
            while sum(finished(notes).values()) < 4:
                time.sleep(0.02)
            os.kill(killed, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        swept = flowsched.sweep(
            experiment,
            vary,
            seeds=range(1, seeds + 1),
            client=client,
            out=tmp_path / "store",
            progress=False,
        )
        killer.join()
        left = client.scheduler_info(n_workers=-1)["workers"]
    assert full not in left, "the worker whose disk is full has no more work"
    assert swept.complete and len(swept.runs) == 2 * len(loads) * seeds
    counts = finished(notes)
    assert set(counts.values()) == {1}, "no finished point runs twice"
    assert set(counts) == {run.folder.name for run in swept.runs}, "nothing is lost"
    names = {path.name for path in (tmp_path / "store").iterdir()}
    assert not any("partial" in name for name in names)
    whole = experiment.set("seeds", seeds).vary("workload.load", loads).run(progress=False)
    assert swept.flows.equals(whole.flows), "the dataset equals that of one process"
    for run in swept.runs:
        assert pq.read_metadata(run.folder / "flows.parquet").num_rows == flows


def fill_the_disk(dask_worker: Any) -> None:
    """No file of this process can grow beyond a page, as on a disk without room."""
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
