"""The presets of schemes that an experiment can name."""

from __future__ import annotations

import json
from dataclasses import dataclass

from . import _native


@dataclass(frozen=True)
class Scheme:
    """A preset: a named combination of parts with its paper's parameters."""

    name: str
    """The name in an experiment, ``{"preset": "pias"}``."""
    about: str
    """A short description."""
    source: str
    """The paper that the scheme comes from."""
    parts: dict[str, str]
    """The part for each role: tagger, transport, port and controller."""


def schemes() -> list[Scheme]:
    """Every preset.

    >>> import flowsched
    >>> "pias" in [scheme.name for scheme in flowsched.schemes()]
    True
    """
    return [Scheme(**one) for one in json.loads(_native.presets())]
