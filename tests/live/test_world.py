"""A world is made whole or not at all, and leaves nothing behind however it ends."""

from __future__ import annotations

import errno
import gc
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from made_paths import path
from marks import child, marked

from skyweave.live.errors import LiveError
from skyweave.live.world import world as worlds
from skyweave.live.world.control import clear_away
from skyweave.live.world.world import World

PATHS = [path("starlink", 50.0, 30.0), path("Verizon 5G", 100.0, 54.0, backup=True)]


def held() -> tuple[list[str], list[str]]:
    """What could hold a namespace besides a process and a descriptor: mounts; and our devices.

    Those below /run/netns have names, which a world never gives: they are of tests beside this one.
    """
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    nsfs = [line for line in mounts if " - nsfs " in line and " /run/netns/" not in line]
    return nsfs, sorted(device.name for device in Path("/sys/class/net").iterdir())


def descriptors() -> list[str]:
    """What this process has open, without cycles that nobody collected yet."""
    gc.collect()
    return sorted(
        str(one.readlink()).partition(":[")[0]
        for one in Path("/proc/self/fd").iterdir()
        if one.is_symlink()  # all but the one that was listed by
    )


@pytest.mark.alone
@pytest.mark.timeout(900)  # a world takes six seconds where four programs want its core
def test_fifty_worlds_leave_no_namespace_device_process_or_descriptor(mark: bytes) -> None:
    with World(PATHS):
        pass
    before, held_before = descriptors(), held()
    for _ in range(50):
        with World(PATHS) as world:
            world.start(100)
            assert len(marked(mark)) >= 4  # unshare, the first process, an agent on each side
            world.finish()
        assert not marked(mark)
    assert (descriptors(), held()) == (before, held_before)


def test_a_killed_world_is_said_and_gone(mark: bytes) -> None:
    with World(PATHS) as world:
        world.start(100)
        os.kill(child(mark), signal.SIGKILL)  # "unshare", the parent of all others
        with pytest.raises(LiveError, match="ended before its time"):
            world.ask(world.client, {"do": "run", "argv": ["sleep", "60"], "cwd": "/"})
    while marked(mark):  # the kernel takes them away; the test's time limit is the limit
        pass


def test_a_killed_shell_leaves_nothing(mark: bytes, tmp_path: Path) -> None:
    """SIGKILL of the command line itself: nobody is left to clean up but the kernel."""
    ready = tmp_path / "ready"
    inside = f"touch {ready}; sleep 1000"
    command = [sys.executable, "-c", "from skyweave.cli import main; main()", "shell"]
    command += ["--path", "a=down=10,up=10", "--server-run", "sleep 1000", "--", "sh", "-c", inside]
    process = subprocess.Popen(command)
    while not ready.exists():
        assert process.poll() is None
    assert len(marked(mark)) >= 5
    process.kill()
    process.wait()
    while marked(mark):
        pass
    left = [folder for folder in folders() if f"-{process.pid}-" in folder.name]
    assert len(left) == 1  # its socket; the next shell removes it
    clear_away()
    assert not left[0].exists()


def folders() -> list[Path]:
    return list(Path(tempfile.gettempdir()).glob("skyweave-shell-*"))


def test_the_hosts_own_addresses_cannot_clash() -> None:
    """Two worlds with the same addresses live side by side."""
    with World(PATHS) as one, World(PATHS) as other:
        for world in (one, other):
            world.start(100)
            argv = ["ping", "-c", "1", "-W", "60", "server.starlink"]
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


@pytest.mark.parametrize(("user", "advice"), [(0, "--device /dev/net/tun"), (1000, "chmod 666")])
def test_a_tun_device_that_may_not_be_opened_is_named(
    monkeypatch: pytest.MonkeyPatch, user: int, advice: str
) -> None:
    """As in a container that has not been given it, or where its mode is 600."""

    def refuse(*_: object) -> int:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(worlds.os, "open", refuse)
    monkeypatch.setattr(worlds.os, "geteuid", lambda: user)
    reason = worlds.obstacle() or ""
    assert "/dev/net/tun" in reason
    assert advice in reason


def test_a_world_of_32_paths_has_ipv6_and_says_nothing_by_itself() -> None:
    """Each path is reached in both versions of IP, and links carry what was sent and no more."""
    many = [path(f"p{number}", 10.0, 1.0) for number in range(32)]
    with World(many, ipv6=True) as world:
        world.start(100)
        each = "for n in $(seq 0 31); do ping -qc1 -W60 $s.p$n || exit 1; done"
        script = "".join(f"s={server}; {each}; " for server in ("server", "server6"))
        argv = ["sh", "-c", f"({script}) >/dev/null; ip mptcp endpoint | wc -l | grep -qx 8"]
        ask = {"do": "run", "argv": argv, "cwd": "/"}
        assert world.ask(world.client, ask, timeout_s=None)["code"] == 0
        links = world.finish()["statistics"]["links"]
    assert {link["delivered_packets"] for link in links.values()} == {2}
    assert len(links) == 64


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_an_ordinary_user_gets_a_world_of_its_own(tmp_path: Path) -> None:
    """Where user namespaces are allowed; nobody is as ordinary as a user can be."""
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    probe = 'unshare --user --map-root-user --net --mount --pid --fork "$0" -c "import skyweave"'
    tried = subprocess.run(
        [*nobody, "sh", "-c", probe, sys.executable], cwd="/", capture_output=True, check=False
    )
    if tried.returncode != 0:
        pytest.skip("user namespaces, or this installation, are closed to other users")
    shell = "from skyweave.cli import main; main()"
    arguments = ["shell", "--quiet", "--path", "a=down=10,up=10", "--", "ping", "-c1", "server"]
    done = subprocess.run(
        [*nobody, sys.executable, "-c", shell, *arguments],
        cwd="/", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
