"""Times, sizes and figures as pages say them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup, escape

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
_SPANS = ((172_800.0, 86_400.0, "days"), (7200.0, 3600.0, "h"), (120.0, 60.0, "min"))


def clock(unix_s: float) -> datetime:
    """Return a moment in UTC; what no calendar holds is its end."""
    try:
        return datetime.fromtimestamp(unix_s, UTC)
    except (OverflowError, ValueError, OSError):
        return datetime.max.replace(tzinfo=UTC)


def moment(unix_s: float | None) -> Markup:
    """Return a moment as an element, to the second; a dash for none."""
    if unix_s is None:
        return Markup("\N{EN DASH}")
    when = clock(unix_s)
    text = when.strftime("%Y-%m-%d %H:%M:%S")
    return Markup('<time datetime="{}Z">{}</time>').format(
        escape(when.strftime("%Y-%m-%dT%H:%M:%S")), text
    )


def span(seconds: float) -> str:
    """Return how long something takes.

    >>> span(2), span(90), span(600), span(90_000), span(400_000)
    ('2 s', '90 s', '10 min', '25 h', '5 days')
    """
    for least, unit, name in _SPANS:
        if abs(seconds) >= least:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds:.0f} s" if abs(seconds) >= 1 or not seconds else f"{seconds:.2g} s"


def ago(unix_s: float | None, now: float) -> str:
    """Return how long ago something was, or in how long it will be.

    >>> ago(90, 100), ago(200, 100), ago(None, 0)
    ('10 s ago', 'in 100 s', 'never')
    """
    if unix_s is None:
        return "never"
    return f"{span(now - unix_s)} ago" if unix_s <= now else f"in {span(unix_s - now)}"


def size(count: float) -> str:
    """Return a number of bytes in decimal units.

    >>> size(0), size(999), size(1500), size(2.5e10)
    ('0 B', '999 B', '1.5 kB', '25 GB')
    """
    value, place = float(count), 0
    while value >= 999.5 and place < len(_UNITS) - 1:
        value, place = value / 1000, place + 1
    return f"{value:.3g} {_UNITS[place]}"


def dish(said: Mapping[str, Any]) -> str:
    """Return what a dish said, as far as it said it.

    >>> dish({"down_mbps": 35.21, "up_mbps": None, "ping_drop_ratio": 0.004})
    '35.2 Mbit/s down, 0.4 % of its pings lost'
    """
    return _known(said, {
        "down_mbps": "{:.1f} Mbit/s down", "up_mbps": "{:.1f} Mbit/s up",
        "ping_latency_ms": "ping {:.0f} ms", "ping_drop_ratio": "{:.1%} of its pings lost",
        "obstructed_ratio": "{:.1%} of its sky obstructed",
    })  # fmt: skip


def radio(said: Mapping[str, Any]) -> str:
    """Return what a modem said, as far as it said it.

    >>> radio({"kind": "5g", "rsrp_dbm": -95.0, "sinr_db": 12.4}).encode("ascii", "replace")
    b'5G: RSRP ?95 dBm, SINR 12 dB'
    """
    told = _known(said, {
        "rsrp_dbm": "RSRP {:.0f} dBm", "rsrq_db": "RSRQ {:.0f} dB", "sinr_db": "SINR {:.0f} dB",
        "rssi_dbm": "RSSI {:.0f} dBm",
    })  # fmt: skip
    return f"{'5G' if said.get('kind') == '5g' else 'LTE'}: {told}"


def _known(said: Mapping[str, Any], forms: Mapping[str, str]) -> str:
    there = [form.format(said[name]) for name, form in forms.items() if said.get(name) is not None]
    return ", ".join(there).replace("-", "\N{MINUS SIGN}").replace("%", " %")
