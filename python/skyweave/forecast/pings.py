"""Ping logs with a clock: ``epoch seq ms`` rows, ``ping -D``, and ping behind dates in brackets.

All of them stamp an answer when it arrives: in the MMSys'24 logs the distance of two stamps follows
the later round trip (correlation 0.99 and more), not the earlier one. Probes are therefore placed
one round trip before their stamp. Numbers missing in the sequence, and negative round trips (-1),
are lost probes: sent as soon after the answer before as usual, however long was waited for them.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from statistics import median

from skyweave.data.importers.base import Text
from skyweave.forecast.measurement import Measurement, measurement
from skyweave.model import limits

ROW = re.compile(r"(?P<stamp>\d{9,}(?:\.\d+)?)\s+(?P<seq>\d+)\s+(?P<rtt>-?\d+(?:\.\d+)?)\s*$")
ECHO = re.compile(r"\[(?P<stamp>[^\]]+)\].*icmp_seq=(?P<seq>\d+) .*time=(?P<rtt>\d+(?:\.\d+)?) ms")
LOOKED_AT = 20
"""Lines at the beginning in which the first answer is expected."""
SEQUENCE = 1 << 16
"""ICMP sequence numbers have 16 bits (RFC 792) and begin again at 0."""

Answer = tuple[float, int, float]
"""Second at which a probe was sent, its sequence number, its round trip in ms."""


def sniff(head: str) -> bool:
    """An answer among the first lines."""
    return any(ROW.match(row) or ECHO.match(row) for row in head.splitlines()[:LOOKED_AT])


def read(text: Text) -> Measurement:
    """The round trips in a log; lines that are no answer are passed over.

    Dates without a zone are taken as UTC. A sequence that begins again is another run of ping.
    Raises :class:`DataError` for a stamp that is no time and for fewer than two answers.
    """
    answers = list(_answers(text))
    times, values = [time for time, _, _ in answers], [rtt for _, _, rtt in answers]
    lost = [time for run in _runs(answers) for time in _lost(run)]
    values += [float("inf")] * len(lost)
    return measurement(Path(text.name).name, "rtt", times + lost, values)


def _answers(text: Text) -> list[Answer]:
    found = []
    for line, row in text.lines():
        if match := ROW.match(row) or ECHO.match(row):
            rtt = float(match["rtt"])
            if rtt < 0:
                continue
            found.append((_stamp(text, line, match["stamp"]) - rtt / 1e3, int(match["seq"]), rtt))
    return found


def _stamp(text: Text, line: int, stamp: str) -> float:
    try:
        return float(stamp) if stamp[4:5] != "-" else unix_s(stamp)
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


def _runs(answers: list[Answer]) -> list[list[Answer]]:
    """Answers by the probe's time, numbers counted on over 16 bits, cut where ping began anew."""
    runs: list[list[Answer]] = []
    turns = 0
    for time, seq, rtt in sorted(answers):
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
    lost: list[float] = []
    limits.checked(run[-1][1] - run[0][1] + 1, f"sequence numbers {run[0][1]} to {run[-1][1]}")
    for (before, first, _), (after, second, _) in pairwise(run):
        step = min((after - before) / max(second - first, 1), usual)
        lost += [before + step * k for k in range(1, second - first)]
    return lost
