"""From signal strength to capacity: Equations 1 and 2 of the MP-QUIC over LTE paper.

All functions are element-wise over arrays of any shape. Powers are per resource element, as RSRP is
(3GPP TS 36.214 §5.1.1), and are added in milliwatts.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from skyweave.errors import ConfigError
from skyweave.model.drive import Values

THERMAL_NOISE_DBM = -132.24
"""Eq. 1: thermal noise in one 15 kHz subcarrier, -174 dBm/Hz + 10·log10(15 000)."""
NOISE_FIGURE_DB = 7.0
"""Eq. 1: noise figure of the receiver."""
LOAD = 0.10
"""Eq. 1: Q_L, the share of resource elements in which a neighbour cell sends."""

BANDWIDTH_MHZ = 10.0
"""Eq. 2: f, of every carrier."""
GAMMA = 0.4852
"""Eq. 2: how far LTE stays behind Shannon in SINR."""
C15 = 5.5547
"""Eq. 2: bit/s/Hz of the highest modulation and coding scheme (CQI 15)."""
C = 0.9449
"""Eq. 2: how far LTE stays behind Shannon in capacity."""

CAPACITY_CAP_MBPS = BANDWIDTH_MHZ * C15
"""What Eq. 2 never exceeds: 55.547 Mbit/s."""


def milliwatts(dbm: npt.ArrayLike) -> Values:
    """Power in mW of a level in dBm; NaN stays NaN."""
    return np.asarray(10.0 ** (np.asarray(dbm, np.float64) / 10))


def decibels(ratio: npt.ArrayLike) -> Values:
    """10·log10 of a power or a ratio: dBm of mW, dB of a ratio; 0 becomes -inf."""
    with np.errstate(divide="ignore"):
        return np.asarray(10 * np.log10(np.asarray(ratio, np.float64)))


NOISE_MW = float(milliwatts(THERMAL_NOISE_DBM + NOISE_FIGURE_DB))
"""Noise with noise figure, -125.24 dBm."""


def sinr_db(rsrp_dbm: npt.ArrayLike, others_mw: npt.ArrayLike = 0.0, load: float = LOAD) -> Values:
    """Eq. 1: signal to interference and noise ratio in dB.

    ``rsrp_dbm`` is the RSRP of the cell that serves, ``others_mw`` the summed RSRP in mW of all
    others on its carrier; both broadcast. ``load`` is Q_L. :class:`ConfigError` unless 0 ≤ load ≤ 1
    and no power is negative.
    """
    if not 0 <= load <= 1:
        raise ConfigError(f"load {load:g}: the load of neighbour cells is a share; give 0 to 1")
    interference = np.asarray(others_mw, np.float64)
    if (interference < 0).any():
        raise ConfigError("others_mw: a power in mW cannot be negative; convert dBm to mW first")
    return decibels(milliwatts(rsrp_dbm) / (load * interference + NOISE_MW))


def sinr_of_each_db(rsrp_dbm: Values, load: float = LOAD) -> Values:
    """Eq. 1 for every cell of one carrier, were it the serving one.

    ``rsrp_dbm`` has shape (cells, …), NaN where a cell was not heard; so has the result.
    """
    power = milliwatts(rsrp_dbm)
    others = np.nansum(power, axis=0) - power
    # Subtraction leaves a rounding error of either sign where a cell stands alone.
    return sinr_db(rsrp_dbm, np.maximum(others, 0.0), load)


def capacity_mbps(sinr: npt.ArrayLike) -> Values:
    """Eq. 2: downlink capacity in Mbit/s of one carrier at a SINR in dB; NaN stays NaN.

    B = f·(C/ln 2)·min(c15·ln 2/C, ln(1 + gamma·SINR)) with SINR as a ratio.
    """
    limit = C15 * np.log(2) / C
    shannon = np.log1p(GAMMA * milliwatts(sinr))  # dB to ratio is dBm to mW
    return np.asarray(BANDWIDTH_MHZ * C / np.log(2) * np.minimum(limit, shannon))


def saturation_sinr_db() -> float:
    """The SINR in dB from which Eq. 2 stays at its cap."""
    return float(decibels((2 ** (C15 / C) - 1) / GAMMA))
