"""Who runs a study hears how far it is."""

from __future__ import annotations

from collections.abc import Sequence

from skyweave.study.compile.expand import EngineName, Job


class StudyObserver:
    """What :func:`skyweave.run_study` calls on its way; does nothing until a subclass says what.

    All calls come from the thread that called ``run_study``. What an observer raises ends the
    study as an error of a run does: finished runs are kept.
    """

    def starts(self, todo: Sequence[Job], kept: int) -> None:
        """These runs are still to do; the records of ``kept`` others are in the folder already."""

    def note(self, sentence: str) -> None:
        """Something that ends nothing, and that who runs the study should know."""

    def begins(self, engine: EngineName, jobs: Sequence[Job], at_a_time: int) -> None:
        """The runs of one engine begin, ``at_a_time`` of them at once (a cluster knows better)."""

    def finished(self, job: Job) -> None:
        """A run is done and its record is kept."""

    def ends(self, _engine: EngineName) -> None:
        """The runs of this engine are over, all done or given up."""
