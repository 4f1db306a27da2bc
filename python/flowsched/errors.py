"""The exceptions of the package.

What lives here: the classes. What may not: raising them, which the other modules do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


class FlowschedError(Exception):
    """The base class of flowsched's exceptions."""


class ResultsError(FlowschedError):
    """A folder that is not a results folder, is damaged, or lacks the requested results."""


class TooLargeError(FlowschedError):
    """An experiment that does not fit this machine."""


class ExperimentWarning(UserWarning):
    """A warning about an experiment that is valid, such as settings that contradict each other."""


@dataclass(frozen=True)
class Mistake:
    """One thing that is wrong in an experiment."""

    file: str
    """The file, or the argument, such as ``--set workload.load=2``."""
    line: int | None
    """The line, counted from 1; ``None`` for arguments."""
    column: int | None
    """The column, counted from 1."""
    key: str
    """The dotted key; empty if the mistake concerns no key."""
    problem: str
    """What is wrong, as a sentence."""
    found: str | None
    """The wrong value, if a value is wrong."""
    allowed: str | None
    """The allowed values, if a value is wrong."""
    help: str | None
    """How to correct the mistake, if that is known."""
    text: str
    """The whole message on one line."""


class ExperimentError(FlowschedError, ValueError):
    """All mistakes in an experiment.

    The attributes ``file``, ``line``, ``key``, ``found`` and ``allowed`` are those of the first mistake;
    ``mistakes`` has all of them.

    >>> import flowsched
    >>> try:
    ...     flowsched.Experiment({"workload": {"load": 2}}).check()
    ... except flowsched.ExperimentError as error:
    ...     load = next(one for one in error.mistakes if one.key == "workload.load")
    >>> load.found, load.allowed
    ('"2"', 'a number from 0 to 1')
    """

    def __init__(self, mistakes: Sequence[dict[str, Any]]) -> None:
        self.mistakes = [Mistake(**mistake) for mistake in mistakes]
        super().__init__("\n".join(mistake.text for mistake in self.mistakes))

    def __reduce__(self) -> tuple[type[ExperimentError], tuple[list[dict[str, Any]]]]:
        return ExperimentError, ([vars(mistake) for mistake in self.mistakes],)

    @property
    def file(self) -> str:
        """The file of the first mistake."""
        return self.mistakes[0].file

    @property
    def line(self) -> int | None:
        """The line of the first mistake."""
        return self.mistakes[0].line

    @property
    def key(self) -> str:
        """The key of the first mistake."""
        return self.mistakes[0].key

    @property
    def found(self) -> str | None:
        """The wrong value of the first mistake."""
        return self.mistakes[0].found

    @property
    def allowed(self) -> str | None:
        """The allowed values of the first mistake."""
        return self.mistakes[0].allowed
