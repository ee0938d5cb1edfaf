"""Recording a dish: status each second, history each 300 s, new pixels of the map if wanted.

:class:`Recorder` asks for what is due at a moment and keeps it; :func:`record` gives it the time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import polars as pl

from skyweave.errors import DataError
from skyweave.telemetry.dish import history, status
from skyweave.telemetry.dish.errors import DishError
from skyweave.telemetry.dish.sky_map import SkyMap, parse_map
from skyweave.telemetry.dish.status import Row, quaternion, status_row

STATUS_S = 1.0
HISTORY_S = 300.0
MAP_S = 0.5
OFFSET_S = 300.0
"""How often the dish's clock is asked for."""
GAP_S = 2.5
"""Two statuses farther apart than this have a gap between them."""
MOST_PIXELS = 2000
"""New pixels of one look that are kept: more is another map and not a satellite's track."""
PIXELS: dict[str, Any] = {
    "time_unix_s": pl.Float64,
    "before_unix_s": pl.Float64,
    "row": pl.Int32,
    "column": pl.Int32,
    "snr": pl.Float64,
    "frame": pl.String,
    "side": pl.Int32,
    "max_theta_deg": pl.Float64,
    "q_scalar": pl.Float64,
    "q_x": pl.Float64,
    "q_y": pl.Float64,
    "q_z": pl.Float64,
}
"""Pixels that changed between two looks at the map, and the attitude then."""


class Source(Protocol):
    """What a recorder asks; :class:`skyweave.telemetry.dish.client.Dish` is one."""

    def status(self) -> Any:
        """Return a ``DishGetStatusResponse``."""

    def history(self) -> Any:
        """Return a ``DishGetHistoryResponse``."""

    def obstruction_map(self) -> Any:
        """Return a ``DishGetObstructionMapResponse``."""

    def clear_map(self) -> None:
        """Empty the map."""

    def location(self) -> tuple[float, float, float] | None:
        """Return latitude, longitude, height; None if denied."""


class Sink(Protocol):
    """Where rows go; :class:`skyweave.telemetry.store.Store` is one."""

    def add(self, kind: str, schema: dict[str, Any], rows: Sequence[Row]) -> None:
        """Take rows of a kind, in the order of time."""

    def flush(self) -> None:
        """Write what is in memory."""


@dataclass(frozen=True)
class Options:
    """What is recorded beside status and history."""

    satellites: bool = False
    """New pixels of the obstruction map, twice a second."""
    clear_map_s: float | None = None
    """Empty the map that often, so that tracks do not hide each other; its owner sees that."""
    location: bool = False


