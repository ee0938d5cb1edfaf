"""Servers of files for the tests of ``skyweave quic``."""

from quic_ends import serve

__all__ = ["serve"]
