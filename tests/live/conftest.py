"""What tests of the live engine share; they are skipped, with the reason, where no world can be made."""

from __future__ import annotations

import pytest

from skyweave.live.world import obstacle


@pytest.fixture(scope="session", autouse=True)
def _able() -> None:
    reason = obstacle()
    if reason is not None:
        pytest.skip(f"no emulated network here: {reason}")
