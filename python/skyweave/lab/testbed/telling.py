"""What happens on the lab's testbed, a line for each event, as its admin sees it."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

from skyweave.testbed.client import FINAL, Testbed

SHOWN = FINAL | {"reserved", "running"}
"""States that are worth a line."""
MOST_RUNS = 50
NEAR_S = 45.0


class Teller:
    """Tells what is new since the last look."""

    def __init__(
        self, testbed: Testbed, say: Callable[[str], object], titles: dict[str, str]
    ) -> None:
        """``titles``: of experiments, by their ids."""
        self._testbed, self._say, self.titles = testbed, say, titles
        self._told: set[tuple[str, str]] = set()
        self._seen: dict[str, str] = {}

    def look(self) -> list[dict[str, Any]]:
        """Say what is new; return all runs, the newest first."""
        rows = self._testbed.runs(limit=MOST_RUNS)
        for row in reversed(rows):
            if self._seen.get(row["id"]) != row["state"]:
                self._seen[row["id"]] = row["state"]
                self._tell(row)
        return rows

    def line(self, words: str, at: float | None = None) -> None:
        """Say something with its time."""
        moment = datetime.fromtimestamp(time.time() if at is None else at)
        self._say(f"{moment:%H:%M:%S}  {words}")

    def _tell(self, row: dict[str, Any]) -> None:
        for change in self._testbed.run(row["id"])["history"]:
            key = row["id"], change["state"]
            promised = change["state"] == "reserved" and _is_far_ahead(row, change)
            if change["state"] in SHOWN and key not in self._told and not promised:
                self._told.add(key)
                self.line(self._words(row, change), change["at_unix_s"])

    def _words(self, row: dict[str, Any], change: dict[str, Any]) -> str:
        title = self.titles.get(row["experiment"], "")
        name = f"{row['node']}: run {row['id'][:6]} ({title})"
        if change["state"] == "reserved":
            start = f"{datetime.fromtimestamp(row['start_unix_s']):%H:%M:%S}"
            cause = f"trigger '{row['trigger']}' fired, " if row["trigger"] else ""
            return f"{name}: {cause}placed at {start}"
        why = f": {change['why']}" if change["why"] else ""
        return f"{name}: {change['state']}{why}"


def _is_far_ahead(row: dict[str, Any], change: dict[str, Any]) -> bool:
    """Tell whether a run was placed so early that its line says nothing of now."""
    return float(row["start_unix_s"] - change["at_unix_s"]) > NEAR_S
