"""Schedulers written in Python: the same contract as the trait in ``crates/scheduler``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from skyweave._skyweave import ConnectionView, PathView

__all__ = ["Ahead", "ConnectionView", "Decision", "PathView", "Scheduler", "Wait"]


@dataclass(frozen=True)
class Wait:
    """Hold the segment back until something happens, at the latest until ``until_s``."""

    until_s: float


@dataclass(frozen=True)
class Ahead:
    """Send a later segment on ``path``: the first that begins ``gap_bytes`` or more further on.

    With ``unsent``, the first with that many bytes before it which no path has been given yet.
    """

    path: int
    gap_bytes: int
    unsent: bool = False


Decision = int | Sequence[int] | None | Wait | Ahead
"""The id of a path, several ids (a copy on each), or ``None`` to wait for the next event."""


class Scheduler:
    """Base class of a scheduler of yours; hand an instance to :func:`skyweave.simulate`.

    A wait cannot deadlock the connection: when nothing is in flight anywhere, it sends on the
    fastest path that has room, on a backup only while no other is usable. The hooks get the time in
    seconds and the id of the path.
    """

    def select(self, view: ConnectionView) -> Decision:
        """Choose for one segment: a path that is ``usable`` and ``has_room``, or wait."""
        raise NotImplementedError(f"{type(self).__name__} has no select(view)")

    def on_sent(self, now_s: float, path: int, size_bytes: int) -> None:
        """Payload was assigned to a path."""

    def on_acked(self, now_s: float, path: int, size_bytes: int) -> None:
        """Payload was acknowledged on a path."""

    def on_lost(self, now_s: float, path: int, size_bytes: int) -> None:
        """Payload was marked lost on a path."""

    def on_path_event(
        self, now_s: float, path: int, event: Literal["established", "closed", "failed", "revived"]
    ) -> None:
        """A path can be used, is gone, is thought dead, or was heard of again."""
