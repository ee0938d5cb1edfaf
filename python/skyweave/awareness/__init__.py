"""The awareness library: who asks learns what a path does now and next; docs/awareness.md.

* ``reader``: what waits for one reader, bounded; ``publisher``: a Unix socket that all may ask
* ``client``: asks it from Python; ``crates/awareness`` does from Rust
* ``hint``: the little that a transport needs; ``page``: that in shared memory, for any language
* ``steer``: Linux' Multipath TCP leaves a path before an outage

A consumer without valid hints (late, wrong, none) behaves as without this library.
"""

from skyweave.awareness.client import Awareness
from skyweave.awareness.hint import Hint, Kind, hint_of
from skyweave.awareness.page import PageReader, PageWriter
from skyweave.awareness.publisher import LEVELS, Level, Publisher

__all__ = [
    "LEVELS", "Awareness", "Hint", "Kind", "Level", "PageReader", "PageWriter", "Publisher",
    "hint_of",
]  # fmt: skip
