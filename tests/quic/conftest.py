"""Servers of files for the tests of ``skyweave quic``."""

from importlib.util import find_spec

from quic_ends import serve

__all__ = ["serve"]

collect_ignore = [] if find_spec("aioquic") else ["foreign.py"]
"""What cannot be imported has no examples to try."""
