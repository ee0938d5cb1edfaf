"""Random streams of a study's own: one for each purpose, from a seed and names alone."""

from __future__ import annotations

import hashlib

import numpy as np


def stream(purpose: str, seed: int, name: str = "") -> np.random.Generator:
    """Return a generator that no other purpose, seed or name shares.

    >>> stream("a", 1).random() == stream("a", 1).random() != stream("b", 1).random()
    True
    """
    digest = hashlib.sha256(f"{purpose}\0{seed}\0{name}".encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "big")))
