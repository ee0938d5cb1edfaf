"""Where the measured logs of all cells lie."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
SET = "icnp21_multicell_rsrp_la"


@pytest.fixture(scope="session")
def logs() -> Path:
    """The folder of measured logs of all cells: att/ and tmobile/."""
    places = [os.environ.get("SKYWEAVE_DATA"), REPOSITORY.parent / "shared" / "data"]
    for place in filter(None, places):
        if (Path(place) / SET).is_dir():
            return Path(place) / SET
    pytest.skip(f"no real data here: set SKYWEAVE_DATA to a folder with {SET}")
