"""Where the real measurements lie."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def real(data_with: Callable[[str], Path]) -> Path:
    """The folder of real data sets."""
    return data_with("tle_snapshots")
