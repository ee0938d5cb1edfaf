"""Servers of files for the tests of ``skyweave quic``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from quic_ends import Running, Serve, start, stop


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Start servers of a folder ``files``; they end with the test."""
    root = tmp_path / "files"
    root.mkdir()
    servers: list[Running] = []

    def begin(*more: str, **place: object) -> Running:
        servers.append(start(root, *more, **place))  # type: ignore[arg-type]
        return servers[-1]

    yield begin
    for server in servers:
        stop(server)
