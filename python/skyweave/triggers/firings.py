"""The records of firings: a folder each, with what fired, why, and what came of the run.

``firing.json`` is there, whole, before the run begins; it is written anew when the run is over and
when the 30 s after the firing are known. The run works in the same folder: its results lie beside.
"""

from __future__ import annotations

import json
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any

from skyweave.data.writers import write_text
from skyweave.triggers.act import Ran, facts
from skyweave.triggers.machine import CONTEXT_S, Event
from skyweave.triggers.spec import TriggerFile

FIRING = "firing.json"
SCHEMA = 1


class Firings:
    """A folder of firings; methods may be called from several threads."""

    def __init__(self, out: Path, triggers: TriggerFile) -> None:
        self._out = out
        self._triggers = {one.name: one for one in triggers.trigger}
        self._open: dict[Path, dict[str, Any]] = {}
        self._lock = threading.Lock()

    def begin(self, event: Event) -> Path:
        """Record a firing with the samples before it; return its folder."""
        folder, trigger = self._folder(event), self._triggers[event.trigger]
        said = facts(event)
        with self._lock:
            self._open[folder] = {
                "kind": "skyweave-firing",
                "schema_version": SCHEMA,
                "trigger": event.trigger,
                "when": trigger.when,
                "time_unix_s": event.time_unix_s,
                "start_unix_s": event.start_unix_s,
                "run": None,
                "run_over": trigger.run is None,
                "context_s": CONTEXT_S,
                "context_whole": False,
                "context": said["context"],
            }
            self._write(folder)
        return folder

    def whole(self, event: Event) -> None:
        """Record the samples before and after a firing."""
        self._change(event, {"context": facts(event)["context"], "context_whole": True})

    def ran(self, event: Event, ran: Ran | None) -> None:
        """Record what came of the run; None: it could not be started."""
        self._change(event, {"run": None if ran is None else asdict(ran), "run_over": True})

    def _change(self, event: Event, change: dict[str, Any]) -> None:
        folder = self._folder(event)
        with self._lock:
            there = self._open.get(folder)
            if there is None:
                return
            there |= change
            self._write(folder)
            if there["context_whole"] and there["run_over"]:
                del self._open[folder]

    def _folder(self, event: Event) -> Path:
        return self._out / f"{event.trigger}-{event.time_unix_s:.3f}"

    def _write(self, folder: Path) -> None:
        text = json.dumps(self._open[folder], allow_nan=False)
        write_text(folder / FIRING, text + "\n")
