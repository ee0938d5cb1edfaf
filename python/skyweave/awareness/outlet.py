"""What is measured, fired and foreseen, on its way to those who listen and to pages of hints."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from skyweave.awareness.foresee import Foresight
from skyweave.awareness.hint import hint_of
from skyweave.awareness.page import PageWriter
from skyweave.awareness.publisher import Publisher
from skyweave.errors import ConfigError
from skyweave.forecast import ForecastFile
from skyweave.forecast.predictors.file import PredictorFile
from skyweave.triggers.machine import Event
from skyweave.triggers.replay import TIME, Row, as_facts


class Outlet:
    """A publisher that is fed by a watch; a context manager."""

    def __init__(
        self, name: Path, predictors: Mapping[str, PredictorFile], pages: Path | None = None
    ) -> None:
        """``pages``: a folder for ``<series>.page``, one for each series that is predicted."""
        self._name, self._folder = name, pages
        self._foresights = {series: Foresight(one) for series, one in predictors.items()}
        self._stack = ExitStack()
        self._pages: dict[str, PageWriter] = {}

    def __enter__(self) -> Self:
        self._publisher = self._stack.enter_context(Publisher(self._name))
        if self._folder is not None:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise ConfigError(f"--pages {self._folder}: {error.strerror}") from None
            for series in self._foresights:
                page = PageWriter(self._folder / f"{series}.page")
                self._pages[series] = self._stack.enter_context(page)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._stack.__exit__(kind, error, trace)

    def samples(self, rows: Iterator[Row]) -> Iterator[Row]:
        """Publish rows, and what is foreseen of them, while they pass."""
        for time_s, row in rows:
            self._publisher.publish("samples", as_facts((time_s, row)))
            for series, foresight in self._foresights.items():
                if series in row:
                    value = row[series]
                    number = value if isinstance(value, float) else None
                    for known in foresight.take(time_s, number):
                        self._foresee(series, known)
            yield time_s, row

    def fired(self, event: Event) -> None:
        """Publish a firing, without its context."""
        self._publisher.publish(
            "firings", {TIME: event.time_unix_s, "trigger": event.trigger}
            | ({} if event.start_unix_s is None else {"start_unix_s": event.start_unix_s}),
        )  # fmt: skip

    def _foresee(self, series: str, known: ForecastFile) -> None:
        self._publisher.foresee(series, known)
        if series in self._pages:
            self._pages[series].write(hint_of(known, time.time(), time.monotonic_ns()))
