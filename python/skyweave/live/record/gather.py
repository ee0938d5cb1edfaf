"""What both sides and the relay saw, as the columns of a record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from skyweave.algorithms.catalogue import name_of
from skyweave.live.world.addresses import place_of
from skyweave.model import config
from skyweave.model.drive import Values
from skyweave.model.record import EVENT_SCHEMA, SAMPLE_SCHEMA
from skyweave.model.totals import RunTotals

Seen = dict[str, Any]
"""What a side saw of one transfer: :func:`skyweave.live.traffic.transfer.transfer`."""
ViewOf = Callable[[config.Connection], "type[View]"]
IN_ORDER_WAITS = tuple(
    f"in_order_wait_{statistic}_ms" for statistic in ("mean", "p50", "p99", "longest")
)
"""What a receiver tells of head-of-line blocking, if it is not the kernel."""
_SUMS = ("acked_bytes", "sent_bytes", "sent_packets", "retransmitted_packets", "timeouts",
         "received_bytes")  # fmt: skip


def gather(
    run: config.Run,
    epoch_ns: int,
    ends: tuple[list[Seen], list[Seen]],
    links: Seen,
    view_of: ViewOf | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame, RunTotals]:
    """Return the samples, events and totals of a run.

    ``ends``: what the client and the server saw of each connection. ``view_of``: how a connection
    is put together, by :class:`View` if not given.
    """
    client, server = ends
    carried = _series(links["samples"])
    rows: list[dict[str, Any]] = []
    events: list[dict[str, Any]] = []
    connections: list[Any] = []
    for number, connection in enumerate(run.connections):
        down = connection.workload.main_direction == "down"
        pair = (server[number], client[number])
        view = View if view_of is None else view_of(connection)
        one = view(run, number, epoch_ns, *(pair if down else pair[::-1]))
        rows += one.samples(carried)
        events += one.events()
        connections.append(one.totals())
    rows.sort(key=lambda row: row["time_s"])
    events.sort(key=lambda event: event["time_s"])
    counted = links["statistics"]["links"]
    totals: RunTotals = {
        "simulated_s": max((row["time_s"] for row in rows), default=0.0),
        "link_packets": sum(link["delivered_packets"] for link in counted.values()),
        "connections": connections,
        "links": counted,
    }
    return (
        pl.DataFrame(rows, schema=SAMPLE_SCHEMA),
        pl.DataFrame(events, schema=EVENT_SCHEMA),
        totals,
    )


class View:
    """One connection, as its sending and its receiving end saw it."""

    sums: tuple[str, ...] = _SUMS
    """What is counted of each path from its beginning."""

    def __init__(
        self, run: config.Run, number: int, epoch_ns: int, sender: Seen, receiver: Seen
    ) -> None:
        self._run, self._number = run, number
        self._connection = run.connections[number]
        self._names = self._connection.paths or tuple(path.name for path in run.paths)
        if self._connection.transport == "tcp":
            self._names = self._names[:1]
        self._epoch_ns = epoch_ns
        self._sender, self._receiver = sender, receiver
        self._places = {path.name: place for place, path in enumerate(run.paths)}
        self._end_s = self._ended()
        self._interval_s = run.sample_interval_ms / 1e3
        self._states = {row["tick"]: row for row in sender["rows"]}
        self._sums = self._path_sums("sender")

    def _ended(self) -> float:
        """Return when the last byte was delivered, a program ended, or the time was over."""
        done_ns = self._receiver["completed_ns"] or self._receiver.get("ended_ns")
        if done_ns is not None:
            return float(done_ns - self._epoch_ns) / 1e9
        return end_of(self._connection, self._run)

    def _delivered(self, times_s: Values) -> Values:
        """Return what the application had received at certain times, in bytes."""
        rows = self._receiver["rows"]
        points = [(self._connection.start_s, 0.0)]
        points += [(self._since(row["at_ns"]), float(row["bytes"])) for row in rows]
        if self._receiver["completed_ns"] is not None:
            points.append((self._since(self._receiver["completed_ns"]), points[-1][1]))
        at_s, had = zip(*sorted(points), strict=True)
        delivered: Values = np.interp(times_s, at_s, had)
        return delivered

    def _since(self, at_ns: int) -> float:
        return (at_ns - self._epoch_ns) / 1e9

    def samples(self, carried: dict[str, Series]) -> Iterator[dict[str, Any]]:
        """Yield the rows of each sample time: one a path, then the connection's own."""
        start_s, interval_s = self._connection.start_s, self._interval_s
        first = int(start_s / interval_s + 1e-9) + 1
        last = max(int(np.ceil(self._end_s / interval_s - 1e-9)), first)
        ticks = np.arange(first, last + 1)
        times_s = np.asarray(ticks * interval_s, dtype=np.float64)
        delivered = self._delivered(times_s)
        fresh = np.diff(delivered, prepend=0.0)
        goodput = fresh * 8e-6 / interval_s
        direction = self._connection.workload.main_direction
        for place, tick in enumerate(ticks):
            time_s = round(float(times_s[place]), 9)
            common = {"time_s": time_s, "connection": self._number}
            for name in self._names:
                link = carried.get(f"{name}.{direction}")
                yield {
                    **common,
                    "path": name,
                    **self.path_columns(name, int(tick), None if link is None else link.at(time_s)),
                    "queue_bytes": None if link is None else link.at(time_s)["queue_bytes"],
                }
            yield {
                **common,
                "path": "",
                "delivered_bytes": float(round(delivered[place])),
                "goodput_mbps": float(goodput[place]),
                **self.own_columns(int(tick)),
            }

    def path_columns(
        self, name: str, tick: int, link: dict[str, float] | None
    ) -> dict[str, float | None]:
        """Return the columns of a path at a sample time; ``link``: what the relay says of then."""
        del link  # the kernel says more
        state = _of_path(self._states.get(tick, {}), self._places[name], self._down)
        return _path_columns(state, self._sums.get(tick, {}).get(name))

    def own_columns(self, tick: int) -> dict[str, float | None]:
        """Return further columns of the connection's own row; a kernel reports none."""
        del tick
        return {}

    @property
    def _down(self) -> bool:
        return self._connection.workload.main_direction == "down"

    def _path_sums(self, end: str) -> dict[int, dict[str, dict[str, int]]]:
        """Return, for each tick, the sums of each path over all its subflows, also ended ones."""
        seen = self._sender if end == "sender" else self._receiver
        on_server = self._down == (end == "sender")
        names = {place: name for name, place in self._places.items()}
        latest: dict[tuple[Any, ...], dict[str, Any]] = {}
        by_tick = {}
        for row in seen["rows"]:
            for subflow in row.get("subflows", ()):
                latest[(*subflow["local"], *subflow["remote"])] = subflow
            sums: dict[str, dict[str, int]] = {}
            for subflow in latest.values():
                name = names.get(_place(subflow, on_server))
                if name is not None:
                    own = sums.setdefault(name, dict.fromkeys(self.sums, 0))
                    for key in self.sums:
                        own[key] += subflow[key]
            by_tick[row["tick"]] = sums
        return by_tick

    def events(self) -> Iterator[dict[str, Any]]:
        """Yield what changed from one sample to the next at the sending end."""
        names = {place: name for name, place in self._places.items()}
        before: dict[str, tuple[int, int]] = {}
        fallen = False
        for row in self._sender["rows"]:
            time_s = round(row["tick"] * self._interval_s, 9)
            now: dict[str, tuple[int, int]] = {}
            for subflow in row.get("subflows", ()):
                name = names.get(_place(subflow, self._down), "")
                count, timeouts = now.get(name, (0, 0))
                now[name] = (count + 1, timeouts + subflow["timeouts"])
            for name in dict.fromkeys((*before, *now)):
                yield from self._path_events(name, time_s, before.get(name), now.get(name))
            if row.get("fallback") and not fallen:
                fallen = True
                yield self._event(time_s, "", "fallback", 0.0)
            before = now

    def _path_events(
        self,
        name: str,
        time_s: float,
        before: tuple[int, int] | None,
        now: tuple[int, int] | None,
    ) -> Iterator[dict[str, Any]]:
        if before is None:
            yield self._event(time_s, name, "established", 0.0)
        elif now is None:
            yield self._event(time_s, name, "closed", 0.0)
        elif now[1] > before[1]:
            yield self._event(time_s, name, "timeout", float(now[1] - before[1]))

    def _event(self, time_s: float, path: str, event: str, value: float) -> dict[str, Any]:
        return {
            "time_s": time_s, "connection": self._number, "path": path, "event": event,
            "value": value,
        }  # fmt: skip

    def totals(self) -> dict[str, Any]:
        """Return the sums of the connection, a :class:`skyweave.ConnectionTotals`."""
        connection = self._connection
        delivered = float(self._delivered(np.array([self._end_s]))[0])
        seconds = self._end_s - connection.start_s
        complete = self._receiver["completed_ns"] is not None
        sent = self._last_sums("sender")
        received = self._last_sums("receiver")
        last = self._sender["rows"][-1] if self._sender["rows"] else {}
        return {
            "transport": connection.transport,
            "scheduler": "upstream",
            "congestion": name_of(connection.congestion),
            "direction": connection.workload.main_direction,
            "start_s": connection.start_s,
            "completion_s": seconds if complete else None,
            "delivered_bytes": round(delivered),
            "goodput_mbps": delivered * 8e-6 / seconds if seconds > 0 else 0.0,
            "longest_stall_s": self._longest_stall_s(),
            "frozen_s": None,
            **dict.fromkeys(IN_ORDER_WAITS),
            "duplicate_bytes": None,
            "reorder_buffer_max_bytes": None,
            "meta_timeouts": None,
            "window_stalls": None,
            "penalisations": None,
            "waits": None,
            "reinjections": last.get("reinjections"),
            "fallback": bool(last.get("fallback", False)),
            "error": self._sender.get("error") or self._receiver.get("error"),
            "paths": {
                name: self.path_totals(name, sent.get(name), received.get(name))
                for name in self._names
            },
        }

    def _longest_stall_s(self) -> float | None:
        """Return the longest time without anything new for the application, from its first byte on.

        Looked at once a sample interval, so it is known to that.
        """
        had, since_s, longest = 0.0, None, 0.0
        for row in sorted(self._receiver["rows"], key=lambda row: row["at_ns"]):
            at_s = min(self._since(row["at_ns"]), self._end_s)
            if since_s is not None:
                longest = max(longest, at_s - since_s)
            if row["bytes"] > had:
                had, since_s = float(row["bytes"]), at_s
        return None if since_s is None else longest

    def _last_sums(self, end: str) -> dict[str, dict[str, int]]:
        return _last(self._sums if end == "sender" else self._path_sums(end))

    def path_totals(
        self, name: str, sent: dict[str, int] | None, received: dict[str, int] | None
    ) -> dict[str, Any]:
        """Return the sums of a path, as the kernel counted them at both ends."""
        sent = sent or dict.fromkeys(_SUMS, 0)
        rtts = [
            subflow["min_rtt_ms"]
            for row in self._sender["rows"]
            for subflow in row.get("subflows", ())
            if _place(subflow, self._down) == self._places[name] and subflow["min_rtt_ms"] < 4e6
        ]
        return {
            "sent_packets": sent["sent_packets"],
            "sent_bytes": sent["sent_bytes"],
            "lost_packets": None,
            "retransmitted_packets": sent["retransmitted_packets"],
            "reinjected_packets": None,
            "redundant_packets": None,
            "timeouts": sent["timeouts"],
            "spurious_timeouts": None,
            "outage_retransmitted_packets": None,
            "outage_reinjected_packets": None,
            "unique_bytes": received["received_bytes"] if received else 0,
            "min_rtt_ms": min(rtts, default=None),
            "blocked_others_byte_s": None,
            "blocked_own_byte_s": None,
        }


