"""NUWiNS 2024 drive logs: nuttcp downlink and uplink, then ping, of Starlink and T-Mobile.

Raw ``<path>_<date>_{tcp_downlink,tcp_uplink,icmp_ping}_*.out`` logs, and Starlink logs transcribed
to CSV. The three tests of a round ran one after the other (120 s down, 120 s up, 30 s ping); both
paths ran the same test at the same time. The drive lays the three side by side from second 0: use
them as three samples of the same stretch, not as the same seconds.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from skyweave.data.importers.base import Text, parse_table, read_text, require_increasing
from skyweave.errors import DataError
from skyweave.model import limits
from skyweave.model.drive import Drive, PathTrace, Series

NAME = re.compile(
    r"(?P<path>[a-z]+)_(?P<date>\d{8})_(?:\d+_)?(?P<test>tcp_downlink|tcp_uplink|icmp_ping)"
)
QUANTITY = {"tcp_downlink": "downlink_mbps", "tcp_uplink": "uplink_mbps", "icmp_ping": "rtt_ms"}
INTERVAL = re.compile(r"^\[(\S+)\].*MB /\s+(?P<step>[\d.]+) sec =\s+(?P<rate>-?[\d.]+) Mbps")
ECHO = re.compile(r"^\[(\S+)\].*icmp_seq=(?P<seq>\d+) .*time=(?P<rtt>-?[\d.]+) ms")
PING_STEP_S = 0.2


def sniff(path: Path, head: str) -> bool:
    """nuttcp or ping logs with bracketed times, their transcriptions, or a folder of them."""
    if path.is_dir():
        return any(NAME.match(found.name) for found in path.glob("*.out"))
    return bool(NAME.match(path.name)) or "nuttcp" in head


def load(path: Path) -> list[Drive]:
    """One drive: paths ``starlink`` and ``tmobile`` with downlink, uplink (0.5 s) and RTT (0.2 s).

    For a folder, all its logs; for one file, that log alone. ``start`` is the beginning of the
    first downlink interval that carries a clock (the transcribed CSVs do not). Pings without an
    answer are NaN. Raises :class:`DataError` for logs without a single interval or answer.
    """
    files = sorted(f for f in path.iterdir() if NAME.match(f.name)) if path.is_dir() else [path]
    parts: dict[str, dict[str, Series]] = {}
    starts: dict[str, datetime] = {}
    for found in files:
        match = NAME.match(found.name)
        if match is None:
            raise DataError(
                f"{found}: its name does not say path and test; rename it like "
                "tmobile_20241101_tcp_downlink_150710240.out"
            )
        series, start = _read(found, match["test"])
        parts.setdefault(match["path"], {})[QUANTITY[match["test"]]] = series
        if start is not None:
            starts.setdefault(match["test"], start)
    clock = next((starts[test] for test in QUANTITY if test in starts), None)
    match = NAME.match(files[0].name)
    assert match is not None, "checked in the loop"
    date = f"{match['date'][:4]}-{match['date'][4:6]}-{match['date'][6:]}"
    return [
        Drive(
            name=f"nuwins-{date}",
            origin="NUWiNS 2024 LA-Boston drive, one round: downlink, uplink, ping in sequence",
            paths={name: PathTrace.of(series) for name, series in sorted(parts.items())},
            start=clock,
        )
    ]


def _read(path: Path, test: str) -> tuple[Series, datetime | None]:
    text = read_text(path)
    if path.name.endswith(".csv"):
        return (_ping_csv(text) if test == "icmp_ping" else _rate_csv(text)), None
    return _ping_log(text) if test == "icmp_ping" else _rate_log(text)


def _rate_log(text: Text) -> tuple[Series, datetime]:
    """The interval lines of nuttcp; each is printed at its end and is ``step`` seconds long."""
    rates: list[float] = []
    start: datetime | None = None
    step = 0.0
    for line, row in text.lines():
        match = INTERVAL.match(row)
        if match is None:
            continue
        if float(match["rate"]) < 0:
            raise text.bad(line, "the rate is below 0", "correct or remove the row")
        step = float(match["step"])
        start = start or _stamp(text, line, match[1]) - timedelta(seconds=step)
        rates.append(float(match["rate"]))
    if start is None:
        raise text.bad(1, "no nuttcp interval line in this log", "the test failed: use another")
    return Series(np.arange(len(rates), dtype=float) * step, np.array(rates)), start


def _ping_log(text: Text) -> tuple[Series, datetime]:
    found: dict[int, float] = {}
    start: datetime | None = None
    for line, row in text.lines():
        match = ECHO.match(row)
        if match is None:
            continue
        if float(match["rtt"]) < 0:
            raise text.bad(line, "the round trip is below 0", "correct or remove the row")
        start = start or _stamp(text, line, match[1])
        found.setdefault(int(match["seq"]), float(match["rtt"]))
    if start is None:
        raise text.bad(1, "no ping answer in this log", "the test failed: use another")
    return _echoes(text, found), start


def _echoes(text: Text, found: dict[int, float]) -> Series:
    """RTT by sequence number, NaN for those that never came back."""
    first, last = min(found), max(found)
    limits.checked(last - first + 1, f"{text.name}: sequence numbers {first} to {last}")
    values = [found.get(seq, np.nan) for seq in range(first, last + 1)]
    return Series(np.arange(len(values), dtype=float) * PING_STEP_S, np.array(values))


def _stamp(text: Text, line: int, stamp: str) -> datetime:
    try:
        return datetime.strptime(stamp, "%Y-%m-%dT%H:%M:%S.%f%z")
    except ValueError:
        raise text.bad(line, f"'{stamp}' is not a time", "restore the original log") from None


def _rate_csv(text: Text) -> Series:
    table = parse_table(text, ("t_s", "mbps"))
    times_s = table.numbers("t_s", minimum=0.0)
    require_increasing(table, "t_s", times_s)
    return Series(times_s - times_s[0], table.numbers("mbps", minimum=0.0))


def _ping_csv(text: Text) -> Series:
    table = parse_table(text, ("icmp_seq", "rtt_ms"))
    order = table.numbers("icmp_seq", minimum=0.0)
    require_increasing(table, "icmp_seq", order)
    rtts = table.numbers("rtt_ms", minimum=0.0)
    return _echoes(text, dict(zip(order.astype(int).tolist(), rtts.tolist(), strict=True)))
