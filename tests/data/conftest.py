"""Where the real measurements lie, and tiny drives made up for tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from skyweave.model.drive import Drive, PathTrace, Series


@pytest.fixture(scope="session")
def real(data_with: Callable[[str], Path]) -> Path:
    """The folder of real data sets."""
    return data_with("satcell")


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request) -> None:
    """No test reads the user's cache or data folder by accident."""
    if "real" not in request.fixturenames:
        monkeypatch.delenv("SKYWEAVE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def drive() -> Drive:
    times_s = np.arange(4.0)
    return Drive(
        name="made-up",
        origin="a test",
        paths={
            "starlink": PathTrace(
                downlink_mbps=Series(times_s, np.array([10.0, 0.0, np.nan, 30.5])),
                rtt_ms=Series(times_s, np.array([40.0, 41.25, 42.0, 50.0])),
            ),
            "att": PathTrace(downlink_mbps=Series(times_s, np.array([1.0, 0.0, 3.0, 4.0]))),
        },
    )


@pytest.fixture
def write(tmp_path: Path):
    """Write a text as a file and give its path."""

    def make(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return make
