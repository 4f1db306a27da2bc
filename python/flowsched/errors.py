"""What can go wrong, as exceptions.

What lives here: the classes. What may not: raising them, which the other modules do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


class FlowschedError(Exception):
    """Anything that flowsched refuses or cannot do."""


class ResultsError(FlowschedError):
    """A results folder that is none, is damaged, or has other results."""


class TooLargeError(FlowschedError):
    """An experiment that does not fit this machine."""


class ExperimentWarning(UserWarning):
    """What a user should know of an experiment though it is no mistake."""


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
    """The dotted key; empty where it is about none."""
    problem: str
    """What is wrong, as a sentence."""
    found: str | None
    """What was found, where a value is wrong."""
    allowed: str | None
    """What is allowed there."""
    help: str | None
    """What to do about it, where that is known."""
    text: str
    """All of it on one line."""


class ExperimentError(FlowschedError, ValueError):
    """Everything that is wrong in an experiment.

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
        """Its line."""
        return self.mistakes[0].line

    @property
    def key(self) -> str:
        """Its key."""
        return self.mistakes[0].key

    @property
    def found(self) -> str | None:
        """What was found."""
        return self.mistakes[0].found

    @property
    def allowed(self) -> str | None:
        """What is allowed."""
        return self.mistakes[0].allowed
