"""A part of a file: what a request asks for (RFC 9110, section 14)."""

from __future__ import annotations

import re
from typing import NamedTuple

from starlette.datastructures import Headers

_ONE = re.compile(r"bytes=(\d{1,15})-(\d{1,15})?")


class Part(NamedTuple):
    """Bytes from ``begin`` to before ``end`` of a file; ``is_whole`` if nothing less was asked."""

    begin: int
    end: int
    is_whole: bool = False


def part_of(headers: Headers, size: int, tag: str) -> Part | None:
    """Return what is asked for; None if it begins behind the end (416).

    One range with a beginning is understood; others, and those of another file, bring all of it.

    >>> part_of(Headers({"range": "bytes=3-"}), 10, '"x"')
    Part(begin=3, end=10, is_whole=False)
    >>> part_of(Headers({"range": "bytes=10-"}), 10, '"x"') is None
    True
    """
    found = _ONE.fullmatch(headers.get("range", ""))
    if found is None or headers.get("if-range", tag) != tag:
        return Part(0, size, True)
    begin = int(found[1])
    end = size if found[2] is None else min(int(found[2]) + 1, size)
    if found[2] is not None and int(found[2]) < begin:
        return Part(0, size, True)  # no range: section 14.1.1
    return Part(begin, end) if begin < size else None
