"""Words that the pictures and the command line share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from skyweave._skyweave import shell_names
from skyweave.errors import ConfigError
from skyweave.orbit.moment import Moment
from skyweave.orbit.path import OrbitPath
from skyweave.orbit.places import PLACES
from skyweave.orbit.spec import OrbitSpec
from skyweave.plotting.style import LIGHT, drawing, png_bytes, svg_text

WHY = {
    "no-satellite": "no satellite in view",
    "no-gateway": "no gateway in reach of a satellite in view",
    "no-route": "no route to the far end",
    "handover": "gap of a handover",
}
"""Reasons of outages for people."""


def place(where: object) -> str:
    """A place as a person writes it: known names in capitals, all else as it is."""
    name = str(where)
    return name.replace("-", " ").title() if name in PLACES else name


def constellation(spec: OrbitSpec) -> str:
    """The constellation, short: the name, or the file without folders."""
    if spec.constellation in shell_names():
        return f"{spec.constellation} (built in)"
    return Path(spec.constellation).name


def view(moment: Moment) -> str:
    """How many satellites the terminal could use."""
    spec, high, free = moment.spec, int(moment.high.sum()), int(moment.free.sum())
    kept = f", {high - free} of them too close to the GSO arc" if high > free else ""
    plural = "s" * (high != 1)
    return f"{high} satellite{plural} above {spec.min_elevation_deg:g}°{kept}"


def service(moment: Moment) -> str:
    """Who serves, how high it stands and the RTT; or why nothing does."""
    if not moment.way:
        return f"Outage: {WHY[moment.outage]}."
    elevation = moment.look(moment.unix_s)["elevation_deg"][moment.way[0]]
    said = f"{moment.path.serving[0]} serves at {elevation:.0f}° elevation"
    landing = moment.landing()
    if landing is None or landing == moment.spec.terminal:  # nothing was said of the other end
        return f"{said}."
    if moment.spec.via == "gateway":
        return f"{said}, RTT {moment.rtt_ms:.1f} ms down to {place(landing)}."
    links = len(moment.way) - 1
    return (
        f"{said}, RTT {moment.rtt_ms:.1f} ms to {place(landing)} "
        f"over {links} link{'s' * (links != 1)} between satellites."
    )


def route(spec: OrbitSpec) -> str:
    """What is behind the satellites, after the name of the terminal."""
    if spec.via == "isl":
        return f"to {place(spec.to)} over links between satellites"
    if isinstance(spec.gateways, str):
        return f"by bent pipe, gateways of {Path(spec.gateways).name}"
    if len(spec.gateways) == 1:
        return f"by bent pipe to {place(spec.gateways[0])}"
    return f"by bent pipe to {len(spec.gateways)} gateways"


def summary(path: OrbitPath) -> str:
    """A run in one line: RTT, handovers, outages."""
    known = path.rtt_ms[~np.isnan(path.rtt_ms)]
    out_s = sum(one.end_s - one.start_s for one in path.outages)
    if len(known):
        low, middle, high = np.percentile(known, [5, 50, 95])
        said = f"RTT median {middle:.1f} ms (5 % {low:.1f}, 95 % {high:.1f})"
    else:
        said = "no path at any time"
    count, changes = len(path.outages), len(path.handovers)
    said += f", {changes:,} handover{'s' * (changes != 1)}, "
    if not count:
        return said + "no outage"
    longest = max(one.end_s - one.start_s for one in path.outages)
    share = 100 * out_s / path.duration_s
    return (
        f"{said}{count:,} outage{'s' * (count != 1)}: {amount(out_s)} s in all "
        f"({amount(share)} %), {amount(longest)} s the longest"
    )


def amount(value: float) -> str:
    """A number to read: whole from 100 on, else two or three digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def seconds(value: float) -> str:
    """Signed seconds, with the sign of mathematics."""
    return f"{'−' if value < 0 else '+'}{abs(value):.3g} s"  # noqa: RUF001


def titled(figure: Figure, title: str, moment: Moment) -> None:
    """Title, moment and state at the top left of a figure."""
    height = float(figure.get_size_inches()[1])
    figure.text(0.04, 1 - 0.16 / height, title, fontsize=14, fontweight="bold", va="top")
    lines = (
        f"{moment.at:%Y-%m-%d %H:%M:%S} UTC · {constellation(moment.spec)}\n"
        f"{view(moment)}\n{service(moment)}"
    )
    figure.text(
        0.04, 1 - 0.5 / height, lines, fontsize=9, color=LIGHT["soft"], va="top", linespacing=1.5
    )


def check_picture(out: Path | None) -> None:
    """Refuse, before anything is computed, a name that no picture can have."""
    if out is not None and out.suffix not in (".png", ".svg"):
        raise ConfigError(f"{out}: figures are .png or .svg; choose such a name")


def picture(figure: Figure, out: Path) -> bytes:
    """The figure as the file's name wants it; see :func:`check_picture`."""
    with drawing("orbit"):
        return svg_text(figure).encode() if out.suffix == ".svg" else png_bytes(figure)
