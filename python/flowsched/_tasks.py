"""One run of a sweep: what a worker does.

What lives here: a run on the worker's own disk, and moving its results to the store in one step. What may
not: the list of runs and their folders, which are in ``_sweeping``.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path

from . import _native

DISK_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})
"""Disk errors that a retry on the same disk would meet again."""


class WorkerDiskError(Exception):
    """The disk of a worker is full or broken. Other workers must do its runs."""

    def __init__(self, worker: str, reason: str) -> None:
        super().__init__(worker, reason)
        self.worker, self.reason = worker, reason

    def __str__(self) -> str:
        return f"the disk of worker {self.worker} takes no results: {self.reason}"


class StoreError(Exception):
    """The store cannot be written, so that no other worker could do the run either."""


@dataclass(frozen=True)
class Task:
    """A self-contained run, which any worker can do."""

    name: str
    """The experiment's name in the store."""
    text: str
    """The resolved experiment with only this run."""
    inputs: str
    """The folder of the files that the experiment names."""
    store: str
    """The store, which every worker sees under this path."""
    folder: str
    """The results folder in the store."""
    memory: int
    """The memory that the run needs, in bytes."""


def run_task(task: Task) -> bool:
    """Does the run, unless the store has its results. Returns whether the run was done."""
    experiment = _native.Experiment(task.name, task.text, task.inputs, [], [])
    if os.fspath(experiment.folder_in(task.store, task.name)) != task.folder:
        raise RuntimeError("a worker has another version of flowsched than the client; install the same")
    if experiment.is_stored(task.store, task.name):
        return False
    worker, scratch = _here()
    try:
        place = tempfile.mkdtemp(prefix="flowsched-", dir=scratch)
    except OSError as error:
        raise WorkerDiskError(worker, str(error)) from error
    try:
        _simulate(experiment, place, worker)
        _publish(Path(place, "results"), Path(task.folder))
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return True


def _here() -> tuple[str, str | None]:
    """The worker's address and its scratch folder; empty and ``None`` outside a worker."""
    from distributed import get_worker

    try:
        worker = get_worker()
    except ValueError:
        return "", None
    return worker.address, worker.local_directory


def _simulate(experiment: _native.Experiment, place: str, worker: str) -> None:
    try:
        experiment.run(Path(place, "results"), 1, False, "flowsched.sweep")
    except OSError as error:
        if error.errno in DISK_ERRORS:
            raise WorkerDiskError(worker, str(error)) from error
        raise


def _publish(results: Path, folder: Path) -> None:
    """Moves the results to the store in one step: readers find all of them or none."""
    partial = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}.partial")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.rename(results, partial)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            _copy(results, partial)
        os.rename(partial, folder)
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            return  # Another worker was faster. Its results are the same.
        raise StoreError(f"{folder.parent} takes no results: {error}") from error


def _copy(results: Path, partial: Path) -> None:
    shutil.copytree(results, partial)
    for path in partial.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
