"""The names a study file may use, and help for the ones that it misspells."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

SCHEDULERS = ("minrtt", "roundrobin", "blest", "upstream")
"""As in ``crates/scheduler/src/algorithm.rs``."""

CONGESTION = ("newreno", "cubic", "bbr")
"""As in ``crates/congestion/src/algorithm.rs``."""

PRESETS = ("alaska", "hawaii", "midwest")
"""What ``skyweave.data.synthesise`` knows."""


def suggest(word: str, known: Iterable[str]) -> str:
    """Return a sentence that helps who wrote ``word`` where one of ``known`` was expected."""
    names = sorted(set(known))
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    if not close:
        folded = {name.casefold(): name for name in names}
        close = [folded[word.casefold()]] if word.casefold() in folded else []
    if close:
        return f"did you mean '{close[0]}'?"
    return f"known are {', '.join(names)}" if names else "none is known"