class Recorder:
    """Asks a dish for what is due and keeps it."""

    def __init__(
        self, dish: Source, store: Sink, options: Options = Options(),
        offset: Callable[[], float | None] = lambda: None,
        warn: Callable[[str], object] = lambda _: None,
    ) -> None:  # fmt: skip
        """``offset`` asks for the dish's clock; ``warn`` hears of each failure once."""
        self.rows = 0
        self._dish, self._store, self._options = dish, store, options
        self._offset, self._warn = offset, warn
        self._offset_s: float | None = None
        self._place: tuple[float, float, float] | None = None
        self._history = history.History()
        self._map: tuple[float, SkyMap] | None = None
        self._attitude: tuple[float, ...] | None = None
        self._answered_s: float | None = None
        self._why: str | None = None
        self._warned: set[str] = set()
        self._due: dict[str, float] = {}

    def tick(self, now_s: float, now_unix_s: float) -> None:
        """Do what is due; ``now_s`` is of a clock that never jumps."""
        if self._is_due("offset", now_s, OFFSET_S):
            self._offset_s = self._offset()
        if self._is_due("status", now_s, STATUS_S):
            self._try("status", lambda: self._ask_status(now_s, now_unix_s))
        if self._is_due("history", now_s, HISTORY_S):
            self._try("history", lambda: self._ask_history(now_s, now_unix_s))
        if self._options.satellites and self._is_due("map", now_s, MAP_S):
            self._try("map", lambda: self._ask_map(now_s, now_unix_s))

    def finish(self, now_s: float, now_unix_s: float) -> None:
        """Take the history once more, and write everything."""
        self._try("history", lambda: self._ask_history(now_s, now_unix_s))
        self._store.flush()

    def next_s(self, now_s: float) -> float:
        """Return when something is due again; what was missed is not made up for."""
        regular = ("status", "history", "map")
        return min((self._due[name] for name in regular if name in self._due), default=now_s)

    def _is_due(self, what: str, now_s: float, every_s: float) -> bool:
        due = self._due.setdefault(what, now_s)
        if now_s < due:
            return False
        missed = int((now_s - due) / every_s)
        self._due[what] = due + (missed + 1) * every_s
        return True

    def _try(self, what: str, ask: Callable[[], None]) -> None:
        """Ask; a failure is warned of once until the next success, and is the cause of a gap."""
        try:
            ask()
        except (DishError, DataError) as error:
            if what == "status" and self._why is None:
                self._why = str(error)
            if what not in self._warned:
                self._warned.add(what)
                self._warn(f"{what}: {error}")
        else:
            self._warned.discard(what)

    def _ask_status(self, now_s: float, now_unix_s: float) -> None:
        row = status_row(self._dish.status())
        if self._options.location and self._is_due("location", now_s, HISTORY_S):
            self._place = self._dish.location()
        gap = None if self._answered_s is None else now_s - self._answered_s
        row |= {"time_unix_s": now_unix_s, "clock_offset_s": self._offset_s}
        if gap is not None and gap > GAP_S:
            row |= {"gap_s": gap, "gap_why": (self._why or "the recorder was late")[:200]}
        if self._place is not None:
            row |= dict(zip(status.PLACE, self._place, strict=True))
        self._answered_s, self._why = now_s, None
        self._attitude = quaternion(row)
        self.rows += 1
        self._store.add("status", status.SCHEMA, [row])

    def _ask_history(self, now_s: float, now_unix_s: float) -> None:
        joined = self._history.join(self._dish.history(), now_s, now_unix_s)
        self._store.add("history", history.SCHEMA, joined)

    def _ask_map(self, now_s: float, now_unix_s: float) -> None:
        seen = parse_map(self._dish.obstruction_map())
        if self._map is not None:
            before, last = self._map
            rows = new_pixels(last, seen, before, now_unix_s, self._attitude)
            self._store.add("pixels", PIXELS, rows)
        self._map = (now_unix_s, seen)
        every_s = self._options.clear_map_s
        if every_s is not None and self._is_due("clear", now_s, every_s):
            self._dish.clear_map()
            self._map = (now_unix_s, parse_map(self._dish.obstruction_map()))


def new_pixels(
    last: SkyMap, seen: SkyMap, before_unix_s: float, now_unix_s: float,
    attitude: tuple[float, ...] | None,
) -> list[Row]:  # fmt: skip
    """Return the pixels that became known between two looks; none if the map is another one."""
    if seen.snr.shape != last.snr.shape or seen.frame != last.frame:
        return []
    found = np.argwhere(seen.known & ~last.known)
    if len(found) > MOST_PIXELS:
        return []
    turn = dict(zip(("q_scalar", "q_x", "q_y", "q_z"), attitude or (None,) * 4, strict=True))
    return [
        {
            "time_unix_s": now_unix_s, "before_unix_s": before_unix_s, "row": row,
            "column": column, "snr": float(seen.snr[row, column]), "frame": seen.frame,
            "side": seen.snr.shape[0], "max_theta_deg": seen.max_theta_deg, **turn,
        }
        for row, column in found.tolist()
    ]  # fmt: skip


def record(recorder: Recorder, stop: threading.Event, duration_s: float = float("inf")) -> None:
    """Record until told to stop, or for ``duration_s``; then write everything."""
    begin = time.monotonic()
    try:
        while not stop.is_set() and time.monotonic() - begin < duration_s:
            recorder.tick(time.monotonic(), time.time())
            now = time.monotonic()
            stop.wait(max(0.0, min(recorder.next_s(now) - now, begin + duration_s - now)))
    finally:
        recorder.finish(time.monotonic(), time.time())
