"""What stands behind a headline, by hand: waits, what got worse, alerts; and steps of a CDF."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from skyweave.report.figures.steps import cumulated
from skyweave.report.numbers.namer import Namer
from skyweave.report.numbers.panel import Panel
from skyweave.report.page.behind import facts_of, waits_ms
from skyweave.report.page.words import answer
from skyweave.results.pathset import PathSet

A, B, BOTH = PathSet("A"), PathSet("B"), PathSet("A+B")
NAMER = Namer({"paths": {"A": {"label": "Starlink"}, "B": {"label": "LTE"}}, "drives": []})


def panel(together: list[float], drives: int = 2, **waits: float) -> Panel:
    """Two drives of the same four seconds: A has 10, B 4 Mbit/s."""
    of_waits = {
        f"in_order_wait_{name}_ms": {
            A: [np.zeros(1)] * drives,
            B: [np.zeros(1)] * drives,
            BOTH: [np.array([value])] * drives,
        }
        for name, value in waits.items()
    }
    blocked = {
        f"blocking_share@{name}": {BOTH: [np.array([share])] * drives}
        for name, share in (("A", 0.2), ("B", 0.7))
    }
    others: dict[str, Any] = {**of_waits, **blocked}
    return Panel(
        drives="d", direction="down", settings={"scheduler": "minrtt", "send_buffer_mb": 4.0},
        names=["d"] * drives, origins=["made up"], seeds=list(range(drives)), synthetic=True,
        bin_s=1.0, bootstrap=200, unit="bin",
        goodput={
            A: [np.full(4, 10.0)] * drives,
            B: [np.full(4, 4.0)] * drives,
            BOTH: [np.array(together)] * drives,
        },
        capacity={}, transports={}, keys={}, others=others,
    )  # fmt: skip


def test_the_headline_is_a_ratio_with_its_interval() -> None:
    found = answer(panel([13, 13, 13, 13]), NAMER)
    assert found is not None
    assert "1.30 times [1.30, 1.30] Starlink alone (10)" in found.sentence
    assert "3.25 times [3.25, 3.25] LTE alone (4.0)" in found.sentence
    lone = answer(panel([13, 13, 13, 13], drives=1), NAMER)
    assert lone is not None
    assert "1.30 times Starlink alone" in lone.sentence


def test_an_alert_says_how_often_bonding_is_below_and_for_what_bytes_wait() -> None:
    often = " ".join(facts_of(panel([13, 13, 13, 9]), NAMER, BOTH))
    assert "In 25 % of samples it is below the best of its networks alone" in often
    assert "70 % of in-order waits are for LTE" in often
    never = " ".join(facts_of(panel([13, 13, 13, 13]), NAMER, BOTH))
    assert "below" not in never


def test_what_got_worse_is_said() -> None:
    worse = " ".join(facts_of(panel([8, 8, 13, 13], p50=1, p99=60, longest=90), NAMER, BOTH))
    assert "An in-order reader waits 60 ms at p99 and 90 ms at most." in worse
    assert "25th percentile 8 instead of 10 Mbit/s" in worse
    assert "in-order wait at p99 60 instead of 0 ms" in worse
    fine = facts_of(panel([13, 13, 13, 13], p50=0, p99=0, longest=0), NAMER, BOTH)
    assert not any("Worse" in sentence for sentence in fine)
    assert fine[-1] == "2 drives, scheduler minrtt, send buffer 4 MB."


def test_an_engine_that_tells_no_waits_has_none() -> None:
    assert waits_ms(panel([13, 13, 13, 13]), BOTH) is None
    assert waits_ms(panel([13, 13, 13, 13], p50=1, p99=2, longest=3), BOTH) == [1, 2, 3]


def test_a_cdf_is_the_steps_of_its_samples_up_to_p99() -> None:
    values, shares = cumulated(np.arange(1000.0))
    assert values[-1] == pytest.approx(989)
    assert shares[-1] == pytest.approx(99)
    for limit in (0.0, 500.0, 989.0):
        at = shares[values <= limit].max()
        assert at == pytest.approx(100 * np.mean(np.arange(1000.0) <= limit), abs=0.2)
    endless, up_to = cumulated(np.array([1.0, np.inf, np.inf, np.inf]))
    assert (list(endless), list(up_to)) == ([1.0, 1.0], [0.0, 25.0])
    assert len(cumulated(np.array([np.inf]))[0]) == 0
