"""Lists and grids of algorithms as a study file writes them, expanded and checked."""

from __future__ import annotations

import itertools
import math
from typing import Any

from skyweave.algorithms.catalogue import Choice, Kind, check
from skyweave.algorithms.own import KINDS, is_own, parts
from skyweave.errors import ConfigError
from skyweave.model.limits import MOST_RUNS

DEFAULT = "default"
"""The congestion control that a sender has unless told; engine ``field``."""


def listed(value: Any) -> Any:
    """Make a list of one out of a lone value, so that each setting can be a list."""
    return list(value) if isinstance(value, list | tuple) else [value]


def spread(value: Any) -> list[Any]:
    """Return a list of algorithms in which each parameter has one value.

    >>> spread({"name": "bbr2", "loss_thresh": [0.02, 0.08]})
    [{'name': 'bbr2', 'loss_thresh': 0.02}, {'name': 'bbr2', 'loss_thresh': 0.08}]

    Raises :class:`ValueError` for a parameter with an empty list.
    """
    return [one for item in listed(value) for one in _grid(item)]


def _grid(item: Any) -> list[Any]:
    """Return each combination of the values that the parameters of one table have."""
    if not isinstance(item, dict):
        return [item]
    values = {key: listed(value) for key, value in item.items()}
    empty = next((key for key, several in values.items() if not several), None)
    if empty is not None:
        raise ValueError(f"the list of values of '{empty}' is empty; give at least one")
    count = math.prod(len(several) for several in values.values())
    if count > MOST_RUNS:
        raise ValueError(f"the lists of parameters make {count:,} combinations; shorten them")
    combinations = itertools.product(*values.values())
    return [dict(zip(values, combination, strict=True)) for combination in combinations]


def checked(kind: Kind, given: tuple[Choice, ...] | None) -> tuple[Choice, ...] | None:
    """Return ``given`` if each is an algorithm with parameters that make sense, or names Python.

    Raises :class:`ValueError` with a sentence that pydantic puts beside file and line.
    """
    for choice in given or ():
        try:
            if kind in KINDS and is_own(choice):
                parts(choice)
            elif not (kind == "congestion" and choice == DEFAULT):
                check(kind, choice)
        except ConfigError as error:
            raise ValueError(str(error)) from None
    return given