def end_of(connection: config.Connection, run: config.Run) -> float:
    """Return when a connection ends at the latest, in s."""
    duration_s = connection.workload.duration_s
    if duration_s is None:
        return run.stop_after_s
    return min(connection.start_s + duration_s, run.stop_after_s)


def _place(subflow: Seen, on_server: bool) -> int:
    """Return the place of the path of a subflow: the client's address decides."""
    place = place_of(subflow["remote" if on_server else "local"][0])
    return -1 if place is None else place


def _of_path(row: Seen, place: int, on_server: bool) -> list[Seen]:
    return [s for s in row.get("subflows", ()) if _place(s, on_server) == place]


def _path_columns(subflows: list[Seen], sums: dict[str, int] | None) -> dict[str, float | None]:
    """Return the columns of a path from its subflows of this moment and its sums so far."""
    sums = sums or dict.fromkeys(_SUMS, 0)
    latest = subflows[-1] if subflows else None
    pacing = None if latest is None else latest["pacing_mbps"]
    return {
        "cwnd_packets": float(sum(s["cwnd_packets"] for s in subflows)),
        "srtt_ms": 0.0 if latest is None else float(latest["srtt_ms"]),
        "in_flight_packets": float(sum(s["in_flight_packets"] for s in subflows)),
        "pacing_mbps": 0.0 if latest is None else pacing,
        "delivered_bytes": float(sums["acked_bytes"]),
        "retransmitted_packets": float(sums["retransmitted_packets"]),
    }


def _last(by_tick: dict[int, dict[str, dict[str, int]]]) -> dict[str, dict[str, int]]:
    return by_tick[max(by_tick)] if by_tick else {}


@dataclass(frozen=True)
class Series:
    """What the relay says of a link at each sample time."""

    times_s: Values
    columns: dict[str, Values]

    def at(self, time_s: float) -> dict[str, float]:
        """Return each column at the first sample from this time on, or at the last."""
        place = int(np.searchsorted(self.times_s, time_s - 1e-9))
        place = min(place, len(self.times_s) - 1)
        return {name: float(values[place]) for name, values in self.columns.items()}


def _series(samples: Seen) -> dict[str, Series]:
    """Return the relay's samples of each link."""
    keys = ("queue_bytes", "delivered_bytes")
    frame = pl.DataFrame({key: samples[key] for key in ("time_s", "link", *keys)})
    return {
        str(name): Series(part["time_s"].to_numpy(), {key: part[key].to_numpy() for key in keys})
        for (name,), part in frame.group_by("link", maintain_order=True)
    }
