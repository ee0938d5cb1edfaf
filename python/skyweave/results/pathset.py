"""Which paths a connection uses together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema


class PathSet(str):
    """The names of one or more paths, in the order in which they are joined.

    Equal to its text, as study files and records write it; who needs the paths takes ``names``.

    >>> pair = PathSet.of(["SL", "VZ"])
    >>> pair, pair.names, pair.is_bonded, pair.alone
    ('SL+VZ', ('SL', 'VZ'), True, ('SL', 'VZ'))
    """

    names: tuple[str, ...]

    def __new__(cls, text: str) -> PathSet:
        """Read a set as it is written: names with ``+`` between them."""
        made = super().__new__(cls, text)
        made.names = tuple(text.split("+"))
        return made

    @classmethod
    def of(cls, names: Iterable[str]) -> PathSet:
        """Return the set of these paths."""
        return cls("+".join(names))

    @property
    def alone(self) -> tuple[PathSet, ...]:
        """Each of its paths as a set of its own."""
        return tuple(PathSet(name) for name in self.names)

    @property
    def is_bonded(self) -> bool:
        """Whether it has two paths or more."""
        return len(self.names) > 1

    @property
    def is_pair(self) -> bool:
        """Whether it has two paths."""
        return len(self.names) == 2

    @classmethod
    def __get_pydantic_core_schema__(
        cls, _source: Any, _handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(cls, core_schema.str_schema())
