"""Who runs a study hears how far it is."""

from __future__ import annotations

from collections.abc import Sequence

from skyweave.steady import steady
from skyweave.study.compile.expand import EngineName, Job


class StudyObserver:
    """What :func:`skyweave.run_study` calls on its way; does nothing until a subclass says what.

    All calls come from the thread that called ``run_study``. What an observer raises is logged once
    and ends nothing.
    """

    def starts(self, todo: Sequence[Job], kept: int) -> None:
        """These runs are still to do; the records of ``kept`` others are in the folder already."""

    def note(self, sentence: str) -> None:
        """Something that ends nothing, and that who runs the study should know."""

    def begins(self, engine: EngineName, jobs: Sequence[Job], at_a_time: int) -> None:
        """The runs of one engine begin, ``at_a_time`` of them at once (a cluster knows better)."""

    def finished(self, job: Job) -> None:
        """A run is done and its record is kept."""

    def metered(self, cpu_s: float, packets: int) -> None:
        """All simulations of this machine needed ``cpu_s`` processor seconds for ``packets``.

        Packets are those that left a link. A cluster's simulations are not metered.
        """

    def ends(self, _engine: EngineName) -> None:
        """The runs of this engine are over, all done or given up."""

    def drawn(self, done: int, figures: int) -> None:
        """The report has ``done`` of its figures; ``run_study`` alone draws none."""


class Steadied(StudyObserver):
    """An observer whose failure ends nothing."""

    def __init__(self, observer: StudyObserver) -> None:
        for name in vars(StudyObserver):
            if not name.startswith("_"):
                setattr(self, name, steady(getattr(observer, name), "the study's observer"))
