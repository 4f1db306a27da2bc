"""Distributions of flow sizes."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from . import _native


class Cdf:
    """The cumulative distribution of flow sizes: points to draw, and a function to call."""

    sizes: np.ndarray[Any, np.dtype[np.float64]]
    """Sizes in bytes, in ascending order."""
    shares: np.ndarray[Any, np.dtype[np.float64]]
    """For each size, the share of flows that are at most this large."""

    def __init__(self, native: _native.Sizes) -> None:
        self._native = native
        grid = native.quantiles([step / 1000 for step in range(1, 1000)])
        sizes = sorted({*native.knots(), *grid})
        self.sizes, self.shares = np.array(sizes), np.array(native.cdf(sizes))

    @overload
    def __call__(self, size: float) -> float: ...
    @overload
    def __call__(self, size: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.float64]]: ...
    def __call__(
        self, size: float | np.ndarray[Any, Any]
    ) -> float | np.ndarray[Any, np.dtype[np.float64]]:
        """The share of flows of at most ``size`` bytes."""
        if isinstance(size, np.ndarray):
            shares = self._native.cdf([float(one) for one in size.ravel()])
            return np.array(shares).reshape(size.shape)
        return self._native.cdf([float(size)])[0]


class Workload:
    """A distribution of flow sizes, with a name as in ``[workload]``.

    >>> import flowsched
    >>> web = flowsched.workload("web-search-bytes")
    >>> round(web.mean())
    1711250
    >>> round(web.cdf(100_000), 3)
    0.542
    >>> sizes = web.sample(1000, seed=7)
    >>> len(sizes), bool((sizes == web.sample(1000, seed=7)).all())
    (1000, True)
    """

    def __init__(self, name: str) -> None:
        self.name, self._native = name, _native.Sizes(name)

    def mean(self) -> float:
        """The mean size in bytes."""
        return self._native.mean()

    @property
    def cdf(self) -> Cdf:
        """The cumulative distribution."""
        return Cdf(self._native)

    def quantile(self, share: float) -> float:
        """The size in bytes that this share of flows does not exceed."""
        return self._native.quantiles([share])[0]

    def sample(self, n: int, seed: int = 1) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Draws ``n`` sizes in bytes: the first ones of a run with this seed."""
        return np.frombuffer(self._native.sample(n, seed), dtype="<i8").astype(np.int64)

    def __repr__(self) -> str:
        return f"<Workload {self.name}: mean {self.mean():.0f} bytes>"


def workload(sizes: str) -> Workload:
    """The distribution with a built-in name, in a form such as ``"fixed 20KB"``, or from a CDF file."""
    return Workload(sizes)
