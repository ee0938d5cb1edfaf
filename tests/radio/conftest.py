"""Where the measured logs of all cells lie."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

SET = "icnp21_multicell_rsrp_la"


@pytest.fixture(scope="session")
def logs(data_with: Callable[[str], Path]) -> Path:
    """The folder of measured logs of all cells: att/ and tmobile/."""
    return data_with(SET) / SET
