"""``skyweave link``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from skyweave.errors import ConfigError
from skyweave.live.world.control import tell_shell


def link(
    path: Annotated[str, typer.Argument(help="Name of the path.")],
    down_mbps: Annotated[float | None, typer.Option(help="New capacity to the client.")] = None,
    up_mbps: Annotated[float | None, typer.Option(help="New capacity from the client.")] = None,
    rtt: Annotated[float | None, typer.Option(help="New round-trip time in ms.")] = None,
    loss: Annotated[float | None, typer.Option(help="New share of lost packets, 0 to 1.")] = None,
    on: Annotated[
        bool | None, typer.Option("--on/--off", help="Carry packets again, or drop them all.")
    ] = None,
) -> None:
    """Change a path of the 'skyweave shell' that this runs in, at once."""
    common: dict[str, Any] = {}
    if rtt is not None:
        common["delay"] = {"kind": "constant", "ms": rtt / 2}
    if loss is not None:
        common["loss"] = {"kind": "bernoulli", "ratio": loss}
    said = on is not None
    for direction, mbps in (("down", down_mbps), ("up", up_mbps)):
        change = {**common}
        if mbps is not None:
            change["capacity"] = {"kind": "constant", "mbps": mbps}
        if change:
            said = True
            tell_shell({"do": "change", "path": path, "direction": direction, "change": change})
    if on is not None:
        tell_shell({"do": "path", "name": path, "up": on})
    if not said:
        raise ConfigError(
            "nothing to change; give --down-mbps, --up-mbps, --rtt, --loss, --on, --off"
        )
