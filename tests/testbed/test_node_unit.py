"""The units of systemd: systemd itself finds nothing wrong with them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Literal

import pytest

from skyweave.errors import ConfigError
from skyweave.testbed.node.unit import unit


@pytest.mark.parametrize("kind", ["node", "server"])
def test_systemd_takes_the_unit(kind: Literal["node", "server"], tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze here; apt install systemd")
    file = tmp_path / f"skyweave-{kind}.service"
    file.write_text(unit(kind, Path("/var/lib/skyweave-node")))
    ran = subprocess.run(
        ["systemd-analyze", "verify", "--recursive-errors=no", str(file)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, "")
    file.write_text(file.read_text().replace("Type=exec", "Type=nosuch"))
    ran = subprocess.run(
        ["systemd-analyze", "verify", str(file)], capture_output=True, text=True, check=False
    )
    assert "nosuch" in ran.stderr  # it does look


def test_a_name_that_systemd_would_take_apart_is_refused() -> None:
    for name in ("/var/lib/a b", "relative", "/var/%h", "/x;y", "/a\nExecStartPre=/bin/sh"):
        with pytest.raises(ConfigError, match="absolute path"):
            unit("node", Path(name))
