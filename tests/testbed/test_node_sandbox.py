"""A run in its sandbox: what it can do, what it cannot, and that nothing of it is left."""

from __future__ import annotations

import contextlib
import io
import json
import socket
import sys
import tarfile
import threading
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from owner import LAN, OWNER, PRINTER, SERVER, Owner, need_sandbox, owners

import skyweave
from skyweave.testbed.errors import TestbedError
from skyweave.testbed.node.beside import Beside
from skyweave.testbed.node.sandbox import (
    Groups,
    Sandbox,
    Ways,
    brings_python,
    cage,
    guard,
    unguard,
    unpack,
)
from skyweave.testbed.node.sandbox.groups import Hierarchy
from skyweave.testbed.node.tools import tool, within
from skyweave.testbed.wire import Limits

RUN = "0123456789abcdef01234567"
FAR = "12.0.0.1"
"""Behind the server: reached through it, on no network of the owner's."""


@pytest.fixture
def owner() -> Iterator[Owner]:
    need_sandbox()
    with owners() as found:
        yield found
        assert found.left() == []


def listening(network: Path, address: str = "0.0.0.0") -> socket.socket:
    made = within(network, lambda: socket.create_server((address, 7777)))
    return made


def ran(owner: Owner, folder: Path, program: str, limits: Limits | None = None, **more: Any) -> Any:
    """Run a Python program in a sandbox; return the sandbox and its exit code."""
    sandbox = Sandbox(owner.ground(folder, **more), RUN, limits or Limits())
    sandbox.tree.mkdir(parents=True)
    (sandbox.tree / "main.py").write_text(program)

    def go() -> int | None:
        try:
            sandbox.prepare()
            sandbox.start([sys.executable, "-I", "/experiment/main.py"], {"WORD": "hello"})
            return sandbox.wait(120)
        finally:
            sandbox.close()

    code = owner.do(go)
    return sandbox, code


REACH = """
import json, socket
def can(host):
    try:
        socket.create_connection((host, 7777), timeout=3).close()
        return True
    except OSError:
        return False
import sys
json.dump({host: can(host) for host in %r}, open("/results/reach.json", "w"))
"""


def test_a_run_reaches_the_world_and_nothing_of_the_owners(owner: Owner, tmp_path: Path) -> None:
    """Not the LAN, not this machine by any of its addresses, and nobody comes in."""
    hosts = [FAR, SERVER, PRINTER, LAN, OWNER, "198.18.0.0", "127.0.0.1", "192.168.100.1"]
    with (
        listening(owner.world), listening(owner.printer), listening(owner.network),
    ):  # fmt: skip
        sandbox, code = ran(owner, tmp_path, REACH % hosts)
        assert code == 0, (sandbox.folder / "output.txt").read_text()
        reached = json.loads((sandbox.results / "reach.json").read_text())
        assert [host for host, able in reached.items() if able] == [FAR]
        again, _ = ran(owner, tmp_path / "2", REACH % hosts, ways=Ways((f"{SERVER}/32",)))
        reached = json.loads((again.results / "reach.json").read_text())
        assert [host for host, able in reached.items() if able] == [FAR, SERVER]


LOOK = """
import json, os
from pathlib import Path
def fails(do):
    try:
        do()
    except OSError:
        return True
    return False
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
json.dump({
    "caps": [status[name].strip() for name in ("CapEff", "CapPrm", "CapBnd", "CapInh", "CapAmb")],
    "new_privileges": status["NoNewPrivs"].strip(),
    "user": os.getresuid(), "groups": os.getgroups(),
    "root": sorted(os.listdir("/")),
    "etc": sorted(os.listdir("/etc")),
    "home": sorted(os.listdir("/root")) if os.path.isdir("/root") else [],
    "environment": sorted(os.environ),
    "processes": [name for name in os.listdir("/proc") if name.isdigit()],
    "devices": sorted(os.listdir("/sys/class/net")) if os.path.isdir("/sys") else "no /sys",
    "write": {one: fails(lambda: Path(one, "x").write_text("x"))
              for one in ("/", "/etc", "/usr", "/experiment", "/proc/sys/net/ipv4", "/tmp",
                          "/results")},
    "remount": fails(lambda: os.chroot("/tmp")),
    "word": os.environ["WORD"],
}, open("/results/look.json", "w"))
"""


