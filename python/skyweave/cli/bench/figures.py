"""What benchmarks print."""

from __future__ import annotations

import json

from rich.table import Table

from skyweave.console import Console
from skyweave.printing import put


def say_figures(figures: dict[str, float], meaning: dict[str, str], as_json: bool) -> None:
    """Print figures by name: as one JSON object, or as a table with what each of them means."""
    if as_json:
        put(json.dumps(figures))
        return
    table = Table(box=None)
    for column in ("figure", "value", "meaning"):
        table.add_column(column)
    for name, value in figures.items():
        table.add_row(name, f"{value:,.3f}" if value < 100 else f"{value:,.0f}", meaning[name])
    Console().print(table)
