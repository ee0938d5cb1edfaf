"""The study file of a comparison: what is run, so that it can be read, edited and run again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from skyweave.comparison.gather import Gathered
from skyweave.comparison.networks import ASSUMED_RTT, Network
from skyweave.data.sense.units import LEAST_TRIP_MS, MOST_TRIP_MS
from skyweave.errors import ConfigError, DataError
from skyweave.model.drive import Drive, Series
from skyweave.model.limits import WEEK_S
from skyweave.printing import visible

Transport = Literal["mptcp", "mpquic"]
DRIVES = "drives"
"""The folder beside the study file that holds its drives."""
BUDGET_PACKETS: Final = 25_000_000
"""What the runs may cost when nobody says how many pieces: about half a minute of two cores."""
PACKET_BITS = 12_000
COST: Final[dict[str, float]] = {"tcp": 1.0, "mptcp": 1.0, "mpquic": 3.3}
"""What a packet costs, that of TCP being 1: multipath QUIC encrypts in the simulator, too."""
LEAST_PIECES, MOST_PIECES = 3, 60
_OF_UPSTREAM = ("upstream", "backup")
"""Schedulers that Linux's own Multipath TCP has; the others are of multipath-tcp.org."""


@dataclass(frozen=True)
class Choices:
    """What a comparison runs.

    ``rtt_ms``: one for each network, which goes before what was measured; ``schedulers`` empty:
    Linux's own under Multipath TCP, weave under multipath QUIC. ``pieces`` 0: all there are,
    ``None``: as many as about :data:`BUDGET_PACKETS` let.
    """

    transports: tuple[Transport, ...] = ("mptcp", "mpquic")
    schedulers: tuple[str, ...] = ()
    congestion: tuple[str, ...] = ("cubic-linux", "bbr")
    directions: tuple[Literal["down", "up"], ...] = ()
    rtt_ms: tuple[float, ...] = ()
    piece_s: float = 30.0
    pieces: int | None = None
    air: bool = True
    """Whether the model of the air adds the jitter and the losses that rates do not have."""


def study_text(gathered: Gathered, choices: Choices) -> str:
    """The study file of a comparison; its drives lie in :data:`DRIVES` beside it."""
    names = " and ".join(network.label for network in gathered.networks)
    directions = choices.directions or _directions(gathered.drives)
    lines = [
        "# Written by 'skyweave compare'. Edit it, and run it again with",
        "#     skyweave run THIS_FILE --out ANOTHER_FOLDER",
        "# The language of this file: docs/studies.md.",
        "",
        "[study]",
        'name = "compare"',
        f"title = {_text(f'{names}, alone and bonded')}",
        f"about = {_text(_about(choices))}",
        "",
        "[report]",
        f"assumptions = {_list([*gathered.took, *gathered.notes, *_assumptions(choices)])}",
        "",
        "[[drives]]",
        'name = "measured"',
        'label = "Measured"',
        f'data = "{DRIVES}/*.csv" # beside this file',
        'format = "csv"',
        *_pieces(gathered.drives, choices, directions),
    ]
    for number, network in enumerate(gathered.networks):
        given = choices.rtt_ms[number] if choices.rtt_ms else None
        lines += ["", *_path(network, gathered.drives, given)]
    lines += ["", *_settings(choices, directions), *_comparisons(gathered, choices)]
    return "\n".join(lines) + "\n"


def _about(choices: Choices) -> str:
    with_ = ", ".join(choices.congestion)
    together = {
        "mptcp": "Multipath TCP, by default as upstream Linux has it (buffers tune themselves up "
        "to 4 MiB and 6 MiB, its own scheduler)",
        "mpquic": "Skyweave's multipath QUIC with its scheduler weave",
    }
    said = " and ".join(together[name] for name in choices.transports)
    return (
        f"Each network alone with TCP, then the networks together with {said}, under {with_}, over "
        "the same seconds of the same drives."
    )


def _assumptions(choices: Choices) -> list[str]:
    air = (
        "Satellite and cellular networks have the jitter (above the least round trip, unless that "
        "was measured second by second) and the losses of a model fitted to pings of public sets."
    )
    return [
        "The logs are taken for capacities. What one TCP connection reached is less than that.",
        "Queues are drop-tail and hold 1000 packets.",
        air if choices.air else "Nothing is lost on the air, and round trips do not vary.",
        "A direction that was not logged carries 1000 Mbit/s: it has the ACKs alone.",
    ]


def _directions(drives: Sequence[Drive]) -> tuple[Literal["down", "up"], ...]:
    """The directions that all networks were logged in."""
    paths = [path for drive in drives for path in drive.paths.values()]
    down = all(path.downlink_mbps is not None for path in paths)
    up = all(path.uplink_mbps is not None for path in paths)
    if not (down or up):
        raise DataError(
            "some networks were logged in one direction and some in the other; give logs of the "
            "same direction, or name columns with --column"
        )
    return (*(("down",) if down else ()), *(("up",) if up else ()))


