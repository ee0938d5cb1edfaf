"""Where the real measurements lie."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def real() -> Path:
    """The folder of real data sets: $SKYWEAVE_DATA, else ../shared/data beside the repository."""
    places = [os.environ.get("SKYWEAVE_DATA"), REPOSITORY.parent / "shared" / "data"]
    for place in filter(None, places):
        if (Path(place) / "mmsys24_starlink_isl_noisl").is_dir():
            return Path(place)
    pytest.skip("no real data here: set SKYWEAVE_DATA to a folder with mmsys24_…, satcell, …")
