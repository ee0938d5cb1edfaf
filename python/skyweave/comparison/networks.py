"""What a network is called, what kind it is, and its round trip where nobody measured it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from skyweave.data.sense.words import words_of

Kind = Literal["satellite", "cellular", "wired", "other"]

OTHER: Final[Kind] = "other"
_KNOWN: Final[dict[str, tuple[str, str, Kind]]] = {
    "starlink": ("SL", "Starlink", "satellite"),
    "sl": ("SL", "Starlink", "satellite"),
    "oneweb": ("OW", "OneWeb", "satellite"),
    "kuiper": ("KU", "Kuiper", "satellite"),
    "verizon": ("VZ", "Verizon", "cellular"),
    "vz": ("VZ", "Verizon", "cellular"),
    "vzw": ("VZ", "Verizon", "cellular"),
    "att": ("AT", "AT&T", "cellular"),
    "at&t": ("AT", "AT&T", "cellular"),
    "tmobile": ("TM", "T-Mobile", "cellular"),
}
"""Key, label and kind by the word that names the network."""
_KIND_WORDS: Final[dict[Kind, set[str]]] = {
    "satellite": {"satellite", "sat", "leo", "geo", "dish", "viasat", "hughesnet"},
    "cellular": {"cellular", "cell", "mobile", "lte", "5g", "4g", "3g", "nr", "modem", "wwan",
                 "sim", "telekom", "vodafone", "o2", "orange", "telia", "telenor",
                 "rogers", "telus"},
    "wired": {"wired", "fibre", "fiber", "dsl", "cable", "ethernet", "eth"},
}  # fmt: skip
_BESIDE = {"log", "logs", "trace", "data", "drive", "test", "csv", "down", "up",
           "downlink", "uplink", "download", "upload", "dl", "ul", "udp", "tcp", "iperf", "iperf3",
           "mbps", "throughput", "ping", "rtt", "rates", "speed", "speedtest", "utc",
           "run"}  # fmt: skip
"""Words of file names that do not name the network."""

ASSUMED_RTT: Final[dict[Kind, tuple[float, str]]] = {
    "satellite": (44.0, "Starlink on the Road, median over sessions of the best ping"),
    "cellular": (40.0, "PAM 2025, three carriers while driving, best of 200 pings: 37 to 42 ms"),
    "wired": (20.0, "assumed"),
    "other": (50.0, "assumed"),
}
"""Round trips in ms and where they are from, for networks that were given none."""


@dataclass(frozen=True)
class Network:
    """A network of a comparison: its key in the study, its label for people, its kind."""

    key: str
    label: str
    kind: Kind
    name: str = ""
    """What the file or the column calls it."""


def network_of(name: str) -> Network:
    """The network that a file or a column is called after.

    >>> network_of("starlink_2024-06-01_dl").label, network_of("lte-modem").kind
    ('Starlink', 'cellular')
    """
    words = words_of(name.replace("t-mobile", "tmobile").replace("T-Mobile", "tmobile"))
    for word in words:
        if word in _KNOWN:
            return Network(*_KNOWN[word], name)
    own = [word for word in words if word not in _BESIDE and not word.isdigit()]
    kind = next((kind for kind, known in _KIND_WORDS.items() if known & set(words)), OTHER)
    label = "-".join(own) or name.strip() or "network"
    return Network(_key(label), label, kind, name)


def _key(label: str) -> str:
    """A name that study files take for a path."""
    key = re.sub(r"[^A-Za-z0-9_-]+", "-", label).strip("-_")[:40]
    return key or "network"


def distinct(networks: Iterable[Network]) -> list[Network]:
    """The networks with keys that differ; of one operator twice, with the names of their logs."""
    seen: dict[str, int] = {}
    found = []
    networks = list(networks)
    keys = [network.key for network in networks]
    for network in networks:
        number = seen[network.key] = seen.get(network.key, 0) + 1
        key = network.key if number == 1 else f"{network.key}-{number}"
        label = network.name if keys.count(network.key) > 1 else network.label
        found.append(Network(key, label, network.kind, network.name))
    return found
