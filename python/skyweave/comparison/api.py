"""``skyweave.compare``: the question of ``skyweave compare`` for notebooks and programs."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import polars as pl

from skyweave.comparison.ask import ask
from skyweave.comparison.gather import Gathered, Reading, gather, gather_drives
from skyweave.comparison.networks import Kind
from skyweave.comparison.writing import Choices, Transport
from skyweave.model.drive import Drive

Source = Drive | str | Path


def compare(
    source: Source | Sequence[Source],
    *,
    transports: Sequence[Transport] = ("mptcp", "mpquic"),
    schedulers: Sequence[str] = (),
    congestion: Sequence[str] = ("cubic-linux", "bbr"),
    rtt_ms: Sequence[float] = (),
    pings: Sequence[str | Path] = (),
    kinds: Sequence[Kind] = (),
    align: Literal["utc", "start"] = "utc",
    pieces: int | None = None,
    air: bool = True,
    out: str | Path | None = None,
    jobs: int | None = None,
) -> pl.DataFrame:
    """Return what bonding gives, as one row for each path set, transport and algorithm.

    ``source``: drives, or files as ``skyweave compare`` takes them, not both. ``rtt_ms``, ``pings``
    and ``kinds`` are one for each network. ``air``: jitter and losses of a model where logs
    have none (docs/data.md). ``out`` keeps study, records and report; without it they are thrown
    away. Columns: ``direction``, ``paths``, ``label``, ``transport``, ``scheduler``,
    ``congestion``, ``median_mbps`` with its 95 % interval ``median_low`` and ``median_high``,
    ``p5_mbps``, ``mean_mbps``, ``zero_share`` (0 to 1), ``gain`` (over the best network alone),
    ``pieces``. Raises :class:`skyweave.SkyweaveError` as the command does.
    """
    sources = [source] if isinstance(source, Drive | str | Path) else list(source)
    choices = Choices(
        transports=tuple(transports), schedulers=tuple(schedulers), congestion=tuple(congestion),
        rtt_ms=tuple(rtt_ms), pieces=pieces, air=air,
    )  # fmt: skip
    reading = Reading(align=align, kinds=tuple(kinds), pings=[Path(one) for one in pings])
    gathered = _gathered(sources, reading)
    if out is not None:
        return ask(gathered, Path(out), choices, jobs=jobs).table
    with tempfile.TemporaryDirectory() as folder:
        return ask(gathered, Path(folder), choices, jobs=jobs).table


def _gathered(sources: Sequence[Source], reading: Reading) -> Gathered:
    drives = [one for one in sources if isinstance(one, Drive)]
    if drives:
        return gather_drives(drives, reading.kinds)
    return gather([Path(one) for one in sources if not isinstance(one, Drive)], reading)