def _pieces(drives: Sequence[Drive], choices: Choices, directions: Sequence[str]) -> list[str]:
    """The lines that cut drives, unless all of them are short."""
    piece_s = choices.piece_s
    if not 1 <= piece_s <= WEEK_S:
        raise ConfigError(f"--piece-s {piece_s:g}: must be from 1 s to a week")
    if max(drive.duration_s for drive in drives) <= 2 * piece_s:
        return []
    there = sum(int(drive.duration_s // piece_s) for drive in drives)
    wanted = choices.pieces
    if wanted is None:
        cost = _cost_per_s(drives, choices, directions) * piece_s
        wanted = int(np.clip(BUDGET_PACKETS // max(cost, 1.0), LEAST_PIECES, MOST_PIECES))
    lines = [f"segment_s = {piece_s:g}"]
    if 0 < wanted < there:
        lines.append(f"max_segments = {wanted} # of {there}, evenly spread; remove it to run all")
    return lines


def _cost_per_s(drives: Sequence[Drive], choices: Choices, directions: Sequence[str]) -> float:
    """About what all runs of one second of a drive cost, in packets of TCP."""
    total = 0.0
    for direction in directions:
        rates = [
            float(np.nan_to_num(np.nanmean(series.values)))
            for drive in drives
            for path in drive.paths.values()
            if (series := _of(path, direction)) is not None
        ]
        together = sum(rates) / len(drives)
        sets = max(len(drives[0].paths) - 1, 1)
        schedulers = max(len(choices.schedulers), 1)
        bonded = sum(COST[name] for name in choices.transports) * sets * schedulers
        total += together * 1e6 / PACKET_BITS * (1 + bonded) * len(choices.congestion)
    return total


def _of(path: object, direction: str) -> Series | None:
    found: Series | None = getattr(path, f"{direction}link_mbps")
    return found


def _path(network: Network, drives: Sequence[Drive], given: float | None) -> list[str]:
    measured = all(
        drive.paths[network.key].rtt_ms is not None
        for drive in drives
        if network.key in drive.paths
    )
    if given is not None and not LEAST_TRIP_MS <= given <= MOST_TRIP_MS:
        raise ConfigError(
            f"--rtt {given:g}: is no round trip to the Internet in ms, for {network.label}; "
            f"give {LEAST_TRIP_MS:g} to {MOST_TRIP_MS:g}"
        )
    assumed_ms, source = ASSUMED_RTT[network.kind]
    rtt, source = (
        (f"{given:g}", "given") if given is not None
        else ('"trace"', "measured, with the drive") if measured
        else (f"{assumed_ms:g}", f"not measured: {source}")
    )  # fmt: skip
    return [
        f"[paths.{network.key}]",
        f"label = {_text(network.label)}",
        f'kind = "{network.kind}"',
        f"rtt_ms = {rtt} # {source}",
        f"source = {_text(f'round trip: {source}')}",
    ]


def _settings(choices: Choices, directions: Sequence[str]) -> list[str]:
    return [
        "[settings]",
        f"direction = {_list(directions)}",
        f"congestion = {_list(choices.congestion)}",
        "autotune = true # buffers grow up to what Linux allows by default (tcp_wmem, tcp_rmem)",
        "send_buffer_mb = 4.194304",
        "receive_buffer_mb = 6.291456",
        "allow_dead_paths = true # a network that is gone for a whole piece counts as 0 Mbit/s",
        f'air = "{"both" if choices.air else "none"}" # jitter and losses that logs of rates lack',
    ]


def _comparisons(gathered: Gathered, choices: Choices) -> list[str]:
    together = ["pairs"] if len(gathered.networks) < 3 else ["pairs", "all"]
    lines = ["", "[[compare]]", 'paths = ["singles"]']
    if "mptcp" in choices.transports:
        wanted = choices.schedulers or ("upstream",)
        for mode in ("upstream", "v0.96"):
            own = [name for name in wanted if (name in _OF_UPSTREAM) == (mode == "upstream")]
            if own:
                lines += ["", "[[compare]]", f"paths = {_list(together)}", 'transport = "mptcp"']
                lines += [f'mode = "{mode}"', f"scheduler = {_list(own)}"]
    if "mpquic" in choices.transports:
        own = [name for name in choices.schedulers if name != "upstream"] or ["weave"]
        lines += ["", "[[compare]]", f"paths = {_list(together)}", 'transport = "mpquic"']
        lines += [f"scheduler = {_list(own)}"]
    return lines


def _list(items: Sequence[str]) -> str:
    return f"[{', '.join(_text(item) for item in items)}]"


def _text(text: str) -> str:
    """A TOML string: names of files and columns are foreign text."""
    return json.dumps(visible(text), ensure_ascii=False)
