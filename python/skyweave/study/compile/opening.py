"""The connections that a player opens before the one that it plays over.

VLC 3.0 asks for the whole film, reads its index, asks on a second connection for what lies past the
end (the server refuses), closes the first one when that answer is there, and plays over a third
from where it had read to. What the first one brought beyond the index is thrown away.
"""

from __future__ import annotations

from skyweave.model import config

REFUSAL_BYTES = 197
"""Body of the refusal (416, RFC 9110, section 15.5.17) as nginx sends it."""
_HEAD_BYTES = 8
_MORE_THAN_IS_READ = 2**30


def opened(
    connections: tuple[config.Connection, ...], engine: str
) -> tuple[config.Connection, ...]:
    """Return the connections of a run with those that its players open first, at the end.

    Players have them where the workload says ``index_bytes``, and the simulator runs the film over
    TCP or Multipath TCP: real players open their own, and over multipath QUIC a film has a stream.
    """
    films, first = list(connections), list[config.Connection]()
    for place, film in enumerate(connections):
        index_bytes = getattr(film.workload, "index_bytes", 0)
        if not index_bytes:
            continue
        if engine != "sim" or film.transport == "mpquic":
            films[place] = _with(film, index_bytes=0)
            continue
        at = len(films) + len(first)
        first += _first(film, place, at)
        after = config.After(connection=at + 1, bytes=_HEAD_BYTES + REFUSAL_BYTES)
        films[place] = film.model_copy(update={"after": after})
    return (*films, *first)


def _first(film: config.Connection, place: int, at: int) -> list[config.Connection]:
    """Return the connection of the index, which will be at ``at``, and that of the question."""
    index_bytes: int = getattr(film.workload, "index_bytes")  # noqa: B009 (a field of films alone)
    read = config.After(connection=at, bytes=_HEAD_BYTES + index_bytes)
    index = film.model_copy(update={"workload": _fetch(_MORE_THAN_IS_READ), "until": place})
    question = film.model_copy(update={"workload": _fetch(REFUSAL_BYTES), "after": read})
    return [index, question]


def _fetch(object_bytes: int) -> config.Workload:
    fields = {"kind": "requests", "direction": "down", "object_bytes": [object_bytes]}
    return config.Workload.model_validate(fields)


def _with(film: config.Connection, **changes: object) -> config.Connection:
    workload = film.workload.model_copy(update=changes)
    return film.model_copy(update={"workload": workload})
