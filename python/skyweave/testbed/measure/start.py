"""A measurement server made from its folder; what it needs of the machine is checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from skyweave.testbed.errors import TestbedError
from skyweave.testbed.measure.server import MeasureServer
from skyweave.testbed.node.book import Book
from skyweave.testbed.node.home import Home
from skyweave.testbed.node.sandbox import Groups, lacking
from skyweave.testbed.node.talk import Talk
from skyweave.testbed.node.tools import alone


@contextmanager
def serving(folder: Path, first_port: int, say: Callable[[str], object]) -> Iterator[MeasureServer]:
    """Yield the server of a folder; it is the only one there while this lasts.

    Raises :class:`TestbedError` for what is missing or wrong.
    """
    home = Home(folder)
    who = home.identity()
    if who.kind != "server" or who.address is None:
        raise TestbedError(f"{folder}: joined as a node; 'skyweave node run' is for it")
    if (why := lacking()) is not None:
        raise TestbedError(why)
    with alone(folder):
        link = home.link()
        try:
            talk = Talk(who.name, who.orchestrator_key, link, Book(home.book), folder, say=say)
            yield MeasureServer(
                talk, who.address, folder, Groups.found(home.mark), say=say, first_port=first_port
            )
        finally:
            link.close()
