"""A cumulative distribution as a line: the steps of the samples, up to the 99th percentile."""

from __future__ import annotations

import numpy as np

from skyweave.report.numbers.metrics import Values

_MOST = 600
END = 0.99
"""The last percent is a few samples that stretch an axis and say little."""


def cumulated(samples: Values) -> tuple[Values, Values]:
    """Return the corners of a cumulative distribution for ``drawstyle="steps-post"``.

    The second array is the share of samples, in percent, that are at most the first; samples above
    the 99th percentile and infinite ones count and are not drawn.

    >>> cumulated(np.array([3.0, 1.0]))
    (array([1., 1., 3.]), array([  0.,  50., 100.]))
    """
    ordered = np.sort(samples)
    last = int(np.ceil(END * len(ordered)))
    places = np.unique(np.linspace(0, last - 1, min(last, _MOST)).round().astype(int))
    places = places[np.isfinite(ordered[places])]
    if not len(places):
        return np.empty(0), np.empty(0)
    values = ordered[places]
    shares = 100 * (places + 1) / len(ordered)
    return np.append(values[:1], values), np.append(0.0, shares)
