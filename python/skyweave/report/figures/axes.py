"""How settings, parameters and lines look on the axes of figures."""

from __future__ import annotations

from skyweave.study.language.settings import LABELS

LINES = (
    "satellite", "cellular1", "cellular2", "cellular3",
    "bonded", "other1", "other2", "mark", "soft",
)  # fmt: skip
"""Colour roles of lines, in order."""
DODGE_PT = 3.0
"""How far apart points of different lines stand at the same place."""
PARAMETER_WORDS = {"loss_thresh": "loss_thresh (%)", "probe_rtt_win_ms": "probe_rtt_win (ms)"}
"""Parameters of algorithms as an axis says them, where the name alone does not."""
_PERCENT = {"loss_thresh", *(name for name, about in LABELS.items() if about.percent)}


def words_of(key: str) -> str:
    """Return a setting, or a parameter of an algorithm, as an axis says it."""
    said = LABELS[key].axis if key in LABELS else PARAMETER_WORDS.get(key)
    return said or key.replace("_", " ")


def shown(key: str, value: float) -> str:
    """Return a value of a setting as an axis says it."""
    return f"{round(100 * value if key in _PERCENT else value, 2):g}"
