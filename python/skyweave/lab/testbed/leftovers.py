"""Control groups of the lab's nodes, kept in mind outside of the lab.

All else goes with its namespaces. Groups are the host's: what a lab leaves whose processes were all
killed at once, the next one takes away.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable
from pathlib import Path

from skyweave.model.files import read_regular
from skyweave.testbed.node.sandbox import Groups

KEPT = Path("/run/skyweave-lab-testbed")
"""Marks of a lab's nodes, one a line; as control groups, it is gone when the machine starts."""
MOST_BYTES = 10_000
_MARK = re.compile(r"[0-9a-f]{1,10}")


def remember(marks: Iterable[str], kept: Path = KEPT) -> None:
    """Note whose groups there will be; a machine that cannot keep that goes without."""
    with contextlib.suppress(OSError):
        kept.write_text("".join(f"{one}\n" for one in marks))


def sweep(kept: Path = KEPT) -> int:
    """End and remove the groups that were noted; return how many there were."""
    try:
        lines = read_regular(kept, MOST_BYTES).decode("ascii", "replace").splitlines()
    except OSError:  # there was no lab
        return 0
    found = sum(Groups.found(one).sweep() for one in lines if _MARK.fullmatch(one))
    kept.unlink(missing_ok=True)
    return found
