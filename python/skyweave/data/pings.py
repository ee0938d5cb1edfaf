"""Ping logs: ``epoch seq ms`` rows, ``ping -D``, ping behind dates in brackets, and plain ping.

All that have a clock stamp an answer when it arrives: in the MMSys'24 logs the distance of two
stamps follows the later round trip (correlation 0.99 and more), not the earlier one. Probes are
therefore placed one round trip before their stamp. Numbers missing in the sequence, and negative
round trips (-1), are lost probes: sent as soon after the answer before as usual, however long was
waited for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import pairwise
from statistics import median

from skyweave.model import limits
from skyweave.model.textfile import Text

ROW = re.compile(r"(?P<stamp>\d{9,}(?:\.\d+)?)\s+(?P<seq>\d+)\s+(?P<rtt>-?\d+(?:\.\d+)?)\s*$")
ECHO = re.compile(r"\[(?P<stamp>[^\]]+)\].*icmp_seq=(?P<seq>\d+) .*time=(?P<rtt>\d+(?:\.\d+)?) ms")
PLAIN = re.compile(
    r"\d+ bytes from .*(?:icmp_)?seq=(?P<seq>\d+) .*time[=<](?P<rtt>\d+(?:\.\d+)?) ?ms"
)
LOOKED_AT = 20
"""Lines at the beginning in which the first answer is expected."""
SEQUENCE = 1 << 16
"""ICMP sequence numbers have 16 bits (RFC 792) and begin again at 0."""
MOST_TRIP_MS = 3.6e6
LAST_UNIX_S = 9.2e9
"""In the year 2261."""
PLAIN_STEP_S = 1.0
"""How far apart ping's probes are if nobody says otherwise."""

Answer = tuple[float, int, float]
"""Second at which a probe was sent, its sequence number, its round trip in ms."""


def has_clock(head: str) -> bool:
    """Whether an answer with a time is among the first lines."""
    return any(ROW.match(row) or ECHO.match(row) for row in head.splitlines()[:LOOKED_AT])


def is_plain(head: str) -> bool:
    """Whether an answer without a time is."""
    return any(PLAIN.match(row) for row in head.splitlines()[:LOOKED_AT])


def answers(text: Text) -> list[Answer]:
    """The answers of a log with a clock; lines that are none are passed over.

    Dates without a zone are taken as UTC. Raises :class:`DataError` for a stamp that is no time.
    """
    found = []
    for line, row in text.lines():
        if match := ROW.match(row) or ECHO.match(row):
            rtt = float(match["rtt"])
            if rtt < 0:
                continue
            if rtt > MOST_TRIP_MS:
                raise text.bad(line, "this round trip lasts more than an hour", "remove the row")
            found.append((_stamp(text, line, match["stamp"]) - rtt / 1e3, int(match["seq"]), rtt))
    return found


def plain_answers(text: Text) -> list[Answer]:
    """The answers of plain ping, :data:`PLAIN_STEP_S` apart by their numbers."""
    matches = (match for _, row in text.lines() if (match := PLAIN.match(row)))
    found = [(int(m["seq"]) * PLAIN_STEP_S, int(m["seq"]), float(m["rtt"])) for m in matches]
    if any(number > SEQUENCE or rtt > MOST_TRIP_MS for _, number, rtt in found):
        raise text.bad(1, "a number or a round trip of this ping is out of bounds", "correct it")
    return found


def lost(found: Iterable[Answer]) -> list[float]:
    """When probes were sent that nobody answered."""
    return [time for run in _runs(found) for time in _lost(run)]


def _stamp(text: Text, line: int, stamp: str) -> float:
    try:
        found = float(stamp) if stamp[4:5] != "-" else unix_s(stamp)
        if not abs(found) < LAST_UNIX_S:
            raise ValueError
        return found
    except ValueError:
        what = f"'{stamp}' is neither seconds since 1970 nor a date and time"
        raise text.bad(line, what, "log with 'ping -D'") from None


def unix_s(stamp: str) -> float:
    """An ISO date and time as Unix time, UTC if it names no zone; ``ValueError`` if it is none.

    >>> unix_s("2023-09-12T00:05:35+00:00"), unix_s("1970-01-01 00:00:12.5")
    (1694477135.0, 12.5)
    """
    when = datetime.fromisoformat(stamp.strip())
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def _runs(found: Iterable[Answer]) -> list[list[Answer]]:
    """Answers by the probe's time, numbers counted on over 16 bits, cut where ping began anew."""
    runs: list[list[Answer]] = []
    turns = 0
    for time, seq, rtt in sorted(found):
        number = seq + turns * SEQUENCE
        if runs and number < runs[-1][-1][1] - SEQUENCE // 2:
            turns, number = turns + 1, number + SEQUENCE
        if not runs or number < runs[-1][-1][1]:
            turns, number = 0, seq
            runs.append([])
        runs[-1].append((time, number, rtt))
    return runs


def _lost(run: list[Answer]) -> list[float]:
    """When the unanswered probes of a run were sent: as far apart as usual, or closer."""
    steps = [b[0] - a[0] for a, b in pairwise(run) if b[1] == a[1] + 1]
    usual = median(steps) if steps else float("inf")
    sent: list[float] = []
    limits.checked(run[-1][1] - run[0][1] + 1, f"sequence numbers {run[0][1]} to {run[-1][1]}")
    for (before, first, _), (after, second, _) in pairwise(run):
        step = min((after - before) / max(second - first, 1), usual)
        sent += [before + step * k for k in range(1, second - first)]
    return sent
