"""The command line knows its commands without importing them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from skyweave.cli import app as cli
from skyweave.cli.bench import app as bench
from skyweave.cli.lazy import Later

HEAVY = ("numpy", "polars", "matplotlib", "pydantic", "jinja2", "pyroute2", "pooch")


ENTRIES = [*cli.COMMANDS.items(), *bench.COMMANDS.items()]


def words(text: str) -> str:
    """Return the first paragraph, which is all that a list of commands shows."""
    return " ".join(text.split("\n\n")[0].split())


@pytest.mark.parametrize(("name", "later"), ENTRIES)
def test_what_is_said_of_a_command_is_what_it_says_itself(name: str, later: Later) -> None:
    command = later.load(name)
    assert command.name == name
    assert words(command.help) == later.help


def imported(*arguments: str) -> set[str]:
    """Return the modules that a command line has imported by its end."""
    program = (
        "import json, sys\n"
        "from skyweave.cli import main\n"
        f"sys.argv = {['skyweave', *arguments]!r}\n"
        "try:\n    main()\n"
        "except SystemExit:\n    pass\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert done.stdout
    return set(json.loads(done.stderr))


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_and_version_import_nothing_heavy(arguments: list[str]) -> None:
    modules = imported(*arguments)
    assert not modules.intersection(HEAVY)
    ours = {name for name in modules if name.startswith("skyweave.")}
    assert len(ours) < 10, ours


def test_a_command_of_a_group_leaves_the_others_alone() -> None:
    modules = imported("bench", "--help")
    assert not modules.intersection({"numpy", "polars", "matplotlib", "skyweave.cli.bench.sim"})


def test_a_wrong_name_gets_the_closest_one() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "skyweave.cli", "repport"], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "report" in done.stderr
