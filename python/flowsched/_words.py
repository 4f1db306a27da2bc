"""Numbers and settings as text. What may not live here: computing results."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def value(given: Any) -> str:
    """A setting in the form of an experiment file. Lists are sizes, separated by blanks.

    >>> value(0.8), value(True), value("40Gbps"), value([20_000, "80KB"])
    ('0.8', 'true', '40Gbps', '20000B 80KB')
    """
    if isinstance(given, bool):
        return str(given).lower()
    if isinstance(given, (list, tuple)):
        return " ".join(f"{one}B" if isinstance(one, int) else str(one) for one in given)
    if hasattr(given, "item"):  # A NumPy number.
        return value(given.item())
    return repr(given) if isinstance(given, float) else str(given)


def point(at: Mapping[str, str]) -> str:
    """A point of a sweep as text.

    >>> point({"workload.load": "0.8", "topology.spines": "4"})
    'workload.load = 0.8, topology.spines = 4'
    """
    return ", ".join(f"{key} = {text}" for key, text in at.items())


def duration(us: float | None) -> str:
    """A time given in microseconds, with three digits.

    >>> duration(85.23), duration(1530.0), duration(None)
    ('85.2 µs', '1.53 ms', '-')
    """
    if us is None or not math.isfinite(us):
        return "-"
    for unit, scale in (("s", 1e6), ("ms", 1e3)):
        if us >= 0.9995 * scale:
            return f"{_digits(us / scale)} {unit}"
    return f"{_digits(us)} µs"


def change(of: Mapping[str, float | None]) -> str:
    """A relative difference and its interval.

    >>> change({"change": -0.21, "low": -0.25, "high": -0.17})
    '-21.0% [-25.0, -17.0]'
    """
    by, low, high = of["change"], of["low"], of["high"]
    if by is None:
        return "-"
    interval = "" if low is None or high is None else f" [{100 * low:+.1f}, {100 * high:+.1f}]"
    return f"{100 * by:+.1f}%{interval}"


def size(bytes_: float) -> str:
    """A size in bytes, with a unit that is a power of 1000.

    >>> size(1460), size(20_000_000)
    ('1.46 KB', '20 MB')
    """
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if bytes_ >= scale:
            return f"{bytes_ / scale:.3g} {unit}"
    return f"{bytes_:.3g} B"


def _digits(number: float) -> str:
    decimals = max(0, 2 - math.floor(math.log10(number))) if number > 0 else 0
    return f"{number:.{min(decimals, 3)}f}"
