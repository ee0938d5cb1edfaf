"""The words of a name: of a column, or of a file."""

from __future__ import annotations

import re

_BORDERS = re.compile(r"(?<=[a-z])(?=[A-Z])")
_BETWEEN = re.compile(r"[^a-z0-9&]+")


def words_of(name: str) -> list[str]:
    """The words of a name in small letters.

    >>> words_of("downloadMbps"), words_of("Time (s)"), words_of("AT&T_dl.mbps")
    (['download', 'mbps'], ['time', 's'], ['at&t', 'dl', 'mbps'])
    """
    return [word for word in _BETWEEN.split(parted(name[:200]).lower()) if word]


def parted(name: str) -> str:
    """A name with a space before each capital that follows a small letter.

    >>> parted("downloadMbps")
    'download Mbps'
    """
    return _BORDERS.sub(" ", name)
