"""How figures look: one palette with two schemes, and SVG that follows the page around it.

Matplotlib draws with the light colours. In the SVG that goes into the report each of them is
replaced by a CSS variable of the page, so one drawing serves light and dark.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from skyweave.printing import visible_lines

LIGHT = {
    "ink": "#1d2433",
    "soft": "#5b6474",
    "line": "#c9ced8",
    "grid": "#e7e9ee",
    "paper": "#ffffff",
    "satellite": "#2f6fd0",
    "cellular1": "#c77a0a",
    "cellular2": "#0f8f80",
    "cellular3": "#c0407c",
    "other1": "#6b7a1e",
    "other2": "#8a5a3c",
    "bonded": "#6b3fc4",
    "opening": "#a98be0",
    "gain": "#4c7a34",
    "loss": "#98566b",
    "mark": "#d02b2b",
}
"""Colours by role; all different, because the SVG is translated colour by colour."""

DARK = {
    "ink": "#e8ebf2",
    "soft": "#a3acbd",
    "line": "#4a5263",
    "grid": "#2a3140",
    "paper": "#151a24",
    "satellite": "#7db0ff",
    "cellular1": "#f0b450",
    "cellular2": "#4fd0bd",
    "cellular3": "#f28ab9",
    "other1": "#c3d267",
    "other2": "#d9a37f",
    "bonded": "#b79aff",
    "opening": "#7458b8",
    "gain": "#9fd086",
    "loss": "#e0a0b4",
    "mark": "#ff7a70",
}

_RC: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "svg.fonttype": "none",
    "text.color": LIGHT["ink"],
    "axes.labelcolor": LIGHT["soft"],
    "axes.edgecolor": LIGHT["line"],
    "axes.linewidth": 0.8,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.titlesize": 9.5,
    "axes.titlecolor": LIGHT["ink"],
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "grid.color": LIGHT["grid"],
    "grid.linewidth": 0.8,
    "xtick.color": LIGHT["line"],
    "ytick.color": LIGHT["line"],
    "xtick.labelcolor": LIGHT["ink"],
    "ytick.labelcolor": LIGHT["soft"],
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "axes.unicode_minus": True,
    "path.simplify": True,
    "text.parse_math": False,  # names may have dollar signs
}


@contextmanager
def drawing(salt: str) -> Iterator[None]:
    """Draw in the house style, with SVG identifiers that depend on ``salt`` alone."""
    with mpl.rc_context({**_RC, "svg.hashsalt": salt}):
        yield


def roles(kinds: dict[str, str]) -> dict[str, str]:
    """Return the colour role of each path: by what it is, and by its place among its kind."""
    counts: dict[str, int] = {}
    chosen = {}
    for name, kind in kinds.items():
        number = counts[kind] = counts.get(kind, 0) + 1
        chosen[name] = _role(kind, number)
    return chosen


def _role(kind: str, number: int) -> str:
    if kind == "satellite" and number == 1:
        return "satellite"
    if kind == "cellular":
        return f"cellular{(number - 1) % 3 + 1}"
    return f"other{(number - 1) % 2 + 1}"


def svg_text(figure: Figure) -> str:
    """Return the figure as SVG without date."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    return visible_lines(buffer.getvalue())  # XML allows no control characters


def png_bytes(figure: Figure) -> bytes:
    """Return the figure as PNG on white."""
    buffer = io.BytesIO()
    figure.savefig(
        buffer, format="png", dpi=160, facecolor=LIGHT["paper"], metadata={"Software": None}
    )
    return buffer.getvalue()


def inline_svg(svg: str, title: str, prefix: str) -> str:
    """Return an SVG for the middle of a page: no prolog, own identifiers, colours of the page.

    >>> inline_svg('<svg xmlns="http://www.w3.org/2000/svg"><g id="a"/></svg>', "T", "f")
    '<svg role="img" aria-label="T"><g id="f-a"/></svg>'
    """
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", svg).replace("xlink:href", "href")
    svg = re.sub(r'\sid="([^"]+)"', rf' id="{prefix}-\1"', svg)
    svg = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", svg)
    svg = svg.replace("'DejaVu Sans'", "var(--sans)")
    for role, colour in LIGHT.items():
        svg = svg.replace(colour, f"var(--{role})")
    width = re.search(r'width="([\d.]+)pt"', svg)
    if width:
        svg = re.sub(r' (width|height)="[\d.]+pt"', "", svg, count=2)
    return svg.replace("<svg", f'<svg role="img" aria-label="{title}"', 1)


def scheme_svg(svg: str) -> str:
    """Return an SVG for a file of its own that follows the reader's scheme, light or dark.

    >>> "var(--ink, #1d2433)" in scheme_svg('<svg><path style="fill: #1d2433"/></svg>')
    True
    """
    for role, colour in LIGHT.items():
        svg = svg.replace(colour, f"var(--{role}, {colour})")
    both = f":root {{ {variables(LIGHT)} }} @media (prefers-color-scheme: dark) {{ :root {{ "
    style = f'<style type="text/css">{both}{variables(DARK)} }} }}</style>'
    begin = svg.index(">", svg.index("<svg")) + 1
    return svg[:begin] + style + svg[begin:]


def variables(colours: dict[str, str]) -> str:
    """Return the CSS variables of a scheme."""
    return " ".join(f"--{role}: {colour};" for role, colour in colours.items())
