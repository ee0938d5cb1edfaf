"""The socket of a shell: whatever is said there is answered, and silence blocks nobody."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from skyweave.errors import SkyweaveError
from skyweave.live.errors import LiveError
from skyweave.live.world.clients import LONGEST, MOST
from skyweave.live.world.control import VARIABLE, Control, tell_shell
from skyweave.live.world.folder import LOCK, PREFIX, ShellFolder, clear_away
from skyweave.live.world.messages import Channel, Message

CHANGE: Message = {
    "do": "change",
    "path": "a",
    "direction": "down",
    "change": {"capacity": {"kind": "constant", "mbps": 5.0}},
}


class Links:
    """Notes what reaches the world."""

    def __init__(self) -> None:
        self.asked: list[Message] = []

    def ask_links(self, message: Message) -> Message:
        if message.get("path") == "nowhere":
            raise LiveError("there is no path 'nowhere'")
        self.asked.append(message)
        return {}


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Give a folder with a short name: that of a UNIX socket has 107 bytes at most (unix(7))."""
    with tempfile.TemporaryDirectory(prefix="sw-") as name:
        yield Path(name)


@pytest.fixture
def links(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Links]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = Links()
    with Control(found) as control:
        monkeypatch.setenv(VARIABLE, control.environment[VARIABLE])
        yield found


def connected() -> socket.socket:
    end = socket.socket(socket.AF_UNIX)
    end.settimeout(60)
    end.connect(os.environ[VARIABLE])
    return end


def said(end: socket.socket, line: bytes) -> Any:
    end.sendall(line + b"\n")
    return Channel(end).receive(60)


BAD = [
    b"",
    b"null",
    b"[]",
    b"7",
    b'"do"',
    b"{}",
    b"not json",
    b"\xff\xfe",
    b"[" * 30_000,
    b'{"do": "finish"}',
    b'{"do": "start", "epoch_ns": 0}',
    b'{"do": "statistics"}',
    b'{"do": ["change"]}',
    b'{"do": "change"}',
    b'{"do": "path", "name": "a", "up": "perhaps"}',
    json.dumps(CHANGE | {"path": 7}).encode(),
    json.dumps(CHANGE | {"direction": "sideways"}).encode(),
    json.dumps(CHANGE | {"change": {"colour": 1}}).encode(),
    json.dumps(CHANGE | {"change": {"capacity": {"kind": "constant", "mbps": -1}}}).encode(),
    json.dumps(CHANGE | {"change": {"delay": {"kind": "constant", "ms": float("nan")}}}).encode(),
    json.dumps(CHANGE | {"path": "nowhere"}).encode(),
]


@pytest.mark.parametrize("line", BAD)
def test_what_is_no_request_is_answered_and_reaches_nothing(links: Links, line: bytes) -> None:
    with connected() as end:
        answer = said(end, line)
        assert set(answer) == {"error"}
        assert "\n" not in answer["error"]
        assert not links.asked
        assert said(end, json.dumps(CHANGE).encode()) == {}  # the same client may go on
    assert links.asked == [CHANGE]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(some.binary(max_size=300))
def test_any_bytes_are_answered(links: Links, line: bytes) -> None:
    with connected() as end:
        assert "error" in said(end, line.replace(b"\n", b" "))
    assert not links.asked


def flood(end: socket.socket) -> None:
    """Say something until that is not possible any more."""
    while True:
        end.sendall(b"{}\n" * 1000)


def test_a_long_message_is_refused(links: Links) -> None:
    with connected() as end:
        end.sendall(b"x" * (LONGEST + 5000))
        answer = Channel(end).receive(60)
        assert answer == {"error": f"a message has at most {LONGEST} bytes"}
        with pytest.raises(OSError, match=r"reset|Broken"):
            flood(end)


