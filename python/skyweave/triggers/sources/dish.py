"""A dish as a source: what it says of itself each second, how it moves, who serves it."""

from __future__ import annotations

import math
import threading
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from skyweave.model.validated import complaint
from skyweave.orbit.catalogue import load_constellation
from skyweave.orbit.places import Place
from skyweave.telemetry.dish.feed import Taker, Tee, fed
from skyweave.telemetry.dish.record import PIXELS, Options, Recorder, record
from skyweave.telemetry.dish.sky_map import body_axes
from skyweave.telemetry.dish.status import Row, quaternion
from skyweave.telemetry.serving import SLOT_OFFSET_S, SLOT_S, Served, serving
from skyweave.telemetry.store import Store
from skyweave.triggers.sources.source import Keep, Series, Source, Warn

_ASKS = frozenset({"host", "timeout_s", "keep", "clear_map_s"})
"""Options of a source that asks the dish itself."""


class DishSource(Source):
    """What all sources that ask a dish have in common."""

    host: Annotated[str, Field(max_length=300)] = "192.168.100.1:9200"
    timeout_s: Annotated[float, Field(ge=0.1, le=60)] = 3.0
    keep: str | None = None
    """A folder for the same files as those of ``skyweave dish record``."""
    feed: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    """The socket of ``skyweave dish record --feed``, which asks the dish for all."""

    @model_validator(mode="after")
    def _asks_or_is_fed(self) -> Self:
        if self.feed is not None and (asked := sorted(_ASKS & self.model_fields_set)):
            raise complaint("feed", f"the recorder asks the dish: leave out {', '.join(asked)}")
        return self

    def run(self, keep: Keep, stop: threading.Event, warn: Warn) -> None:
        """Record a dish, or be fed; see :class:`~skyweave.triggers.sources.source.Source`."""
        if self.feed is not None:
            take = self.taker(keep)
            for kind, row in fed(Path(self.feed), stop, warn, self._options().satellites):
                take(kind, row)
            return
        from skyweave.telemetry.dish.client import Dish

        store = Store(Path(self.keep)) if self.keep is not None else None
        with Dish(self.host, self.timeout_s) as dish:
            sink = Tee(self.taker(keep), store)
            record(Recorder(dish, sink, self._options(), warn=warn), stop)

    def _options(self) -> Options:
        """Return what is asked for beside the status."""
        return Options()

    def taker(self, keep: Keep) -> Taker:
        """Return what makes samples of rows."""
        raise NotImplementedError


class Dish(DishSource):
    """The status of a dish, each second."""

    kind: Literal["dish"]

    offers: ClassVar[dict[str, Series]] = {
        "state": Series("text", "CONNECTED, or the cause of the outage under way"),
        "alerts": Series("text", "names of the alerts that are set"),
        "ping_latency_ms": Series("number", "the dish's own ping, smoothed; lost: nothing"),
        "ping_drop_ratio": Series("number", "share of its pings that were lost"),
        "down_mbps": Series("number", "what it carries to its users, Mbit/s"),
        "up_mbps": Series("number", "what it carries from them, Mbit/s"),
        "obstructed_ratio": Series("number", "share of its sky that is obstructed"),
    }

    def taker(self, keep: Keep) -> Taker:
        """Return what takes the named columns of a status."""

        def take(kind: str, row: Row) -> None:
            if kind == "status":
                keep(row["time_unix_s"], {name: row.get(name) for name in self.offers})

        return take


class Movement(DishSource):
    """How a dish turns: the change of its attitude."""

    kind: Literal["movement"]

    offers: ClassVar[dict[str, Series]] = {
        "azimuth_deg": Series("number", "where the boresight points"),
        "elevation_deg": Series("number", "how high it points"),
        "turned_deg": Series("number", "angle between this attitude and the one a second before"),
    }

    def taker(self, keep: Keep) -> Taker:
        """Return what compares attitudes."""
        last: list[Any] = [None]

        def take(kind: str, row: Row) -> None:
            if kind != "status":
                return
            before, last[0] = last[0], quaternion(row)
            turned = None
            if before is not None and last[0] is not None and row.get("gap_s") is None:
                turned = turn_deg(before, last[0])
            names = ("azimuth_deg", "elevation_deg")
            keep(row["time_unix_s"], {name: row[name] for name in names} | {"turned_deg": turned})

        return take


class Serving(DishSource):
    """Which satellite served in the slot that is over, from the dish's obstruction map."""

    kind: Literal["serving"]
    terminal: Place
    constellation: str
    """A built-in name, or a file of elements of the day."""
    clear_map_s: Annotated[float, Field(ge=15, le=86_400)] | None = None
    """Empty the map that often; the owner's app shows that."""

    offers: ClassVar[dict[str, Series]] = {
        "satellite": Series("text", "who served in the slot that is over; not found: nothing"),
        "error_deg": Series("number", "median angle between its track and the satellite"),
        "margin_deg": Series("number", "how much farther the runner-up is"),
        "handover": Series("number", "1: another satellite than in the slot before, 0: the same"),
    }

    def _options(self) -> Options:
        """Ask for the map, too."""
        return Options(satellites=True, clear_map_s=self.clear_map_s)

    def taker(self, keep: Keep) -> Taker:
        """Return what finds the satellite of each slot."""
        return _Slots(self, keep).take


class _Slots:
    """The pixels of the slot under way; one second after its end they say who served."""

    LATE_S = 1.0

    def __init__(self, spec: Serving, keep: Keep) -> None:
        self._constellation = load_constellation(spec.constellation)
        self._place, self._keep = spec.terminal, keep
        self._pixels: list[Row] = []
        self._slot: float | None = None
        self._before: str | None = None

    def take(self, kind: str, row: Row) -> None:
        if kind == "pixels":
            self._pixels.append(row)
        elif kind == "status":
            now = float(row["time_unix_s"])
            slot = math.floor((now - self.LATE_S - SLOT_OFFSET_S) / SLOT_S) * SLOT_S + SLOT_OFFSET_S
            if self._slot is not None and slot > self._slot:
                self._finish(now, self._slot)
            self._slot = slot

    def _finish(self, now: float, slot: float) -> None:
        rows = pl.DataFrame(self._pixels, schema=PIXELS)
        found = [
            one
            for one in serving(rows, self._constellation, self._place)
            if one.slot_unix_s == slot
        ]
        end = slot + SLOT_S
        self._pixels = [one for one in self._pixels if one["time_unix_s"] > end]
        best = max(found, key=lambda one: one.pixels, default=None)
        self._keep(now, self._said(best))
        self._before = best.satellite if best is not None else None

    def _said(self, best: Served | None) -> dict[str, Any]:
        if best is None:
            return dict.fromkeys(Serving.offers)
        margin = best.margin_deg if math.isfinite(best.margin_deg) else None
        same = self._before is None or self._before == best.satellite
        return {
            "satellite": best.satellite, "error_deg": best.error_deg, "margin_deg": margin,
            "handover": None if self._before is None else float(not same),
        }  # fmt: skip


def turn_deg(
    before: tuple[float, float, float, float], after: tuple[float, float, float, float]
) -> float:
    """Return the angle of the turn between two attitudes, 0 to 180.

    >>> round(turn_deg((1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)))
    180
    """
    trace = float(np.trace(body_axes(before).T @ body_axes(after)))
    return math.degrees(math.acos(max(-1.0, min(1.0, (trace - 1) / 2))))
