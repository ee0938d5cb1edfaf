"""Attacks on the programs around the library: each is a test that failed before its remedy."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path += [str(Path(__file__).parents[1] / room) for room in ("quic", "study")]

from quic_ends import serve

__all__ = ["serve"]
