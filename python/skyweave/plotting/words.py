"""Numbers in words."""

from __future__ import annotations

from collections.abc import Sequence


def seeds_text(seeds: Sequence[int]) -> str:
    """Return seeds in words.

    >>> seeds_text([1, 2, 3, 4]), seeds_text([7]), seeds_text([1, 5])
    ('seeds 1 to 4', 'seed 7', 'seeds 1, 5')
    """
    distinct = sorted(set(seeds))
    if len(distinct) == 1:
        return f"seed {distinct[0]}"
    if distinct == list(range(distinct[0], distinct[-1] + 1)):
        return f"seeds {distinct[0]} to {distinct[-1]}"
    return "seeds " + ", ".join(str(seed) for seed in distinct)


def mbps(value: float) -> str:
    """Return a rate as a person would say it.

    >>> mbps(123.4), mbps(12.34), mbps(1.234)
    ('123', '12', '1.2')
    """
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}"


def percent(share: float) -> str:
    """Return a share as a person would say it.

    >>> percent(0.0), percent(0.0004), percent(0.034), percent(0.25)
    ('0 %', '0.04 %', '3.4 %', '25 %')
    """
    hundred = 100 * share
    if share == 0:
        return "0 %"
    digits = 2 if hundred < 0.1 else 1 if hundred < 9.95 else 0
    return f"{hundred:.{digits}f} %"
