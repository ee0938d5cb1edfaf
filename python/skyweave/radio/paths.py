"""Drives from cells: one path per operator, or one per interface of cases sp and 1 to 4."""

from __future__ import annotations

from typing import Literal

import numpy as np

from skyweave.errors import DataError
from skyweave.model.drive import Drive, PathTrace, Series, Values
from skyweave.radio.cases import WAIT_S, Case, interfaces
from skyweave.radio.delay import FLOOR_MS, DelayRule, delay_ms
from skyweave.radio.offer import Offer

PathsOf = Literal["operators", "sp", "1", "2", "3", "4"]
"""What becomes a path: each operator at its best cell, or the interfaces of a case."""


def radio_drive(
    offered: Offer,
    name: str,
    origin: str,
    paths: PathsOf = "operators",
    delay: DelayRule = "power",
    wait_s: int = WAIT_S,
) -> Drive:
    """A drive whose capacities come from SINR and whose delays from capacity, second by second.

    ``operators``: a path named after each, at its best cell. A case: ``cell1`` … as
    :func:`~skyweave.radio.cases.interfaces` has them, with that ``wait_s``. Where the operators
    were not compared nothing is logged (NaN). Raises :class:`DataError` if that is everywhere.
    """
    if not offered.known.any():
        raise DataError(f"{name}: in no second was every operator heard; check files and join")
    rates = best_of_each(offered) if paths == "operators" else _of_case(offered, paths, wait_s)
    traces = {path: trace_of(values, delay) for path, values in rates.items()}
    return Drive(name=name, origin=origin, paths=traces, start=offered.start)


def best_of_each(offered: Offer) -> dict[str, Values]:
    """What the best cell of each operator offers in Mbit/s; NaN where not all were heard."""
    return {o: np.where(offered.known, offered.best_of(o), np.nan) for o in offered.operators}


def _of_case(offered: Offer, case: Case, wait_s: int) -> dict[str, Values]:
    _, rates = interfaces(offered, case, wait_s)
    return {f"cell{number}": values for number, values in enumerate(rates, 1)}


def trace_of(rates: Values, rule: DelayRule) -> PathTrace:
    """Capacity and round trip; a link without capacity has none, so that the last one holds.

    One that never has any is as near as a link can be.
    """
    times_s = np.arange(len(rates), dtype=np.float64)
    rtt_ms = np.where(rates > 0, 2 * delay_ms(rates, rule), np.nan)
    if np.isnan(rtt_ms).all():
        rtt_ms = np.full(len(rates), 2 * FLOOR_MS)
    return PathTrace(downlink_mbps=Series(times_s, rates), rtt_ms=Series(times_s, rtt_ms))
