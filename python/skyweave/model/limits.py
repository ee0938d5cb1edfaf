"""How much there may be of anything that a file or an option asks for: beyond is a mistake.

A number in a file of a few bytes must not decide how much memory is taken. Whatever makes as many
values as an input says asks here first.
"""

from __future__ import annotations

import math

from skyweave.errors import DataError

WEEK_S = 7.0 * 24 * 3600
"""The longest trace, drive and run."""
MOST_VALUES = 20_000_000
"""The most values of one series, table or grid."""
MOST_RATE_MBPS = 1e6
"""The fastest link: a terabit a second."""
MOST_RUNS = 1_000_000
"""The most runs of a study, unless ``--max-runs`` says more."""
DEEPEST = 32
"""How deep tables and lists may be nested in a file."""


def grid_size(span_s: float, step_s: float, what: str) -> int:
    """Return how many whole steps fit into a span, at least one.

    Raises :class:`DataError` that begins with ``what`` when there are more than
    :data:`MOST_VALUES`, or either is not finite.
    """
    count = span_s / step_s if step_s > 0 else math.inf
    return checked(count + 1e-9, what)


def checked(count: float, what: str, most: int = MOST_VALUES) -> int:
    """Return ``count`` as a whole number, at least one; :class:`DataError` if above ``most``."""
    if not count <= most:  # NaN is refused, too
        raise DataError(
            f"{what}: asks for {min(count, 10**30):,.0f} values, and {most:,} may be; cut it up"
        )
    return max(1, int(count))
