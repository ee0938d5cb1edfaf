"""Values of the same drives under several settings, and what follows from pairing them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from skyweave.errors import ResultsError
from skyweave.report.numbers.metrics import Values
from skyweave.report.numbers.stats import Estimate
from skyweave.report.numbers.variants import Variant, cells_or_default
from skyweave.study.language.criteria import Across
from skyweave.study.language.labels import with_linked

Groups = dict[tuple[str, ...], dict[Any, Estimate]]


def together(formula: Callable[[Values], Any], parts: Sequence[Estimate]) -> Estimate:
    """Return a formula of several paired estimates; it reduces axis 0 of their values."""
    value = formula(np.array([[part.value] for part in parts]))
    draws = formula(np.array([part.draws for part in parts]))
    draws = np.asarray(draws, dtype=float)
    return Estimate(float(np.asarray(value)[0]), draws[~np.isnan(draws)])


def grouped(criterion: Across, found: Sequence[Variant], key: str) -> Groups:
    """Return, for each path set under each combination of other settings, a value of each key."""
    groups: Groups = defaultdict(dict)
    for variant in found:
        for cell in cells_or_default(variant.panel, criterion.cells):
            estimate = variant.panel.estimate(criterion.quantity, cell, criterion.statistic)
            groups[(cell, *variant.others(key))][variant.settings[key]] = estimate
    return groups


def need(criterion: Across, key: str, groups: Sequence[Any]) -> None:
    """Refuse a criterion for which no two runs differ in the setting alone."""
    if not groups:
        raise ResultsError(
            f"criterion '{criterion.id}': no two of its runs differ in {key} alone; correct it and "
            "give the same command again: nothing is run anew"
        )


def open_settings(found: Sequence[Variant], by: str) -> list[str]:
    """Return the settings besides ``by`` that differ among variants."""
    keys = [key for key in found[0].settings if key not in with_linked([by])]
    return [key for key in keys if len({str(v.settings[key]) for v in found}) > 1]
