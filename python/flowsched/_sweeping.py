"""Sweeps: many experiments on a cluster, each run once.

What lives here: the list of runs, submitting them to Dask, and collecting their results. What may not:
doing a run, which is in ``_tasks``, and statistics.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _native
from ._dataset import Dataset
from ._swept import Sweep, SweptRun
from ._tasks import StoreError, Task, WorkerDiskError, run_task
from ._until import RelativeInterval, relative_interval
from .errors import FlowschedError, TooLargeError
from .experiment import Experiment

if TYPE_CHECKING:
    import distributed

__all__ = ["Sweep", "relative_interval", "sweep"]

_RESOURCE = "flowsched_memory"


def sweep(
    experiment: Experiment,
    vary: Mapping[str, Iterable[Any] | str],
    *,
    seeds: Iterable[int] | None = None,
    client: distributed.Client | None = None,
    out: str | os.PathLike[str],
    until: RelativeInterval | None = None,
    progress: bool = True,
) -> Sweep:
    """Runs an experiment at every point of ``vary``, with each of its schemes and each seed.

    Each run is one Dask task. ``client`` is a ``distributed.Client`` of any cluster; without one, a local
    cluster with one process per core is started. ``vary`` gives each dotted key a list of values, or a
    string such as ``"0.5..0.9:0.1"``. Without ``seeds``, the experiment's seeds are used. ``until`` adds
    more seeds.

    Results go to the store ``out``, which every worker must see under the same path. Runs that the store
    has already are not repeated, so that the same call continues after an interruption. If a worker dies
    or its disk is full, another worker does its runs.
    """
    plan = _Plan(experiment, vary, seeds, Path(out).absolute())
    with _client_or_local(client) as connected:
        _Driver(plan, connected, until, progress).run()
    return plan.swept()


@dataclass
class _Cell:
    """A scheme at a point, with one run per seed."""

    point: dict[str, str]
    scheme: str
    native: _native.Experiment
    memory: int


class _Plan:
    """Every run of a sweep and its results folder."""

    def __init__(
        self,
        experiment: Experiment,
        vary: Mapping[str, Iterable[Any] | str],
        seeds: Iterable[int] | None,
        store: Path,
    ) -> None:
        varied = experiment.copy()
        for key, values in vary.items():
            varied.vary(key, [values] if isinstance(values, str) else values)
        first, count = varied._checked().seeds
        wanted = range(first, first + count) if seeds is None else seeds
        self.seeds = list(dict.fromkeys(int(seed) for seed in wanted))
        if not self.seeds:
            raise ValueError("a sweep needs at least one seed")
        varied.check()
        base = varied.set("seeds", 1)._checked()
        self.name, self.store = Path(experiment._name).stem, store
        self._inputs = str(experiment._folder.absolute())
        runs = json.loads(base.runs())
        self.cells = [_cell(base, place, run) for place, run in enumerate(runs)]
        self.points = list(dict.fromkeys(json.dumps(cell.point) for cell in self.cells))
        self.seeds_of = {point: list(self.seeds) for point in self.points}
        keys = list(runs[0]["point"])
        values = {key: list(dict.fromkeys(run["point"][key] for run in runs)) for key in keys}
        dataset = Path(base.folder_in(store, self.name)).with_suffix(".sweep")
        self.dataset = Dataset(dataset, values)
        self.failed: dict[str, str] = {}

    def tasks(self, point: str, seeds: Iterable[int]) -> Iterator[tuple[SweptRun, Task]]:
        """The runs of a point with these seeds."""
        cells = [cell for cell in self.cells if json.dumps(cell.point) == point]
        for seed in seeds:
            for cell in cells:
                alone = cell.native.with_seed(seed)
                folder = Path(alone.folder_in(self.store, self.name))
                run = SweptRun(cell.point, cell.scheme, seed, folder)
                task = Task(
                    self.name, alone.resolved, self._inputs, str(self.store), str(folder), cell.memory
                )
                yield run, task

    def swept(self) -> Sweep:
        """The results of the sweep."""
        runs = [run for point in self.points for run, _ in self.tasks(point, self.seeds_of[point])]
        return Sweep(self.name, self.store, self.dataset, runs, self.failed)


def _cell(base: _native.Experiment, place: int, run: Mapping[str, Any]) -> _Cell:
    alone = base.alone(place)
    return _Cell(run["point"], run["scheme"], alone, int(alone.memory()))


class _Driver:
    """Submits the runs of a plan to Dask, and follows them."""

    def __init__(
        self,
        plan: _Plan,
        client: distributed.Client,
        until: RelativeInterval | None,
        progress: bool,
    ) -> None:
        from distributed import as_completed

        self._plan, self._client, self._until, self._shown = plan, client, until, progress
        self._futures: Any = as_completed()
        self._tasks: dict[str, Task] = {}
        """The tasks that are not done, by folder."""
        self._waiting: dict[str, list[SweptRun]] = {}
        """The runs that wait for a task, by folder. Several points may share a run."""
        self._open: dict[str, int] = {}
        """The number of runs of each point that are not done."""
        self._keys: dict[str, str] = {}
        """The folder of each task, by its key in Dask."""
        self._done = self._all = 0

    def run(self) -> None:
        """Does all runs. An interruption keeps the finished ones."""
        for plugin in _memory_plugins():
            self._client.register_plugin(plugin)
        self._refuse_too_large()
        for point in self._plan.points:
            self._add(point, self._plan.seeds)
        try:
            for future in self._futures:
                self._take(future)
        except BaseException:
            self._client.cancel(list(self._futures.futures), force=True)
            raise
        finally:
            self._say("\n" if self._shown and self._all else "")

    def _refuse_too_large(self) -> None:
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        limits = [worker["memory_limit"] for worker in workers if worker["memory_limit"]]
        largest = max(cell.memory for cell in self._plan.cells)
        if limits and largest > max(limits):
            needed, has = f"{largest / 1e9:.1f} GB", f"{max(limits) / 1e9:.1f} GB"
            raise TooLargeError(f"a run needs about {needed} of memory, and no worker has more than {has}")

    def _add(self, point: str, seeds: Iterable[int]) -> None:
        for run, task in self._plan.tasks(point, seeds):
            self._all += 1
            waiting = self._waiting.setdefault(task.folder, [])
            waiting.append(run)
            self._open[point] = self._open.get(point, 0) + 1
            if len(waiting) == 1:
                self._tasks[task.folder] = task
                self._submit(task)

    def _submit(self, task: Task) -> None:
        key = f"{Path(task.folder).name}-{len(self._keys)}"
        self._keys[key] = task.folder
        future = self._client.submit(
            run_task,
            task,
            key=key,
            pure=False,
            resources={_RESOURCE: task.memory},
        )
        self._futures.add(future)

    def _take(self, future: Any) -> None:
        folder = self._keys[future.key]
        task = self._tasks[folder]
        error = future.exception() if future.status == "error" else None
        if isinstance(error, WorkerDiskError):
            self._go_on_without(error)
            self._submit(task)
            return
        if isinstance(error, StoreError):
            raise FlowschedError(str(error)) from error
        del self._tasks[folder]
        for run in self._waiting.pop(folder):
            if error is None:
                self._plan.dataset.add(run.point, run.folder)
            else:
                self._plan.failed[str(run)] = f"{type(error).__name__}: {error}"
            self._end(run)

    def _go_on_without(self, error: WorkerDiskError) -> None:
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        if not set(workers) - {error.worker}:
            raise FlowschedError(f"{error}; no other worker is left") from error
        if error.worker in workers:
            print(f"\nwarning: {error}; going on without it", file=sys.stderr)
            self._client.retire_workers([error.worker], close_workers=True)

    def _end(self, run: SweptRun) -> None:
        point = json.dumps(run.point)
        self._done += 1
        self._open[point] -= 1
        self._say(f"\r{self._done} of {self._all} runs")
        if self._open[point] == 0 and self._until is not None:
            self._add_seeds(point, self._until)

    def _add_seeds(self, point: str, until: RelativeInterval) -> None:
        seeds = self._plan.seeds_of[point]
        values: dict[str, list[float]] = {}
        for run, _ in self._plan.tasks(point, seeds):
            if str(run) in self._plan.failed:
                return  # More seeds would fail as well.
            value = until.figure_of(run.summary())
            values.setdefault(run.scheme, []).extend([] if value is None else [value])
        more = max(until.seeds_to_add(of_scheme) for of_scheme in values.values())
        more = min(more, until.most - len(seeds))
        added = [max(seeds) + 1 + place for place in range(more)]
        seeds.extend(added)
        self._add(point, added)

    def _say(self, text: str) -> None:
        if self._shown and text:
            with contextlib.suppress(OSError, ValueError):  # Standard error may be closed.
                sys.stderr.write(text)
                sys.stderr.flush()


def _memory_plugins() -> tuple[Any, Any]:
    """Plugins that give every worker, present or future, as much of the resource as it has memory.

    The scheduler assigns tasks to a new worker before the worker's own plugin runs. The scheduler's plugin
    therefore sets the resource first. A worker without a memory limit uses its machine's memory, which only
    the worker's plugin can read.
    """
    from distributed import SchedulerPlugin, WorkerPlugin

    class OnScheduler(SchedulerPlugin):  # type: ignore[misc, unused-ignore]
        name = "flowsched-memory-on-scheduler"
        idempotent = True  # The next sweep registers it again.

        async def start(self, scheduler: Any) -> None:
            for worker in scheduler.workers:
                self.add_worker(scheduler, worker)

        def add_worker(self, scheduler: Any, worker: str) -> None:
            known = scheduler.workers[worker]
            if _RESOURCE not in known.resources:
                scheduler.add_resources(worker, {_RESOURCE: known.memory_limit or 1 << 60})

    class OnWorker(WorkerPlugin):  # type: ignore[misc, unused-ignore]
        name = "flowsched-memory"

        def setup(self, worker: Any) -> None:
            limit = worker.memory_manager.memory_limit
            if not limit:
                limit = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
            if _RESOURCE not in worker.state.total_resources:
                worker.state.total_resources[_RESOURCE] = limit
                worker.state.available_resources[_RESOURCE] = limit

    return OnScheduler(), OnWorker()


@contextlib.contextmanager
def _client_or_local(client: distributed.Client | None) -> Iterator[distributed.Client]:
    if client is not None:
        yield client
        return
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise ImportError("sweeps need Dask: pip install 'flowsched[dask]'") from error
    cores = len(os.sched_getaffinity(0))
    with (
        LocalCluster(n_workers=cores, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as local,
    ):
        yield local
