"""Experiments: from a file or a dictionary to results.

What lives here: changing settings of an experiment, and running it. What may not: the meaning of keys,
which the native half checks.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
import warnings
import weakref
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from . import _native, _words
from .errors import ExperimentWarning
from .results import Results

_FILE = "experiment.toml"


class Experiment:
    """An experiment: a network, its traffic, and the schemes to simulate.

    >>> import flowsched
    >>> experiment = flowsched.Experiment({
    ...     "topology": {"kind": "star", "hosts": 4},
    ...     "workload": {"sizes": "web-search-bytes", "flows": 100, "load": 0.6},
    ...     "scheme": [{"preset": "dctcp"}, {"preset": "pias"}],
    ... })
    >>> experiment.set("seeds", 2).check()
    >>> experiment.schemes
    ['dctcp', 'pias']
    """

    def __init__(self, table: Mapping[str, Any], *, folder: str | os.PathLike[str] = ".") -> None:
        """An experiment from a dictionary with the keys of an experiment file.

        Names of files in it are relative to ``folder``.
        """
        self._fill(_FILE, _native.toml_of(json.dumps(table)), Path(folder), quick=False)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str], *, quick: bool = False) -> Experiment:
        """Reads an experiment file. With ``quick``, the values in its ``[quick]`` table apply."""
        path = Path(path)
        experiment = cls.__new__(cls)
        experiment._fill(str(path), path.read_text(encoding="utf-8"), path.parent, quick=quick)
        return experiment

    def _fill(self, name: str, text: str, folder: Path, quick: bool) -> None:
        self._name, self._text, self._folder, self._quick = name, text, folder, quick
        self._set: dict[str, str] = {}
        self._vary: dict[str, list[str]] = {}
        self._native: _native.Experiment | None = None

    def set(self, key: str, value: Any) -> Experiment:
        """Sets the value of a dotted key, and returns the experiment itself.

        Keys name a scheme by its name or number: ``scheme.pias.queues``, ``scheme.1.queues``.
        """
        self._vary.pop(key, None)
        self._set[key] = _words.value(value)
        self._native = None
        return self

    def vary(self, key: str, values: Iterable[Any]) -> Experiment:
        """Gives a dotted key several values, one per point of the sweep. Returns the experiment itself."""
        self._set.pop(key, None)
        self._vary[key] = [_words.value(value) for value in values]
        self._native = None
        return self

    def copy(self) -> Experiment:
        """Another experiment with the same file and settings."""
        other = Experiment.__new__(Experiment)
        other._fill(self._name, self._text, self._folder, self._quick)
        other._set, other._vary = dict(self._set), {k: list(v) for k, v in self._vary.items()}
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_native": None}

    def check(self) -> None:
        """Raises an :class:`~flowsched.ExperimentError` that names every mistake, if there is one.

        Settings that contradict each other are not mistakes: they cause an ``ExperimentWarning``.
        """
        _warn(self._checked().warnings)

    def _checked(self) -> _native.Experiment:
        if self._native is None:
            self._native = _native.Experiment(
                self._name,
                self._text,
                self._folder,
                [f"{key}={value}" for key, value in self._set.items()],
                [f"{key}={','.join(values)}" for key, values in self._vary.items()],
                None,
                self._quick,
            )
        return self._native

    @property
    def name(self) -> str:
        """The title of reports."""
        return self._checked().title

    @property
    def schemes(self) -> list[str]:
        """The schemes' names. Reports compare the others with the first one."""
        return self._checked().schemes

    @property
    def resolved(self) -> str:
        """The experiment as a file with every default filled in."""
        return self._checked().resolved

    def size(self, threads: int | None = None) -> str:
        """An estimate of packet-hops, memory and time. Raises :class:`~flowsched.TooLargeError` if the
        experiment does not fit this machine."""
        text, _, large = self._checked().size(_threads(threads))
        _warn(large)
        return text

    def run(
        self,
        threads: int | None = None,
        progress: bool = True,
        *,
        out: str | os.PathLike[str] | None = None,
        resume: bool = False,
    ) -> Results:
        """Runs every scheme on the same flows, and returns the results.

        ``threads`` runs are done at a time, by default one per core. Other Python threads continue. Ctrl-C
        stops the runs: the results then contain the finished runs, and their ``complete`` is false.

        ``out`` is the results folder, in the format of ``flowsched run``. ``resume`` keeps the runs that an
        interrupted experiment left there. Without ``out``, the folder is temporary and is removed together
        with the results.
        """
        checked, threads = self._checked(), _threads(threads)
        _, _, large = checked.size(threads)
        _warn([*checked.warnings, *large])
        folder = Path(out) if out is not None else Path(tempfile.mkdtemp(prefix="flowsched-"))
        try:
            with _Progress(shown=progress) as shown:
                checked.run(folder, threads, resume, "flowsched.Experiment.run", shown.tick)
            results = Results.read(folder)
        except BaseException:
            if out is None:
                shutil.rmtree(folder, ignore_errors=True)
            raise
        if out is None:
            weakref.finalize(results, shutil.rmtree, folder, ignore_errors=True)
        return results

    def __repr__(self) -> str:
        settings = [f"{key} = {value}" for key, value in self._set.items()]
        settings += [f"{key} = {', '.join(values)}" for key, values in self._vary.items()]
        return f"<Experiment {self._name}{': ' if settings else ''}{'; '.join(settings)}>"


def _threads(asked: int | None) -> int:
    if asked is not None and asked < 1:
        raise ValueError(f"threads is {asked}; give at least 1")
    return asked or len(os.sched_getaffinity(0))


def _warn(texts: Iterable[str]) -> None:
    for text in texts:
        warnings.warn(text, ExperimentWarning, stacklevel=3)


class _Progress:
    """A line on standard error that shows the progress of the runs, and disappears when they end."""

    def __init__(self, shown: bool) -> None:
        self._is_shown, self._width = shown, 0

    def __enter__(self) -> _Progress:
        return self

    def tick(self, runs: int, of_runs: int, flows: int, of_flows: int) -> None:
        """Shows the number of finished runs and flows."""
        if self._is_shown:
            percent = 100 * flows // max(of_flows, 1)
            self._write(f"run {runs} of {of_runs}, {percent}% of {of_flows} flows")

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # Standard error may be closed.
            sys.stderr.write("\r" + text.ljust(self._width))
            sys.stderr.flush()
        self._width = len(text)

    def __exit__(self, *_: object) -> None:
        if self._width:
            self._write("")
            sys.stderr.write("\r")


def points(values: Mapping[str, Iterable[Any]]) -> Iterator[dict[str, str]]:
    """Every combination of the keys' values. The last key changes fastest.

    >>> [one["b"] for one in points({"a": [1, 2], "b": [0.5, 1.0]})]
    ['0.5', '1.0', '0.5', '1.0']
    """
    found: list[dict[str, str]] = [{}]
    for key, given in values.items():
        texts = [_words.value(one) for one in given]
        found = [{**known, key: text} for known in found for text in texts]
    return iter(found)
