"""NUWiNS 2024 drive logs: nuttcp downlink and uplink, then ping, of Starlink and T-Mobile.

Raw logs, as the authors publish them (``<operator>/<date>/<round>/<test>_*.out``) or renamed
(``<operator>_<date>_<test>_*.out``), and Starlink logs transcribed to CSV.
The three tests of a round ran one after the other (120 s down, 120 s up, 30 s ping); both paths ran
the same test at the same time. The drive lays the three side by side from second 0: use them as
three samples of the same stretch, not as the same seconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
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
RAW_NAME = re.compile(r"(?P<test>tcp_downlink|tcp_uplink|icmp_ping)_\d+\.out$")
DATE, CLOCK = re.compile(r"\d{8}$"), re.compile(r"\d{9}$")
_DAY, _TIME = "[0-9]" * 8, "[0-9]" * 9
LAYOUTS = ("*", f"{_TIME}/*.out", f"{_DAY}/{_TIME}/*.out", f"*/{_DAY}/{_TIME}/*.out")
"""Where logs lie in the folder of a round, of a day, of an operator, of all operators."""
ROUND_APART_S = 60
"""Rounds that begin closer together are the same one, of another operator."""
QUANTITY = {"tcp_downlink": "downlink_mbps", "tcp_uplink": "uplink_mbps", "icmp_ping": "rtt_ms"}
INTERVAL = re.compile(r"^\[(\S+)\].*MB /\s+(?P<step>[\d.]+) sec =\s+(?P<rate>-?[\d.]+) Mbps")
ECHO = re.compile(r"^\[(\S+)\].*icmp_seq=(?P<seq>\d+) .*time=(?P<rtt>-?[\d.]+) ms")
PING_STEP_S = 0.2


def sniff(path: Path, head: str) -> bool:
    """nuttcp or ping logs with bracketed times, their transcriptions, or a folder of them."""
    if path.is_dir():
        return any(_logs_in(path))
    return bool(NAME.match(path.name) or _raw(path)) or "nuttcp" in head


def load(path: Path) -> list[Drive]:
    """One drive a round: paths ``starlink`` and ``tmobile``, downlink, uplink (0.5 s), RTT (0.2 s).

    For a folder, all its logs; for one file, that log alone. Of several logs of the same quantity
    the longest counts, and the notes name the others. ``start`` is the beginning of the first
    downlink interval that carries a clock (the transcribed CSVs do not). Pings without an answer
    are NaN. Raises :class:`DataError` for logs without a single interval or answer.
    """
    files = sorted(set(_logs_in(path))) if path.is_dir() else [path]
    logs = sorted((_log(found) for found in files), key=lambda log: (log.date, log.round_s))
    rounds: list[list[_Log]] = []
    for log in logs:
        first = rounds[-1][0] if rounds else None
        if first and first.date == log.date and log.round_s - first.round_s <= ROUND_APART_S:
            rounds[-1].append(log)
        else:
            rounds.append([log])
    return [_round(one, len(rounds) > 1) for one in rounds]


@dataclass(frozen=True)
class _Log:
    """One log: whose, which test, when its round began in seconds of the day, what is in it."""

    path: str
    test: str
    date: str
    round_s: int
    series: Series
    start: datetime | None
    file: str


def _logs_in(folder: Path) -> Iterator[Path]:
    """The logs in a folder, and in those below it as the authors publish them."""
    for layout in LAYOUTS:
        for found in folder.glob(layout):
            if found.is_file() and (_raw(found) or NAME.match(found.name)):
                yield found


def _raw(path: Path) -> tuple[str, str, str, str] | None:
    """Operator, date, round and test of ``<operator>/<date>/<HHMMSSmmm>/<test>_<n>.out``."""
    match = RAW_NAME.match(path.name)
    parts = path.absolute().parts[-4:-1]
    if match is None or len(parts) < 3 or not (DATE.match(parts[1]) and CLOCK.match(parts[2])):
        return None
    return parts[0].lower(), parts[1], parts[2], match["test"]


def _log(found: Path) -> _Log:
    if raw := _raw(found):
        path, date, clock, test = raw
        round_s = _second_of_day(clock)
    elif match := NAME.match(found.name):
        path, date, test, round_s = match["path"], match["date"], match["test"], 0
    else:
        raise DataError(
            f"{found}: its name does not say path and test; rename it like "
            "tmobile_20241101_tcp_downlink_150710240.out"
        )
    series, start = _read(found, test)
    return _Log(path, test, date, round_s, series, start, found.name)


def _second_of_day(clock: str) -> int:
    """The second of the day of HHMMSSmmm."""
    return int(clock[:2]) * 3600 + int(clock[2:4]) * 60 + int(clock[4:6])


def _round(logs: list[_Log], several: bool) -> Drive:
    """The drive of one round; the longest of several logs of one quantity counts."""
    date, began = logs[0].date, logs[0].round_s
    best: dict[tuple[str, str], _Log] = {}
    left: list[str] = []
    for log in sorted(logs, key=lambda one: -one.series.duration_s):
        if best.setdefault((log.path, log.test), log) is not log:
            left.append(f"{log.path}/{log.file} ({log.series.duration_s:.0f} s)")
    parts: dict[str, dict[str, Series]] = {}
    for (path, test), log in best.items():
        parts.setdefault(path, {})[QUANTITY[test]] = log.series
    starts = {log.test: log.start for log in reversed(logs) if log.start is not None}
    name = f"nuwins-{date[:4]}-{date[4:6]}-{date[6:]}"
    if several:
        name += f"-{began // 3600:02d}{began // 60 % 60:02d}{began % 60:02d}"
    notes = ["TCP: what one connection reached, not what the network had."]
    if left:
        notes.append(f"Shorter logs of the same quantity were left out: {', '.join(left[:5])}.")
    return Drive(
        name=name,
        origin="NUWiNS 2024 LA-Boston drive, one round: downlink, uplink, ping in sequence",
        paths={path: PathTrace.of(series) for path, series in sorted(parts.items())},
        start=next((starts[test] for test in QUANTITY if test in starts), None),
        notes=tuple(notes),
    )


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
