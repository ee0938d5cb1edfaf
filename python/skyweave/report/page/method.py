"""Which settings held for the runs of a study, and which of them the study chose."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from skyweave.report.numbers.panel import Results
from skyweave.study.language.settings import TABLE

_MOST_VALUES = 12
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_BOTH_BUFFERS = ("send_buffer_mb", "receive_buffer_mb")


class Held(NamedTuple):
    """A setting, what it was, where that comes from, and what it means."""

    name: str
    values: str
    origin: str
    """``chosen`` by the study, or ``default``."""
    meaning: str


def settings_held(results: Results) -> list[Held]:
    """Return each setting that some run had: transport, scheduler, buffers, queues, ACKs, …."""
    plan = results.frozen["plan"]
    blocks = [plan["settings"], *plan["compare"]]
    found = []
    for name, about in TABLE.items():
        if about.label is None:
            continue
        labels = [labels.get(about.label or name) for _, labels in results.runs]
        values = list(dict.fromkeys(str(value) for value in labels if value is not None))
        if not values:
            continue
        chosen = any(_given(block, name) for block in blocks)
        origin = "chosen" if chosen else "default"
        found.append(Held(name.replace("_", " "), _listed(values), origin, _plain(about.meaning)))
    return found


def _given(block: dict[str, Any], name: str) -> bool:
    """Tell whether a block of a study file says what a setting is."""
    if name == "congestion" and block.get("flows"):
        return True
    both = name in _BOTH_BUFFERS and block.get("buffer_mb") is not None
    return both or block.get(name) is not None


def _listed(values: list[str]) -> str:
    more = len(values) - _MOST_VALUES
    return ", ".join([*values[:_MOST_VALUES], *([f"and {more} more"] if more > 0 else [])])


def _plain(markdown: str) -> str:
    """Return a line of docs/studies.md without its marks.

    >>> _plain('any of [algorithms.md](algorithms.md): `newreno`')
    'any of algorithms.md: newreno'
    """
    return _LINK.sub(r"\1", markdown).replace("`", "")
