"""A command behind ``mm-delay 30 mm-link …``: the delay is there, the code comes out."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = "import sys; from skyweave.cli.mahimahi import mm_delay; mm_delay()"


def behind(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )


@pytest.mark.skipif(shutil.which("ping") is None, reason="there is no ping")
def test_a_ping_takes_the_round_trip_and_its_code_comes_out(tmp_path: Path) -> None:
    (tmp_path / "trace").write_text("1\n")
    trace = str(tmp_path / "trace")
    inner = ["mm-link", trace, trace, "--", "sh", "-c", "ping -c 3 $MAHIMAHI_BASE; exit 7"]
    done = behind("30", *inner)
    assert done.returncode == 7, done.stderr
    smallest = re.search(r"= ([0-9.]+)/", done.stdout)
    assert smallest is not None
    assert float(smallest[1]) >= 60


def test_nothing_nests_in_a_world_that_runs() -> None:
    done = behind("30", "true", SKYWEAVE_CONTROL="/nowhere")
    assert done.returncode == 2
    assert "nest on one line" in done.stderr
