"""Triggers on a node: conditions over what is measured here start experiments that wait for them.

The owner's folder has ``triggers.toml``, a file of ``skyweave trigger``; the policy's ``[fires]``
says which trigger starts which experiment. A firing is told with its context; whether and when a
run follows, the orchestrator's calendar decides. With ``[hints]`` in the policy, what is measured,
fired and foreseen is published on a socket in that folder, for the owner's own programs.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path

from skyweave.awareness.outlet import Outlet
from skyweave.errors import ConfigError, SkyweaveError, suggest
from skyweave.forecast.predictors.file import PredictorFile, read_predictor
from skyweave.testbed.node.book import Book
from skyweave.testbed.node.dial import Backoff
from skyweave.testbed.wire import Fired
from skyweave.triggers.act import facts
from skyweave.triggers.machine import Event
from skyweave.triggers.replay import Row, replay
from skyweave.triggers.spec import TriggerFile, read_triggers
from skyweave.triggers.watch import Watch

MOST_CONTEXT = 100_000
FILE = "triggers.toml"
HINTS = "hints.sock"
"""The socket of docs/awareness.md, in the node's folder."""


class Firing:
    """The triggers of a node; :meth:`run` watches until it is stopped."""

    def __init__(
        self, triggers: TriggerFile, fires: dict[str, str], book: Book, *,
        offset_s: Callable[[], float], wake: Callable[[], object], say: Callable[[str], object],
        outlet: Outlet | None = None,
    ) -> None:  # fmt: skip
        """``fires``: experiments by the names of their triggers; ``offset_s``: of this clock.

        ``outlet``: what publishes samples, firings and forecasts, if they are. Raises
        :class:`ConfigError` for a trigger that the file does not have.
        """
        names = [one.name for one in triggers.trigger]
        for name in fires:
            if name not in names:
                raise ConfigError(f"fires.{name}: no trigger has that name; {suggest(name, names)}")
        self._triggers, self._fires, self._book = triggers, fires, book
        self._offset_s, self._wake, self._say = offset_s, wake, say
        self._outlet = outlet

    @classmethod
    def of(
        cls, folder: Path, fires: dict[str, str], hints: dict[str, str], book: Book, *,
        offset_s: Callable[[], float], wake: Callable[[], object], say: Callable[[str], object],
    ) -> Firing | None:  # fmt: skip
        """Return the triggers of a node's folder; ``None`` if the policy wants nothing of them.

        ``hints``: files of predictors in that folder, by the series that they foresee.
        """
        if not fires and not hints:
            return None
        triggers = read_triggers(folder / FILE)
        outlet = Outlet(folder / HINTS, _predictors(folder, hints, triggers)) if hints else None
        return cls(triggers, fires, book, offset_s=offset_s, wake=wake, say=say, outlet=outlet)

    def run(self, stop: threading.Event) -> None:
        """Watch the file's sources, again and again if they fail."""
        with ExitStack() as stack:
            if self._outlet is not None:
                try:
                    stack.enter_context(self._outlet)
                except SkyweaveError as error:  # triggers do not need it
                    self._say(f"hints: {error}")
                    self._outlet = None
            self._go_on(stop)

    def _go_on(self, stop: threading.Event) -> None:
        backoff, said = Backoff(), ""
        while not stop.is_set():
            ended = threading.Event()
            threading.Thread(target=_both, args=(stop, ended), daemon=True).start()
            try:
                self.watch(Watch(self._triggers, ended, self._say).rows())
            except SkyweaveError as error:
                if str(error) != said:
                    said = str(error)
                    self._say(f"triggers: {said}")
            finally:
                ended.set()
            stop.wait(backoff.failed())

    def watch(self, rows: Iterable[Row]) -> None:
        """Tell what fires on samples; a full disk loses a firing, and says so."""
        passing = rows if self._outlet is None else self._outlet.samples(iter(rows))
        for event in replay(self._triggers, passing):
            if event.what == "fired" and self._outlet is not None:
                self._outlet.fired(event)
            if event.what == "fired" and event.trigger in self._fires:
                try:
                    self._tell(event)
                except SkyweaveError as error:
                    self._say(f"trigger {event.trigger}: {error}")

    def _tell(self, event: Event) -> None:
        offset = self._offset_s()
        start = None if event.start_unix_s is None else event.start_unix_s + offset
        said = Fired(
            experiment=self._fires[event.trigger], trigger=event.trigger, start_unix_s=start,
            context_json=_context(event),
        )  # fmt: skip
        self._book.tell(said, event.time_unix_s + offset)
        self._wake()


def _context(event: Event) -> str:
    """Return a firing with the newest samples before it, as many as a message takes."""
    found = facts(event)
    context = event.context
    while True:
        text = json.dumps(found, allow_nan=False)
        if len(text) <= MOST_CONTEXT:
            return text
        context = context[len(context) // 2 + 1 :]
        found = facts(Event(event.time_unix_s, event.trigger, event.what, event.start_unix_s,
                            context))  # fmt: skip


def _predictors(
    folder: Path, hints: Mapping[str, str], triggers: TriggerFile
) -> dict[str, PredictorFile]:
    """Read the predictors of series; :class:`ConfigError` for a series that is no number here."""
    numbers = [name for name, kind in triggers.known.items() if kind == "number"]
    for name in hints:
        if name not in numbers:
            raise ConfigError(
                f"hints.{name}: {FILE} has no number of that name; {suggest(name, numbers)}"
            )
    return {name: read_predictor(folder / file) for name, file in hints.items()}


def _both(stop: threading.Event, ended: threading.Event) -> None:
    """Set ``ended`` when ``stop`` is, and end with either."""
    while not ended.is_set():
        if stop.wait(1.0):
            ended.set()