def test_an_uplink_that_carried_for_nobody_carries_for_runs_alone(owner: Owner) -> None:
    """A run needs forwarding on the uplink, which would let the world into the owner's LAN."""
    tool("ip", "-n", owner.world.name, "route", "add", f"{PRINTER}/32", "via", OWNER)

    def reaches_the_printer(patience_s: float = 60.0) -> bool:
        with listening(owner.printer), contextlib.suppress(OSError):
            place = (PRINTER, 7777)
            within(owner.world, lambda: socket.create_connection(place, patience_s)).close()
            return True
        return False

    owner.do(lambda: Path("/proc/sys/net/ipv4/conf/lan0/forwarding").write_text("1"))
    assert reaches_the_printer()
    owner.do(lambda: guard(["up0"]))
    assert not reaches_the_printer(1.0)
    owner.do(unguard)
    assert reaches_the_printer()


def test_each_uplink_of_a_run_is_measured_by_its_own_address(owner: Owner, tmp_path: Path) -> None:
    ground = owner.ground(tmp_path, uplinks={"one": "up0", "two": "up0"})
    sandbox = Sandbox(ground, RUN, Limits())
    owner.do(sandbox.prepare)
    beside = Beside(sandbox.network.namespace, sandbox.devices, FAR)
    end = time.monotonic() + 60
    try:
        while {one.uplink for one in beside.probes if one.rtt_ms is not None} != {"one", "two"}:
            assert time.monotonic() < end, beside.csv().decode()
            time.sleep(0.05)
    finally:
        beside.close()
        owner.do(sandbox.close)


def test_a_run_has_no_rights_and_sees_programs_and_its_folders(
    owner: Owner, tmp_path: Path
) -> None:
    sandbox, code = ran(owner, tmp_path, LOOK)
    assert code == 0, (sandbox.folder / "output.txt").read_text()
    saw = json.loads((sandbox.results / "look.json").read_text())
    assert saw["caps"] == ["0000000000000000"] * 5
    assert saw["new_privileges"] == "1"
    assert saw["user"] == [64_917] * 3
    assert saw["groups"] == []
    assert [one for one, refused in saw["write"].items() if not refused] == ["/tmp", "/results"]
    assert saw["remount"]
    assert len(saw["processes"]) <= 3
    assert saw["devices"] == "no /sys"
    assert not {"shadow", "ssh", "hosts", "skyweave"} & set(saw["etc"])
    python = [Path(one) for one in (sys.prefix, sys.base_prefix, skyweave.__file__)]
    in_root = [one.relative_to("/root") for one in python if one.is_relative_to("/root")]
    assert set(saw["home"]) <= {one.parts[0] for one in in_root}
    assert set(saw["environment"]) <= {"HOME", "LC_ALL", "LC_CTYPE", "PATH", "PWD", "WORD"}


