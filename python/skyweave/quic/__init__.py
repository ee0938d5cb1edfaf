"""Multipath QUIC on sockets: ``skyweave quic serve`` and ``skyweave quic get``."""

__all__: list[str] = []
