"""What a column holds, by its name: a rate with its unit and direction, round trips, loss."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import Literal

from skyweave.data.sense.words import parted, words_of

Quantity = Literal["downlink_mbps", "uplink_mbps", "rtt_ms", "loss_ratio"]
Measure = Literal["rate", "volume", "rtt", "loss"]
"""``rate``: per second; ``volume``: bits or bytes in each row."""

_PER_S = re.compile(
    r"(?<![A-Za-z])([kKmMgG]?)(bits?|Bits?|BITS?|[bB]ytes?|BYTES?|b|B)"
    r"(?:ps|PS|\s?/\s?s(?:ec)?|\sper\ss(?:ec(?:ond)?)?)(?![A-Za-z])"
)
"""A unit of a rate: Mbps, kbit/s, MB/s, bytes_per_second; a large B before ps is a byte."""
_AMOUNT = re.compile(r"(?<![a-z])(kilo|mega|giga|[kmg])?(bits?|bytes?|octets?)(?![a-z])")
"""The same without "per second"."""
_SCALE = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}
_DOWN = {"down", "downlink", "download", "dl", "rx", "recv", "received", "receive", "downstream"}
_UP = {"up", "uplink", "upload", "ul", "tx", "sent", "transmitted", "upstream"}
_RATES = {
    "throughput",
    "bandwidth",
    "goodput",
    "rate",
    "capacity",
    "bw",
    "tput",
    "thrpt",
    "bitrate",
}
_TRIPS = {"rtt", "ping", "latency"}
_LOSSES = {"loss", "lost"}
_OTHERS = {"min", "max", "std", "stddev", "mdev", "sd", "var", "p5", "p25", "p50", "p75", "p95",
           "median", "target", "limit", "offered", "retransmits", "retrans", "cwnd", "rsrp", "rsrq",
           "sinr", "snr", "gps", "jitter", "count", "packets", "seq"}  # fmt: skip
"""Words of columns that are beside the point, or of statistics of one that is not."""
_FILLERS = {"avg", "average", "mean", "measured", "value", "total", "sum", "interval", "tcp", "udp",
            "s", "ms", "us", "sec", "per", "packet", "in", "the", "speed", "ratio", "percent",
            "pct", "link", "data", "network", "ip", "iperf", "iperf3", "test"}  # fmt: skip
_TRIP_UNITS = {"ms": 1.0, "us": 1e-3, "s": 1e3, "sec": 1e3, "seconds": 1e3}


@dataclass(frozen=True)
class Meaning:
    """What one column holds.

    ``factor`` makes Mbit/s, ms or a share of the numbers; ``None``: the name says no unit.
    ``network`` is what the name holds beyond that; empty: nothing.
    """

    measure: Measure
    is_up: bool | None
    factor: float | None
    unit: str
    network: str

    @property
    def quantity(self) -> Quantity:
        """The field of a path; a rate that names no direction is a downlink."""
        if self.measure == "rtt":
            return "rtt_ms"
        if self.measure == "loss":
            return "loss_ratio"
        return "uplink_mbps" if self.is_up else "downlink_mbps"


def meaning(column: str) -> Meaning | None:
    """What a column is called to hold; ``None``: nothing that a path has.

    >>> meaning("vz_dl_kbps").network, meaning("vz_dl_kbps").factor, meaning("speed_kmh")
    ('vz', 0.001, None)
    """
    name = column[:200]
    unit = _PER_S.search(parted(name).replace("_", " "))
    words = words_of(name)
    known = set(words)
    if known & _OTHERS:
        return None
    if known & _LOSSES:
        share = known & {"percent", "pct"} or "%" in name
        said = (0.01, "percent") if share else (1.0, "a share")
        return Meaning("loss", None, *said, _rest(words, _LOSSES))
    if known & _TRIPS:
        found = next((word for word in words if word in _TRIP_UNITS), None)
        return Meaning("rtt", None, _TRIP_UNITS.get(found or ""), found or "", _rest(words, _TRIPS))
    is_up = direction_of(words)
    if unit is not None:
        factor = _SCALE[unit[1].lower()] * _bits(unit[1] + unit[2], unit[0]) / 1e6
        left = [word for word in words if word not in words_of(unit[0])]
        return Meaning("rate", is_up, factor, unit[0].strip(), _rest(left))
    amount = _AMOUNT.search(" ".join(words))
    if amount is not None:
        scale = _SCALE[(amount[1] or "")[:1]]
        bits = 1.0 if amount[2].startswith("bit") else 8.0
        left = [word for word in words if word not in amount[0].split()]
        # Mbit is how many write Mbit/s; bytes are counted.
        measure: Measure = "rate" if amount[2].startswith("bit") and amount[1] else "volume"
        return Meaning(measure, is_up, scale * bits / 1e6, amount[0].strip(), _rest(left))
    if known & _RATES or (is_up is not None and known & {"speed"}) or _only_direction(words):
        return Meaning("rate", is_up, None, "", _rest(words))
    return None


def direction_of(words: Iterable[str]) -> bool | None:
    """Whether words say uplink (true) or downlink (false); ``None``: neither."""
    known = set(words)
    return True if known & _UP else False if known & _DOWN else None


def _bits(unit: str, whole: str) -> float:
    """How many bits the unit of a rate counts: a byte is written out, or as a large B."""
    if "byte" in unit.lower():
        return 8.0
    if "bit" in unit.lower() or unit[-1] == "b":
        return 1.0
    return 1.0 if whole.isupper() else 8.0  # MBPS in a header of capitals is Mbit/s


def _only_direction(words: list[str]) -> bool:
    return any(word in _DOWN - {"rx"} or word in _UP - {"tx"} for word in words)


def _rest(words: list[str], more: Set[str] = frozenset()) -> str:
    """The words that say nothing else: the name of a network."""
    gone = _DOWN | _UP | _RATES | _FILLERS | more
    return "-".join(word for word in words if word not in gone)
