"""Multipath QUIC on sockets: ``skyweave quic serve`` and ``skyweave quic get``."""
