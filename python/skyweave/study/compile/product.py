"""The settings of a block, multiplied out: one value each, in every combination."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

from skyweave.model import config
from skyweave.study.language.flows import Flow, Mix, mixes
from skyweave.study.language.plan import Compare
from skyweave.study.language.settings import TABLE, Belongs, Settings

BUFFERS = ("buffer_mb", "send_buffer_mb", "receive_buffer_mb")
Chosen = dict[str, Any]
"""One value for each setting, by name, and ``mix``: the flows of the run."""
_BY_ITSELF = ("direction", "transport", "congestion", *BUFFERS)
"""Settings that multiply in a way of their own; all others do as the table says."""


def merged(common: Settings, block: Compare) -> dict[str, Any]:
    """Return the block's settings, then the common ones, then the defaults."""
    found = {}
    for name, about in TABLE.items():
        own, shared = getattr(block, name), getattr(common, name)
        given = shared if own is None else own
        found[name] = about.fallback if given is None else given
    return found


def chosen(settings: dict[str, Any], common: Settings, block: Compare) -> list[Chosen]:
    """Return each combination of the settings that every transport has."""
    names = [
        name
        for name, about in TABLE.items()
        if about.expands and not about.inner and name not in _BY_ITSELF
    ]
    alone: list[Mix] = [(Flow(choice),) for choice in settings["congestion"]]
    return [
        {"mix": mix, "send_buffer_mb": send, "receive_buffer_mb": receive}
        | dict(zip(names, values, strict=True))
        for send, receive in _buffers(common, block)
        for mix in (mixes(block.flows) if block.flows else alone)
        for values in itertools.product(*(settings[name] for name in names))
    ]


def how_many(settings: dict[str, Any], common: Settings, block: Compare) -> int:
    """Return how many runs of one path set on one drive the settings ask for, at the most.

    Nothing is multiplied out for it; transports do not have all of the settings.
    """
    lengths = [
        len(settings[name])
        for name, about in TABLE.items()
        if about.expands and name not in BUFFERS and name != "congestion"
    ]
    flows = [len(one.congestion) for one in block.flows or ()] or [len(settings["congestion"])]
    buffers = [len(sizes) for sizes in _sizes(common, block)]
    return math.prod([*lengths, *flows, *buffers])


def _sizes(common: Settings, block: Compare) -> list[tuple[float, ...]]:
    """Return the sizes of each buffer; one list if they are the same for both.

    What a block says of one buffer goes before what is said of both.
    """
    both = block.buffer_mb or common.buffer_mb
    if both and not (block.send_buffer_mb or block.receive_buffer_mb):
        return [both]
    return [
        getattr(block, name)
        or block.buffer_mb
        or getattr(common, name)
        or common.buffer_mb
        or TABLE[name].fallback
        for name in ("send_buffer_mb", "receive_buffer_mb")
    ]


def _buffers(common: Settings, block: Compare) -> list[tuple[float, float]]:
    """Return each combination of a sender's and a receiver's buffer."""
    return [(one[0], one[-1]) for one in itertools.product(*_sizes(common, block))]


def of_transport(
    transport: config.Transport, settings: dict[str, Any], one: Chosen
) -> Iterator[dict[str, Any]]:
    """Yield the fields of a connection that only some transports have, in each combination."""
    rooms: dict[str, tuple[Belongs, ...]] = {
        "mptcp": ("mptcp", "multipath"),
        "mpquic": ("mpquic", "multipath"),
    }
    own = [name for name, about in TABLE.items() if about.of in rooms.get(transport, ())]
    inner = [name for name in own if TABLE[name].inner]
    outer = {name: one[name] for name in own if name in one}
    for values in itertools.product(*(settings[name] for name in inner)):
        yield _nested({**outer, **dict(zip(inner, values, strict=True))})


def _nested(given: dict[str, Any]) -> dict[str, Any]:
    """Put what a model within the connection holds into that model."""
    quic = {name: given.pop(name) for name in config.Quic.model_fields if name in given}
    return {**given, "quic": config.Quic(**quic)} if quic else given


def of(belongs: Belongs, one: Chosen) -> dict[str, Any]:
    """Return the chosen values of what belongs there, by name."""
    return {name: one[name] for name, about in TABLE.items() if about.of == belongs}
