"""The shell completes commands, groups and options."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = "import sys; sys.argv = ['skyweave']; from skyweave.cli import main; main()"


def completed(line: str) -> list[str]:
    """Return what the shell is offered for the last word of a line."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        check=True,
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "_SKYWEAVE_COMPLETE": "complete_bash",
            "COMP_WORDS": line,
            "COMP_CWORD": str(line.count(" ")),
        },
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("skyweave com", "compare"),
        ("skyweave data syn", "synthesise"),
        ("skyweave bench emu", "emulator"),
        ("skyweave run --max", "--max-runs"),
        ("skyweave run alcs/sat", "alcs/satellites"),
    ],
)
def test_what_a_shell_is_offered(line: str, offered: str) -> None:
    assert completed(line) == [offered]
