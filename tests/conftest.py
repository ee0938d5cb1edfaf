"""Where the real measurements lie, for all folders of tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def data_with() -> Callable[[str], Path]:
    """Find the folder of real data sets that holds one of them; without it the test is skipped.

    $SKYWEAVE_DATA, else ../shared/data beside the repository.
    """

    def find(name: str) -> Path:
        places = [os.environ.get("SKYWEAVE_DATA"), REPOSITORY.parent / "shared" / "data"]
        for place in filter(None, places):
            if (Path(place) / name).is_dir():
                return Path(place)
        pytest.skip(f"no real data here: set SKYWEAVE_DATA to a folder with {name}, …")

    return find
