"""The schedulers and congestion controls: what there is, what can be set, and what was chosen.

An algorithm is named by a string, or by a table that sets some of its parameters::

    "alcs"
    {"name": "alcs", "update_interval_ms": 100}
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from skyweave import _skyweave
from skyweave.errors import ConfigError, unknown_name

Choice = str | dict[str, bool | float | str]
"""A name, or a table with ``name`` and parameters."""
Kind = Literal["scheduler", "congestion", "abr"]
WORDS: dict[Kind, str] = {
    "scheduler": "scheduler",
    "congestion": "congestion control",
    "abr": "ABR algorithm",
}


@dataclass(frozen=True)
class Parameter:
    """One parameter: name (with its unit in it), default, range in words, meaning, source."""

    name: str
    unit: str
    type: str
    default: float | int | str | bool
    range: str
    meaning: str
    source: str


@dataclass(frozen=True)
class Algorithm:
    """What an algorithm says of itself."""

    kind: Kind
    name: str
    title: str
    source: str
    parameters: tuple[Parameter, ...]


@cache
def catalogue() -> tuple[Algorithm, ...]:
    """All schedulers, then all congestion controls, in the order of the documentation."""
    tables: dict[Kind, list[dict[str, Any]]] = json.loads(_skyweave.algorithm_tables())
    return tuple(
        Algorithm(
            kind=kind,
            name=one["name"],
            title=one["title"],
            source=one["source"],
            parameters=tuple(Parameter(**parameter) for parameter in one["parameters"]),
        )
        for kind, several in tables.items()
        for one in several
    )


def names(kind: Kind) -> list[str]:
    """The names of one kind."""
    return [one.name for one in catalogue() if one.kind == kind]


def find(name: str) -> Algorithm:
    """An algorithm of any kind; raises :class:`ConfigError` with the closest name."""
    for one in catalogue():
        if one.name == name:
            return one
    raise ConfigError(unknown_name("algorithm", name, [one.name for one in catalogue()]))


def check(kind: Kind, choice: Choice) -> None:
    """Raise :class:`ConfigError` for a name or a parameter that makes no sense."""
    name = choice if isinstance(choice, str) else choice.get("name", "")
    if name not in names(kind):
        raise ConfigError(unknown_name(WORDS[kind], str(name), names(kind)))
    try:
        _skyweave.check_algorithm(kind, json.dumps(choice))
    except ValueError as error:
        raise ConfigError(str(error)) from None


def name_of(choice: Choice) -> str:
    """Return the name of an algorithm, without its parameters."""
    return str(choice["name"]) if isinstance(choice, dict) else choice


def parameters_of(choice: Choice) -> dict[str, bool | float | str]:
    """Return the parameters that a choice sets; a class of the user's (``own.py``) has none."""
    given = choice if isinstance(choice, dict) and "python" not in choice else {}
    return {key: value for key, value in given.items() if key != "name"}


def label(choice: Choice) -> str:
    """A choice in one line, the same for the same choice.

    >>> label({"name": "alcs", "delta": "paper", "update_interval_ms": 100})
    'alcs(delta=paper, update_interval_ms=100)'
    """
    if isinstance(choice, str):
        return choice
    given = sorted(parameters_of(choice).items())
    if not given:
        return str(choice["name"])
    return f"{choice['name']}({', '.join(f'{key}={_short(value)}' for key, value in given)})"


def _short(value: bool | float | str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float | int) else value