def test_silent_clients_block_nobody(links: Links) -> None:
    silent = [connected() for _ in range(5)]
    silent[0].sendall(b'{"do": ')
    tell_shell(CHANGE)
    assert links.asked == [CHANGE]
    assert said(silent[1], json.dumps(CHANGE).encode()) == {}  # they are not cut off for it
    silent[0].sendall(b'"nothing"}\n')
    assert "error" in (Channel(silent[0]).receive(60) or {})
    for end in silent:
        end.close()


def test_of_too_many_clients_the_most_silent_goes(links: Links) -> None:
    ends = []
    for _ in range(MOST):
        ends.append(connected())
        assert "error" in said(ends[-1], b"{}")  # it was accepted
    assert said(ends[0], json.dumps(CHANGE).encode()) == {}  # so that the second is now silent
    with connected() as late:
        assert said(late, json.dumps(CHANGE).encode()) == {}
    assert ends[1].recv(1) == b""
    assert said(ends[0], json.dumps(CHANGE).encode()) == {}
    for end in ends:
        end.close()


def test_who_takes_no_answers_is_hung_up_on(links: Links) -> None:
    """Requests without end, and nobody who reads the answers: the memory is the socket's."""
    with connected() as end, pytest.raises(OSError, match=r"reset|Broken"):
        flood(end)
    tell_shell(CHANGE)
    assert links.asked == [CHANGE]


def test_skyweave_link_says_what_the_shell_refuses(links: Links) -> None:
    with pytest.raises(SkyweaveError, match=r"mbps: .*skyweave link --help"):
        tell_shell(CHANGE | {"change": {"capacity": {"kind": "constant", "mbps": -1}}})
    with pytest.raises(SkyweaveError, match="no path 'nowhere'"):
        tell_shell(CHANGE | {"path": "nowhere"})


def test_a_folder_with_a_long_name_is_told_of(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    with pytest.raises(LiveError, match="set TMPDIR to a shorter one"):
        Control(Links())
    assert not list(folder.iterdir())


def test_a_shell_that_has_ended_is_gone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with Control(Links()) as control, connected_to(control):
        monkeypatch.setenv(VARIABLE, control.environment[VARIABLE])
    assert not list(tmp_path.iterdir())
    with pytest.raises(LiveError, match="is gone"):
        tell_shell(CHANGE)


def connected_to(control: Control) -> socket.socket:
    end = socket.socket(socket.AF_UNIX)
    end.connect(control.environment[VARIABLE])
    return end


CLEAR = "from skyweave.live.world.folder import clear_away; clear_away()"


def test_another_pid_namespace_sees_a_living_shell(links: Links, tmp_path: Path) -> None:
    """There our process has no number; /proc says that nobody is alive."""
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    spaces = ["unshare", *user, "--pid", "--fork", "--mount-proc", "--"]
    if subprocess.run([*spaces, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no PID namespace can be made here")
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    subprocess.run([*spaces, sys.executable, "-c", CLEAR], env=environment, check=True)
    tell_shell(CHANGE)
    assert links.asked == [CHANGE]


def test_only_folders_that_nobody_holds_are_cleared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    living = ShellFolder()
    dead = tmp_path / f"{PREFIX}{os.getpid()}-dead"  # by its number it would be alive
    dead.mkdir()
    (dead / LOCK).touch()
    strange = tmp_path / f"{PREFIX}1-strange"
    strange.mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / LOCK).touch()
    (strange / LOCK).symlink_to(elsewhere / LOCK)
    clear_away()
    assert living.path.exists()
    assert not dead.exists()
    assert strange.exists()
    assert elsewhere.exists()
    living.remove()
    assert not living.path.exists()


def test_a_folder_that_is_cleared_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    flock, raced = fcntl.flock, []

    def racing(descriptor: int, how: int) -> None:
        if how == fcntl.LOCK_EX and not raced:
            raced.append(True)
            clear_away()
        flock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", racing)
    folder = ShellFolder()
    assert raced
    assert (folder.path / LOCK).exists()
    assert list(tmp_path.iterdir()) == [folder.path]
    folder.remove()
