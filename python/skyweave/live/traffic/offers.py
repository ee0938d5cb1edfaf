"""What players that are programs are offered: the film of a workload, and where it is served."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skyweave.errors import ConfigError
from skyweave.model import config
from skyweave.video import check_ladder, film, kinds, ladder
from skyweave.video.film import name_of as film_name
from skyweave.video.ladder import name_of as ladder_name
from skyweave.video.ladder import rates_kbps

_TOP_MBPS, _FILM_S = 4.3, 180


@dataclass(frozen=True)
class Offer:
    """A film on this machine, as an origin serves it."""

    served: Path
    """The file or the folder that the origin serves by its own name."""
    address: str
    """Below the root of the origin."""
    ladder_mbps: tuple[float, ...] = ()
    """Bitrates of the qualities, of a film that has several."""
    options: tuple[str, ...] = ()
    """Further options on the command line of the player's driver."""


def refusal(workload: config.Bulk | config.Workload) -> str | None:
    """Return why a workload names no film that can be made here, as what follows the player."""
    if workload.kind == "adaptive":
        try:
            check_ladder(*_ladder_of(workload))
        except ConfigError as error:
            return f"needs a film that can be made here: {error}"
        return None
    kind = _film_of(workload)
    if kind in kinds():
        return None
    known = " or ".join(repr(one) for one in kinds())
    return f"needs a film that can be made here, not {kind!r}; take film = {known}"


def of(workload: config.Bulk | config.Workload) -> Offer:
    """Return what a player of this workload is offered; made now if this machine has none.

    Raises :class:`ConfigError` as :func:`skyweave.video.film` and :func:`skyweave.video.ladder` do.
    """
    if workload.kind == "adaptive":
        made = ladder(*_ladder_of(workload))
        folder = made.manifest.parent
        slow = () if getattr(workload, "fast_switch", True) else ("--no-fast-switch",)
        return Offer(folder, f"{folder.name}/{made.manifest.name}", tuple(made.ladder_mbps), slow)
    file = film(_film_of(workload)).file
    return Offer(file, file.name)


def named(workload: config.Bulk | config.Workload) -> Offer:
    """Return what a player of this workload is offered elsewhere; nothing is made here.

    Raises :class:`ConfigError` for a film that cannot be.
    """
    if workload.kind == "adaptive":
        top_mbps, film_s = _ladder_of(workload)
        address = ladder_name(top_mbps, film_s)
        slow = () if getattr(workload, "fast_switch", True) else ("--no-fast-switch",)
        mbps = tuple(rate / 1000 for rate in rates_kbps(top_mbps))
        return Offer(Path(address).parent, address, mbps, slow)
    address = film_name(_film_of(workload))
    return Offer(Path(address), address)


def _film_of(workload: config.Bulk | config.Workload) -> Any:
    return getattr(workload, "film", "cbr")


def _ladder_of(workload: config.Bulk | config.Workload) -> tuple[float, int]:
    """Return bitrate of the best quality and length; :class:`ConfigError` for what is no number."""
    found = []
    for name, default in (("top_mbps", _TOP_MBPS), ("film_s", _FILM_S)):
        value = getattr(workload, name, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ConfigError(f"{name} is {value!r}, and must be a number")
        found.append(value)
    top_mbps, film_s = found
    if not math.isfinite(film_s) or film_s != int(film_s):
        raise ConfigError(f"film_s is {film_s:g}, and must be whole seconds")
    return float(top_mbps), int(film_s)