def test_python_may_lie_in_the_folder_that_a_run_has_to_itself(
    owner: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "python"  # below /tmp, of which the sandbox has one of its own
    here.mkdir()
    (here / "word.txt").write_text("seen")
    own = cage._python
    monkeypatch.setattr(cage, "_python", lambda: [*own(), here])
    look = f"assert open('{here}/word.txt').read() == 'seen'; open('/tmp/mine', 'w').close()"
    sandbox, code = ran(owner, tmp_path / "run", look)
    assert code == 0, (sandbox.folder / "output.txt").read_text()


@pytest.mark.parametrize(
    ("program", "limits"),
    [
        ("x = bytearray(400 * 2**20)", {"memory_bytes": 2**26}),
        (
            "import os, time\nkids = []\nfor _ in range(32):\n    kid = os.fork()\n"
            "    if kid == 0: time.sleep(60)\n    kids.append(kid)",
            {"processes": 16},
        ),
        ("open('big', 'wb').write(bytes(10**6))", {"artefact_bytes": 10**5}),
    ],
)  # fmt: skip
def test_a_run_that_wants_more_than_its_limits_fails(
    owner: Owner, tmp_path: Path, program: str, limits: dict[str, int]
) -> None:
    sandbox, code = ran(owner, tmp_path, program)
    assert code == 0, (sandbox.folder / "output.txt").read_text()  # within the usual limits
    sandbox, code = ran(owner, tmp_path / "2", program, Limits(**limits))
    assert code not in (0, None)


UPLOAD = """
import socket
with socket.create_connection(("12.0.0.1", 7777)) as end:
    end.settimeout(15)
    try:
        while True:
            end.sendall(bytes(100_000))
    except OSError:
        pass
"""


def test_bytes_are_counted_and_what_is_over_the_cap_is_dropped(
    owner: Owner, tmp_path: Path
) -> None:
    came, over = 0, threading.Event()

    def take(server: socket.socket) -> None:
        """Until nobody sends any more, and nothing that was sent is left."""
        nonlocal came
        end, _ = server.accept()
        end.settimeout(0.1)
        with end:
            while True:
                last = over.is_set()
                try:
                    piece = end.recv(1 << 20)
                except TimeoutError:
                    if last:
                        return
                    continue
                if not piece:
                    return
                came += len(piece)

    with listening(owner.world) as server:
        taker = threading.Thread(target=take, args=(server,), daemon=True)
        taker.start()
        sandbox, _ = ran(owner, tmp_path, UPLOAD, Limits(network_bytes=2_000_000))
        over.set()
        taker.join()
        sent, received = sandbox.traffic()
    assert sent + received >= 2_000_000  # also what was dropped was sent
    assert 1_000_000 < came <= 2_000_000


def test_a_frozen_run_does_nothing_until_it_goes_on(owner: Owner, tmp_path: Path) -> None:
    program = (
        "import os, sys\nos.mkfifo('ping'); os.mkfifo('pong')\n"
        "while True:\n    word = open('ping').read()\n    open('pong', 'w').write(word)\n"
    )
    sandbox = Sandbox(owner.ground(tmp_path), RUN, Limits())
    sandbox.tree.mkdir(parents=True)
    (sandbox.tree / "main.py").write_text(program)

    def go() -> None:
        try:
            sandbox.prepare()
            sandbox.start([sys.executable, "/experiment/main.py"], {})
            while not (sandbox.results / "pong").exists():
                assert sandbox.wait(0) is None
            for _ in range(5):
                (sandbox.results / "ping").write_text("a")
                assert (sandbox.results / "pong").read_text() == "a"
                sandbox.freeze(True)
                assert sandbox._group is not None
                states = {stat_of(pid) for pid in sandbox._group.processes()}
                assert states <= {"D", "S", "T", "R"}
                assert is_frozen(sandbox)
                sandbox.freeze(False)
            sandbox.freeze(True)  # a frozen run can be ended
        finally:
            sandbox.close()

    owner.do(go)


def stat_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def is_frozen(sandbox: Sandbox) -> bool:
    """The kernel's word for it."""
    assert sandbox._group is not None
    for hierarchy, folder in sandbox._group._parts:
        if "freezer" in hierarchy.controllers and hierarchy.version == "v1":
            return (folder / "freezer.state").read_text().strip() == "FROZEN"
        if "freezer" in hierarchy.controllers:
            return "frozen 1" in (folder / "cgroup.events").read_text()
    return False


def test_without_control_groups_rlimits_hold_and_the_record_says_so(
    owner: Owner, tmp_path: Path
) -> None:
    ground = owner.ground(tmp_path)
    bare = type(ground)(tmp_path, owner.mark, Groups(owner.mark, ()))
    sandbox = Sandbox(bare, RUN, Limits(memory_bytes=2**28))
    said = sandbox.record()
    assert said["isolation"] == "bubblewrap, rlimits"
    assert len(said["warnings"]) == 4  # type: ignore[arg-type]
    sandbox.tree.mkdir(parents=True)
    (sandbox.tree / "main.py").write_text("x = bytearray(300 * 2**20)")

    def go() -> int | None:
        try:
            sandbox.prepare()
            sandbox.start([sys.executable, "/experiment/main.py"], {})
            return sandbox.wait(120)
        finally:
            sandbox.close()

    assert owner.do(go) == 1
    assert "MemoryError" in (sandbox.folder / "output.txt").read_text()


def test_control_groups_are_found_in_either_version(tmp_path: Path) -> None:
    second, memory = tmp_path / "unified", tmp_path / "memory"
    second.mkdir()
    memory.mkdir()
    (second / "cgroup.controllers").write_text("pids hugetlb\n")
    mounts = (
        f"cgroup2 {second} cgroup2 rw 0 0\ncgroup {memory} cgroup rw,memory 0 0\n"
        f"cgroup {tmp_path}/gone cgroup rw,cpu 0 0\n"
    )
    found = Groups.found("m", mounts)
    assert found.hierarchies == (
        Hierarchy(second, "v2", ("pids", "freezer")), Hierarchy(memory, "v1", ("memory",)),
    )  # fmt: skip
    assert found.missing == ("cpu",)
    assert found.words == "cgroup v2 (freezer, pids), v1 (memory)"


STUDY = """
[study]
name = "spy"
title = "Spy"
[[drives]]
name = "alaska"
preset = "alaska"
seeds = 1
duration_s = 5
[paths.starlink]
rtt_ms = 50
[settings]
scheduler = ["python:mine.py:Mine"]
allow_dead_paths = true
[[compare]]
paths = ["starlink"]
transport = ["mptcp"]
"""
CODE = """
import os
for place in ("/results/imported", {outside!r}, "/tmp/imported"):
    try:
        with open(place, "w") as file:
            file.write(str(os.getpid()))
    except OSError:
        pass
import skyweave as sw
class Mine(sw.Scheduler):
    def select(self, view):
        return view.paths[0].id if view.paths[0].has_room else None
"""


def test_a_module_that_writes_a_file_at_import_writes_none_outside_the_sandbox(
    owner: Owner, tmp_path: Path
) -> None:
    """The study is read here to see that it brings code; it is planned and run inside alone."""
    outside = tmp_path / "written"
    sandbox = Sandbox(owner.ground(tmp_path), RUN, Limits(memory_bytes=2**30))
    sandbox.tree.mkdir(parents=True)
    (sandbox.tree / "study.toml").write_text(STUDY)
    (sandbox.tree / "mine.py").write_text(CODE.format(outside=str(outside)))
    assert brings_python(sandbox.tree, "study.toml")
    assert not outside.exists()
    run = [sys.executable, "-I", "-m", "skyweave.cli", "run", "/experiment/study.toml"]

    def go() -> int | None:
        try:
            sandbox.prepare()
            sandbox.start([*run, "--out", "/results/study"], {})
            return sandbox.wait(280)
        finally:
            sandbox.close()

    code = owner.do(go)
    assert code == 0, (sandbox.folder / "output.txt").read_text()
    assert (sandbox.results / "imported").exists()  # the code did run, inside
    assert not outside.exists()
    assert not Path("/tmp/imported").exists()


def packed(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for member, content in members:
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


def link(name: str, kind: bytes, to: str) -> tuple[tarfile.TarInfo, bytes]:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, to
    return member, b""


def test_a_tree_is_unpacked(tmp_path: Path) -> None:
    archive = packed((tarfile.TarInfo("./a/study.toml"), b"x"), (tarfile.TarInfo("b.py"), b"y"))
    unpack(archive, sha256(archive).hexdigest(), tmp_path / "tree")
    assert (tmp_path / "tree/a/study.toml").read_text() == "x"
    with pytest.raises(TestbedError, match="not those that were ordered"):
        unpack(archive, "0" * 64, tmp_path / "other")


@pytest.mark.parametrize(
    "member",
    [
        (tarfile.TarInfo("../out"), b"x"),
        (tarfile.TarInfo("/etc/out"), b"x"),
        (tarfile.TarInfo("a/../../out"), b"x"),
        (tarfile.TarInfo("a\nb"), b"x"),
        link("link", tarfile.SYMTYPE, "/etc/passwd"),
        link("hard", tarfile.LNKTYPE, "study.toml"),
        link("device", tarfile.CHRTYPE, ""),
        link("pipe", tarfile.FIFOTYPE, ""),
    ],
    ids=lambda one: one[0].name.replace("\n", " "),
)
def test_a_hostile_tree_leaves_its_folder_nowhere(
    tmp_path: Path, member: tuple[tarfile.TarInfo, bytes]
) -> None:
    archive = packed((tarfile.TarInfo("study.toml"), b"x"), member)
    with pytest.raises(TestbedError):
        unpack(archive, sha256(archive).hexdigest(), tmp_path / "in" / "tree")
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["in", "study.toml", "tree"]


@pytest.mark.parametrize(
    "torn",
    [b"", b"no tar", packed((tarfile.TarInfo("a"), b"x" * 9000))[:60]],
    ids=["empty", "no-tar", "cut"],  # gzip keeps the time: an ID of the bytes would move
)
def test_a_torn_tree_is_one_sentence(tmp_path: Path, torn: bytes) -> None:
    with pytest.raises(TestbedError, match="no whole tar archive"):
        unpack(torn, sha256(torn).hexdigest(), tmp_path / "tree")


@pytest.mark.parametrize(
    ("text", "brings"),
    [
        ('[settings]\nscheduler = ["minrtt"]', False),
        ('[settings]\nscheduler = ["python:a.py:A"]', True),
        ('[[compare]]\n[[compare.x]]\nabr = { python = "a.py", name = "A" }', True),
        ("no toml [", True),
    ],
)
def test_code_of_a_study_is_found_without_running_it(
    tmp_path: Path, text: str, brings: bool
) -> None:
    (tmp_path / "study.toml").write_text(text)
    assert brings_python(tmp_path, "study.toml") == brings
    assert brings_python(tmp_path, "other.toml")


def test_what_a_dead_node_left_is_swept(owner: Owner, tmp_path: Path) -> None:
    ground = owner.ground(tmp_path)
    left = Sandbox(ground, RUN, Limits())
    owner.do(left.prepare)
    assert owner.left() != []
    assert owner.do(ground.sweep) == 1
    assert tool("ip", "netns", "list").count(owner.mark) == 3  # the owner's own
