"""The rule that decides whether a point of a sweep has enough seeds."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import _native


@dataclass(frozen=True)
class RelativeInterval:
    """Adds seeds until the interval of a mean over seeds is narrow enough."""

    width: float
    """Half the width of the 95% interval, relative to the mean: 0.02 is plus or minus 2%."""
    of: str
    """The figure: ``"small.mean"`` is of flow completion times; others are such as ``"slowdown.all.p99"``."""
    most: int
    """The maximum number of seeds of a point."""

    def figure_of(self, summary: Mapping[str, Any]) -> float | None:
        """The value of the figure in a run, from the run's part of ``summary.json``."""
        path = self.of.split(".")
        if path[0] not in summary:
            path = ["fct_us", *path]
        value: Any = summary
        for key in path:
            if not isinstance(value, Mapping) or key not in value:
                raise KeyError(f"the summary of a run has no figure {self.of!r}")
            value = value[key]
        return None if value is None else float(value)

    def seeds_to_add(self, values: Sequence[float]) -> int:
        """The number of seeds to add to a scheme whose seeds gave these values; 0 if it has enough.

        At most doubles the number of seeds: the spread of a few seeds is an uncertain estimate.

        >>> rule = relative_interval(0.5, of="small.mean")
        >>> rule.seeds_to_add([1.0, 1.01, 0.99]), rule.seeds_to_add([1.0]), rule.seeds_to_add([2.0, 2.0])
        (0, 1, 0)
        >>> relative_interval(0.01, of="small.mean").seeds_to_add([1.0, 1.2, 0.8])
        3
        """
        count = len(values)
        if count < 2:
            return 1
        found = _native.mean_over_seeds(list(values))
        mean, interval = found or (0.0, None)
        if interval is None:
            return 0  # All seeds gave the same value, or there is nothing to measure.
        low, high = interval
        half = (high - low) / 2 / mean
        if half <= self.width:
            return 0
        needed = math.ceil(count * min((half / self.width) ** 2, 2.0))
        return max(1, needed - count)


def relative_interval(width: float, *, of: str, most: int = 100) -> RelativeInterval:
    """A rule for adding seeds to a point. It adds seeds until half the 95% interval of the mean over seeds
    is at most ``width`` of the mean under every scheme, or until the point has ``most`` seeds.

    ``of`` is a figure of the summary: ``"small.mean"`` is short for ``"fct_us.small.mean"``.

    >>> relative_interval(0.02, of="small.men")
    Traceback (most recent call last):
    ValueError: the summary of a run has no figure 'small.men'; did you mean 'small.mean'?
    """
    if not 0 < width < 1:
        raise ValueError(f"width is {width}; give a share over 0 and less than 1, such as 0.02")
    figures = json.loads(_native.figures())
    figures += [name.removeprefix("fct_us.") for name in figures if name.startswith("fct_us.")]
    if of not in figures:
        near = difflib.get_close_matches(of, figures, n=1)
        advice = f"did you mean {near[0]!r}?" if near else "give one such as 'small.mean'"
        raise ValueError(f"the summary of a run has no figure {of!r}; {advice}")
    return RelativeInterval(width, of, most)
