"""Samples while they are measured: all sources of a trigger file, each on a thread, in one order.

No source waits for another, nor for what a firing starts. A sample counts at the moment at which it
became known; one that reaches us after a later one counts at the later one's time, so that the rows
of a log replay to the same firings.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import IO

from skyweave.errors import SkyweaveError
from skyweave.triggers.replay import Row, as_line
from skyweave.triggers.samples import Value
from skyweave.triggers.sources import Source, Warn
from skyweave.triggers.spec import TriggerFile

MOST_WAITING = 10_000
"""Samples that wait to be looked at; more are counted and lost."""
MOST_LOG_BYTES = 10**9
LOOK_S = 0.2
"""How often the order to stop is looked for while nothing comes."""


class Watch:
    """The sources of a file while they run."""

    def __init__(
        self, triggers: TriggerFile, stop: threading.Event, warn: Warn = lambda _: None
    ) -> None:
        self.lost = 0
        """Samples that nobody took in time."""
        self._sources = triggers.source
        self._stop, self._warn = stop, warn
        self._rows: queue.Queue[Row | SkyweaveError] = queue.Queue(MOST_WAITING)
        self._warned: set[str] = set()

    def rows(self) -> Iterator[Row]:
        """Yield samples until told to stop; :class:`SkyweaveError` for a source that cannot be."""
        threads = [
            threading.Thread(target=self._run, args=one, daemon=True)
            for one in self._sources.items()
        ]
        for one in threads:
            one.start()
        try:
            yield from self._ordered()
        finally:
            self._stop.set()
            for one in threads:
                one.join()
            if self.lost:
                self._warn(f"{self.lost} samples came faster than they could be looked at: lost")

    def _ordered(self) -> Iterator[Row]:
        last = float("-inf")
        while not self._stop.is_set():
            try:
                one = self._rows.get(timeout=LOOK_S)
            except queue.Empty:
                continue
            if isinstance(one, SkyweaveError):
                raise one
            last = max(last, one[0])
            yield last, one[1]

    def _run(self, name: str, source: Source) -> None:
        def keep(time_s: float, row: Mapping[str, Value]) -> None:
            self._put((time_s, {f"{name}_{key}": value for key, value in row.items()}))

        def warn(sentence: str) -> None:
            if (key := f"{name}: {sentence}") not in self._warned and len(self._warned) < 1000:
                self._warned.add(key)
                self._warn(key)

        try:
            source.run(keep, self._stop, warn)
        except SkyweaveError as error:
            self._put(error)

    def _put(self, one: Row | SkyweaveError) -> None:
        try:
            self._rows.put_nowait(one)
        except queue.Full:
            self.lost += 1


def logged(rows: Iterator[Row], log: IO[str], warn: Callable[[str], object]) -> Iterator[Row]:
    """Write rows as lines of JSON while they pass; a log that is full or cannot grow ends alone."""
    left = MOST_LOG_BYTES
    for row in rows:
        if left > 0:
            line = as_line(row) + "\n"
            left -= len(line)
            try:
                log.write(line)
            except OSError as error:
                warn(f"the log ends here: {error.strerror}")
                left = 0
        yield row
