"""``skyweave bench algorithms``."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.table import Table

from skyweave import _skyweave
from skyweave.console import Console
from skyweave.printing import put

ROUNDS, CALLS = 7, 200_000


def bench_algorithms(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure what one decision of a scheduler and one ACK of a congestion control cost."""
    costs = json.loads(_skyweave.measure_algorithms(ROUNDS, CALLS))
    if as_json:
        put(json.dumps({f"{kind}_ns": found for kind, found in costs.items()}))
        return
    decisions = Table("scheduler", "2 paths", "8 paths", title="ns per decision", box=None)
    for name, cost in costs["scheduler"].items():
        decisions.add_row(name, f"{cost['2']:.0f}", f"{cost['8']:.0f}")
    acks = Table("congestion control", "ns", title="ns per acknowledgement", box=None)
    for name, cost in costs["congestion"].items():
        acks.add_row(name, f"{cost:.0f}")
    Console().print(decisions, acks, sep="\n")
