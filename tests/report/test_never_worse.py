"""The criterion 'never-worse': each drive counts, and a film that never began is no best one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_across import BASE, graded

from skyweave.errors import ResultsError
from skyweave.report.criteria.finding import Finding
from skyweave.report.criteria.never_worse import never_worse
from skyweave.report.numbers.panel import Panel
from skyweave.report.numbers.variants import Variant
from skyweave.results.pathset import PathSet
from skyweave.study.language.criteria import NeverWorse

A, B, BOTH = PathSet("A"), PathSet("B"), PathSet("A+B")
Numbers = dict[PathSet, list[float]]


def found(values: Numbers, startup: Numbers | None = None, **keys: Any) -> Finding:
    """Grade made-up values of a quantity, one a drive, with the startups of its films."""
    drives = len(values[BOTH])
    others = {"qoe": values, "startup_s": startup or {cell: [1.0] * drives for cell in values}}
    panel = Panel(
        drives="d", direction="down", settings={}, names=[str(n) for n in range(drives)],
        origins=[], seeds=list(range(drives)), synthetic=True, bin_s=1.0, bootstrap=500,
        unit="drive", goodput={cell: [np.ones(3)] * drives for cell in values}, capacity={},
        transports={}, keys={},
        others={
            name: {cell: [np.array([v]) for v in told] for cell, told in one.items()}
            for name, one in others.items()
        },
    )  # fmt: skip
    usual = {"id": "c", "figure": "f", "text": "t", "drives": "d", "kind": "never-worse"}
    criterion = NeverWorse.model_validate(usual | {"quantity": "qoe"} | keys)
    return never_worse(criterion, [Variant({}, panel, {})])


def test_one_drive_that_is_worse_decides() -> None:
    alone = {A: [5.0, 1.0, 5.0, 1.0], B: [1.0, 5.0, 1.0, 5.0]}
    assert found(alone | {BOTH: [5.0, 6.0, 7.0, 5.0]}).grade == "reproduced"
    # Better than either path in the mean and in the median of each, but not than the best of them.
    worse = found(alone | {BOTH: [5.0, 4.0, 7.0, 4.0]})
    assert worse.grade == "not reproduced"
    assert "worse in 2 of 4, mean 0 [" in worse.ours


def test_a_gain_in_the_mean_is_the_direction() -> None:
    alone = {A: [5.0] * 6, B: [1.0] * 6}
    assert found(alone | {BOTH: [9.0, 9.0, 8.0, 9.0, 9.0, 4.9]}).grade == "direction only"
    assert found(alone | {BOTH: [9.0, 9.0, 8.0, 9.0, 9.0, 4.9]}, margin=0.2).grade == "reproduced"


def test_of_a_stall_the_least_is_the_best() -> None:
    stalls = {A: [3.0, 0.0], B: [0.0, 4.0], BOTH: [0.0, 0.0]}
    assert found(stalls, least=True).grade == "reproduced"
    assert found(stalls).grade == "not reproduced"


def test_a_film_that_never_began_is_no_best_one() -> None:
    """It has no stall, and a quality of 0, which is more than that of one that stood for long."""
    values = {A: [-90.0, 5.0], B: [0.0, 0.0], BOTH: [-80.0, 6.0]}
    never = {A: [1.0, 1.0], B: [np.inf, np.inf], BOTH: [1.0, 1.0]}
    assert found(values).grade == "not reproduced"
    assert found(values, never).grade == "reproduced"
    silent = {A: [1.0, 1.0], B: [1.0, 1.0], BOTH: [np.inf, 1.0]}
    assert "worse in 1 of 2" in found(values, silent).ours
    assert found(values, {key: [np.inf, np.inf] for key in (A, B, BOTH)}).grade == "reproduced"


def test_no_value_is_no_success() -> None:
    with pytest.raises(ResultsError, match="each alone"):
        found({key: [np.nan, np.nan] for key in (A, B, BOTH)})
    with pytest.raises(ResultsError, match="each alone"):
        found({A: [1.0], BOTH: [2.0]})


def test_in_a_study(tmp_path: Path) -> None:
    wanted = {"kind": "never-worse", "quantity": "goodput", "where": {"congestion": "bbr"}}
    strict, lenient = graded(tmp_path, BASE, wanted, wanted | {"margin": 1000})
    assert strict["said"] == "direction only"  # on one drive a path has less than 4 % of the sum
    assert strict["ours"].startswith("SL+VZ: worse in 1 of 4, mean ")
    assert lenient["said"] == "reproduced"
    assert lenient["ours"].startswith("SL+VZ: worse in 0 of 4, mean ")
