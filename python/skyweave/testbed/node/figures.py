"""What a node's dish and modem say of its links, for heartbeats; what its owner lets it tell.

A dish is asked as ``skyweave dish`` does; a modem through ModemManager's ``mmcli``. What neither
says is absent, and what is impossible is not told.
"""

from __future__ import annotations

import contextlib
import math
import re
import subprocess
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from skyweave.errors import SkyweaveError
from skyweave.testbed.node.tools import PATH
from skyweave.testbed.wire import DishFigures, RadioFigures

PATIENCE_S = 2.0
MOST_BYTES = 100_000
GENERATIONS = ("5g", "lte")
Form = TypeVar("Form", DishFigures, RadioFigures)
_LINE = re.compile(r"modem\.signal\.(5g|lte)\.(rsrp|rsrq|snr|rssi)\s*:\s*(-?\d{1,4}(?:\.\d{1,6})?)")
_NAMES = {"rsrp": "rsrp_dbm", "rsrq": "rsrq_db", "snr": "sinr_db", "rssi": "rssi_dbm"}


class Figures:
    """The newest figures; asked with each heartbeat, each for two seconds at most."""

    def __init__(self, tells: Sequence[str], dish: str) -> None:
        """``tells``: ``dish``, ``radio``, both or none; ``dish``: host and port of the dish."""
        self._tells, self._host = tuple(tells), dish

    def dish(self) -> DishFigures | None:
        """Return what the dish says; None if it says nothing, or it is not to be told."""
        if "dish" not in self._tells:
            return None
        from skyweave.telemetry.dish.client import Dish
        from skyweave.telemetry.dish.status import status_row

        with contextlib.suppress(SkyweaveError), Dish(self._host, timeout_s=PATIENCE_S) as dish:
            row = status_row(dish.status())
            return _kept(DishFigures, {name: row.get(name) for name in DishFigures.model_fields})
        return None

    def radio(self, ask: Callable[[], str] | None = None) -> RadioFigures | None:
        """Return what the modem says of its newest generation; None as for :meth:`dish`."""
        if "radio" not in self._tells:
            return None
        return radio_of((ask or _mmcli)())


def radio_of(said: str) -> RadioFigures | None:
    """Return the figures out of ``mmcli --signal-get -K``, of 5G before LTE.

    >>> radio_of("modem.signal.lte.rsrp : -100.00\\nmodem.signal.5g.rsrp : --").rsrp_dbm
    -100.0
    """
    found = [(one[1], one[2], float(one[3])) for one in _LINE.finditer(said[:MOST_BYTES])]
    for kind in GENERATIONS:
        values = {_NAMES[name]: value for of, name, value in reversed(found) if of == kind}
        kept = _kept(RadioFigures, values, kind=kind)
        if kept is not None:
            return kept
    return None


def _kept(form: type[Form], values: dict[str, Any], **more: str) -> Form | None:
    """Return figures with what is possible of them; None if nothing is."""
    possible: dict[str, float] = {}
    for name, value in values.items():
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not math.isfinite(value)
        ):
            continue
        with contextlib.suppress(ValidationError):
            form.model_validate({**more, name: float(value)})
            possible[name] = float(value)
    return form.model_validate({**more, **possible}) if possible else None


def _mmcli() -> str:
    try:
        ran = subprocess.run(
            ["mmcli", "-m", "any", "--signal-get", "-K"], capture_output=True, check=False,
            stdin=subprocess.DEVNULL, timeout=PATIENCE_S, env={"PATH": PATH, "LC_ALL": "C"},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):  # no ModemManager here, or no answer
        return ""
    return ran.stdout[:MOST_BYTES].decode(errors="replace")
