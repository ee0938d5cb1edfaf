"""What a source of samples is: a table of options, a schema of series, and a way to run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field

from skyweave.model.validated import StudyModel
from skyweave.triggers.samples import Value

Keep = Callable[[float, Mapping[str, Value]], object]
"""Takes what became known at a moment (Unix s); names are those of the source's schema."""
Warn = Callable[[str], object]
Every = Annotated[float, Field(ge=0.1, le=86_400, allow_inf_nan=False)]


class Series(NamedTuple):
    """One series of a source: its kind, and what it says with its unit."""

    kind: Literal["number", "text"]
    words: str


class Source(StudyModel):
    """One source; a trigger file has it as ``[source.NAME]``, its series are ``NAME_<series>``."""

    offers: ClassVar[dict[str, Series]] = {}
    """What it measures. A subclass sets it, and a ``kind`` of its own."""

    def run(self, keep: Keep, stop: threading.Event, warn: Warn) -> None:
        """Measure until told to stop.

        What fails for a while is warned of and makes no sample; :class:`SkyweaveError
        <skyweave.errors.SkyweaveError>` is for what can never work.
        """
        raise NotImplementedError


def pace(every_s: float, stop: threading.Event, work: Callable[[], object]) -> None:
    """Do something at once and then each ``every_s``, until told to stop."""
    while not stop.is_set():
        work()
        stop.wait(every_s)
