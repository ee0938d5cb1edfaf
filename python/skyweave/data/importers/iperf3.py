"""iperf3's text and JSON: the rate of each interval, of all streams together.

The direction is that of the client, which is the device: it downloads in reverse mode (``-R``) and
uploads otherwise, unless the name of the file says another one. A client's text has a clock with
``-V`` alone. Intervals that iperf3 omits (``-O``) are left out.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import numpy as np

from skyweave.data.importers.base import Text, read_text
from skyweave.data.sense.columns import direction_of
from skyweave.data.sense.words import words_of
from skyweave.model.drive import Drive, PathTrace, Series
from skyweave.model.parsing import parse_json

INTERVAL = re.compile(
    r"\[\s*(?P<id>\d+|SUM)\](?:\[\w+-\w+\])?\s+(?P<start>[\d.]+)\s*-\s*(?P<end>[\d.]+)\s+sec\s+"
    r"[\d.]+ \w?Bytes\s+(?P<rate>[\d.]+) (?P<unit>[KMG]?)bits/sec(?P<rest>.*)"
)
SCALE = {"": 1e-6, "K": 1e-3, "M": 1.0, "G": 1e3}
CLOCK = re.compile(r"\s*Time: (.+)")
LAST_YEAR = 2261
_JSON_REMEDY = "write it with 'iperf3 --json'"


def sniff(_path: Path, head: str) -> bool:
    """Text with an interval, or JSON that begins as iperf3's."""
    if head.lstrip().startswith("{"):
        return '"connected"' in head or '"intervals"' in head
    rows = head.splitlines()
    return any(INTERVAL.match(row) for row in rows) or "iperf" in (rows[0] if rows else "")


def load(path: Path) -> list[Drive]:
    """One drive with one path, called as the file; ``start`` where the log says it."""
    text = read_text(path)
    is_json = text.body.lstrip().startswith("{")
    rows, start, is_reverse, protocol = _json(text) if is_json else _text(text)
    if not rows:
        raise text.bad(1, "no interval of iperf3 in this log", "the test failed: use another")
    stem = path.name.removesuffix(".gz").rpartition(".")[0] or path.name
    named = direction_of(words_of(stem))
    is_up = not is_reverse if named is None else named
    times_s, mbps = np.array(sorted(rows.items())).T
    series = Series(times_s - times_s[0], mbps)
    said = f"iperf3, {protocol or 'protocol not said'}, {'uplink' if is_up else 'downlink'}"
    if named is None:
        said += " (of a client: reverse mode downloads)"
    trace = PathTrace(uplink_mbps=series) if is_up else PathTrace(downlink_mbps=series)
    return [Drive(stem, path.name, {stem: trace}, start, notes=(said,))]


Found = tuple[dict[float, float], datetime | None, bool, str]
"""Mbit/s by the second at which an interval begins, the UTC of second 0, reverse, protocol."""


def _text(text: Text) -> Found:
    streams: dict[float, float] = {}
    sums: dict[float, float] = {}
    start: datetime | None = None
    is_reverse, protocol, longest = False, "", 0.0
    for line, row in text.lines():
        if match := INTERVAL.match(row):
            begin, end = float(match["start"]), float(match["end"])
            longest = longest or end - begin
            whole = begin == 0 and end - begin > 1.5 * longest
            if whole or "omitted" in row or match["rest"].rstrip().endswith(("sender", "receiver")):
                continue
            rate = float(match["rate"]) * SCALE[match["unit"]]
            found = sums if match["id"] == "SUM" else streams
            found[begin] = rate + (found.get(begin, 0.0) if found is streams else 0.0)
        elif start is None and (stamp := CLOCK.match(row)):
            start = _stamp(text, line, stamp[1])
        elif row.startswith("Reverse mode"):
            is_reverse = True
        elif "protocol:" in row:
            protocol = "UDP" if "UDP" in row else "TCP"
    return sums or streams, start, is_reverse, protocol


def _stamp(text: Text, line: int, stamp: str) -> datetime:
    try:
        found = parsedate_to_datetime(stamp)
    except ValueError:
        raise text.bad(line, f"'{stamp}' is not a time", "restore the original log") from None
    if not 1970 <= found.year <= LAST_YEAR:
        raise text.bad(line, f"'{stamp}' is no time of a log", "restore the original log")
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _json(text: Text) -> Found:
    facts: dict[str, Any] = parse_json(text, _JSON_REMEDY)
    try:
        test = facts["start"].get("test_start", {})
        began = facts["start"].get("timestamp", {}).get("timesecs")
        parts = [one["sum"] for one in facts["intervals"]]
        rows = {
            float(one["start"]): float(one["bits_per_second"]) / 1e6
            for one in parts
            if not one.get("omitted")
        }
        start = None if began is None else datetime.fromtimestamp(float(began), UTC)
        if start is not None and start.year > LAST_YEAR:
            raise ValueError
        return rows, start, bool(test.get("reverse")), str(test.get("protocol", ""))
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, OSError):
        raise text.bad(1, "this JSON has no intervals of iperf3", _JSON_REMEDY) from None
