"""A world is made whole or not at all, and leaves nothing behind however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from made_paths import path

from skyweave.live import world as worlds
from skyweave.live.errors import LiveError
from skyweave.live.world import World

PATHS = [path("starlink", 50.0, 30.0), path("Verizon 5G", 100.0, 54.0, backup=True)]


def namespaces() -> set[str]:
    """All network namespaces that some process is in."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found.add(os.readlink(entry / "ns/net"))
            except OSError:
                continue
    return found


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_fifty_worlds_leave_no_namespace_process_or_descriptor() -> None:
    with World(PATHS):
        pass
    before, open_before = namespaces(), descriptors()
    for _ in range(50):
        with World(PATHS) as world:
            world.start(100)
            world.finish()
    assert namespaces() == before
    assert descriptors() == open_before
    assert not children()


def children() -> str:
    own = Path(f"/proc/self/task/{os.getpid()}/children")
    return own.read_text() if own.exists() else ""


def test_a_killed_world_is_said_and_gone() -> None:
    before = namespaces()
    with World(PATHS) as world:
        world.start(100)
        (first,) = (int(pid) for pid in children().split())
        os.kill(first, signal.SIGKILL)
        with pytest.raises(LiveError, match="ended before its time"):
            world.ask(world.client, {"do": "run", "argv": ["sleep", "60"], "cwd": "/"})
    assert namespaces() == before


def test_the_hosts_own_addresses_cannot_clash() -> None:
    """Two worlds with the same addresses live side by side."""
    with World(PATHS) as one, World(PATHS) as other:
        for world in (one, other):
            world.start(100)
            argv = ["ping", "-c", "1", "-W", "5", "server.starlink"]
            assert world.ask(world.client, {"do": "run", "argv": argv, "cwd": "/"})["code"] == 0


def test_what_cannot_be_made_is_said_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    bad = PATHS[0].model_copy(update={"name": "x" * 40})
    with World([bad]) as world:  # a long name is no device name, and no obstacle
        world.start(100)
    monkeypatch.setattr(worlds, "_unshare", lambda: ["unshare", "--net", "--no-such-option"])
    with pytest.raises(LiveError, match="no emulated network can be made"), World(PATHS):
        pass


def test_a_missing_tun_device_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(worlds, "TUN", tmp_path / "tun")
    assert "modprobe tun" in (worlds.obstacle() or "")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_an_ordinary_user_gets_a_world_of_its_own(tmp_path: Path) -> None:
    """Where user namespaces are allowed; nobody is as ordinary as a user can be."""
    script = (
        "from skyweave.live.world import obstacle; import sys; sys.exit(bool(obstacle()))"
    )
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    tried = subprocess.run([*nobody, sys.executable, "-c", script], cwd="/", check=False)
    if tried.returncode != 0:
        pytest.skip("user namespaces, or this installation, are closed to other users")
    shell = "from skyweave.cli import main; main()"
    arguments = ["shell", "--quiet", "--path", "a=down=10,up=10", "--", "ping", "-c1", "server"]
    done = subprocess.run(
        [*nobody, sys.executable, "-c", shell, *arguments],
        cwd="/", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
