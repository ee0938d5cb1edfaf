"""What the links of a criterion decide, whatever its runs did with them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from test_headline import BOTH, A, B, panel

from skyweave.report.criteria.put_in import dominates


def test_links_are_compared_over_the_same_time_whenever_runs_ended() -> None:
    """A file over A takes until 2 s, over B until 4 s, in which B offers more in the mean."""
    links = {"A": [np.array([5.0, 5.0, 30.0, 30.0])], "B": [np.array([4.0, 4.0, 20.0, 20.0])]}
    ended = {"A": [np.array([5.0])], "B": [np.array([12.0])]}
    alike = replace(panel([10.0]), capacity=ended, links=links)
    assert dominates(alike, A, B)
    assert not dominates(alike, B, A)
    assert not dominates(alike, BOTH, B)
    links["B"][0][1] = 6.0
    assert not dominates(alike, A, B)
