"""What a publisher of the awareness library foresees of paths, for connections while they run.

Without a publisher, and for what it says too late or wrongly, nothing changes (docs/awareness.md).
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from skyweave import _skyweave
from skyweave.awareness import Awareness
from skyweave.errors import ConfigError
from skyweave.forecast import ForecastFile
from skyweave.model.forecast import Forecast

EVERY_S = 1.0
"""A publisher makes a new forecast each second."""


class Hints:
    """A board of hints that connections look at; ``look`` asks the publisher once.

    ``names``: what the publisher calls a path, and its interface or the address of either of its
    ends; what is not in it is taken as it is.
    """

    def __init__(self, publisher: Path, names: Mapping[str, str] | None = None) -> None:
        self.board = _skyweave.QuicHints()
        self._publisher = Awareness(publisher)
        self._names = dict(names or {})

    def look(self) -> list[str]:
        """Put up what is known now; return the paths, as they are called here."""
        now = time.time()
        told = []
        for name, known in self._publisher.forecasts(now).items():
            path = self._names.get(name, name)
            with suppress(ValueError, ConfigError):  # what makes no sense is no hint
                facts = from_now(known, now).model_dump(mode="json", exclude_none=True)
                self.board.put(json.dumps({path: facts}))
                told.append(path)
        return told


def from_now(known: ForecastFile, now_unix_s: float) -> Forecast:
    """Return what is known now, in seconds from now; over when the file is, at the latest."""
    left_s = known.end_unix_s - now_unix_s
    forecast, _later = known.of_run(now_unix_s, left_s)
    until_s = left_s if forecast.valid_until_s is None else min(forecast.valid_until_s, left_s)
    return forecast.model_copy(update={"valid_until_s": until_s, "issued_at_s": None})


@contextmanager
def hearing(
    publisher: Path | None, names: Mapping[str, str] | None = None
) -> Iterator[_skyweave.QuicHints | None]:
    """Ask a publisher each second, in a thread of its own; nothing without one."""
    if publisher is None:
        yield None
        return
    hints, over = Hints(publisher, names), threading.Event()

    def ask() -> None:
        hints.look()
        while not over.wait(EVERY_S):
            hints.look()

    thread = threading.Thread(target=ask, name="hints", daemon=True)
    thread.start()
    try:
        yield hints.board
    finally:
        over.set()
        thread.join()


def parse_names(texts: Sequence[str] | None) -> dict[str, str]:
    """Return what ``NAME=INTERFACE`` texts mean. Raises :class:`ConfigError`.

    >>> parse_names(["starlink=wlan0", "lte=10.0.0.2"])
    {'starlink': 'wlan0', 'lte': '10.0.0.2'}
    """
    found = {}
    for text in texts or ():
        name, _, path = text.partition("=")
        if not name or not path:
            raise ConfigError(f"'{text}' names no path; give e.g. starlink=wlan0")
        found[name] = path
    return found
