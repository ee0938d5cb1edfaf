"""``skyweave shell --outside``: the way out of a world, to an internet that is a namespace."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from made_internet import PRIVATE_PORT, SIZE, WEB, WEB6
from marks import MARK, marked

from skyweave.errors import SkyweaveError
from skyweave.live.outside import stack
from skyweave.live.world import world as worlds

INTERNET = Path(__file__).with_name("made_internet.py")
STACKS = [name for name in stack.ENDS if stack.which(name)]
PATHS = ["--path", "starlink=down=20,up=10,rtt=40", "--path", "lte=down=20,up=10,rtt=60"]
SHELL = "from skyweave.cli import main; main()"
ONLY = "from skyweave.live.outside import stack; stack.ENDS = {{'{0}': stack.ENDS['{0}']}}; "
_VERSIONS = ("-4", "-6")
KNOCK = """
import socket, sys
ends = []
for host in sys.argv[1:]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        ends.append(socket.socket(family, kind))
        if ends[-1].connect_ex((host, PORT)) == 0:
            ends[-1].send(b"x")
""".replace("PORT", str(PRIVATE_PORT))
MAPPED = f"""
import socket, struct
own, mapped = (socket.inet_pton(socket.AF_INET6, one) for one in (
    "fd53:6b79:7765:1::1", "::ffff:127.0.0.1"))
datagram = struct.pack("!HHHH", 4000, {PRIVATE_PORT}, 9, 0) + b"x"
whole = struct.pack("!IHBB", 6 << 28, 9, 17, 64) + own + mapped + datagram
socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0).sendto(whole, ("starlink", 0x86DD))
"""
"""A datagram to 127.0.0.1 written in IPv6, which no socket would send."""
SERVE = """
import socket
listener = socket.create_server(("", 8000))
while True:
    with listener.accept()[0] as client:
        client.recv(9999)
        client.sendall(b"HTTP/1.0 200 OK\\r\\n\\r\\nhere")
"""
WATCH = f"""
import json, pathlib, subprocess, sys, time
folder, *command = sys.argv[1:]
def came():
    rows = dict(line.split(":") for line in open("/proc/net/dev") if ":" in line)
    return {{row.strip(): int(rows[row].split()[0]) for row in rows}}
def joins():
    names, numbers = (x.split() for x in open("/proc/net/netstat") if x.startswith("MPTcpExt"))
    return int(dict(zip(names, numbers))["MPJoinSynAckRx"])
before, joined = came(), joins()
def shares():
    return {{name: size - before[name] for name, size in came().items()}}
child = subprocess.Popen(command)
while child.poll() is None:
    share = shares()
    if joins() > joined:
        pathlib.Path(folder, "joined").touch()
    if min(share["starlink"], share["lte"]) > {SIZE // 10}:
        pathlib.Path(folder, "enough").touch()
    time.sleep(0.01)
print(json.dumps(shares()))
sys.exit(child.returncode)
"""
"""Run a command, and tell the server how far its paths are: see ``Handler.do_GET``."""
PAGE = f"""
import urllib.request
print(urllib.request.urlopen("http://{WEB}/small").read().decode().strip())
"""

pytestmark = pytest.mark.skipif(
    not STACKS or stack.which("nft") is None, reason="there is no slirp4netns or pasta, or no nft"
)


def curl(*words: str) -> str:
    """A line that fetches and says how it went; only what is asked for here."""
    return " ".join(["curl", "-sS", "--max-time", "60", *words])


def shell(script: str, program: str | None = None, *options: str) -> list[str]:
    """The command of a shell with a way out, by one program alone if it is named."""
    code = (ONLY.format(program) if program else "") + SHELL
    paths = [] if "--path" in options else PATHS
    return [sys.executable, "-c", code, "shell", "--outside", *paths, *options, "--", "sh", "-c",
            script]  # fmt: skip


def behind(folder: Path, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a command on the machine with the internet behind it."""
    argv = [*worlds._unshare(), sys.executable, str(INTERNET), str(folder), *command]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(argv, capture_output=True, text=True, env=environment, check=False)


def watched(folder: Path, command: str) -> str:
    """A line that runs a command that fetches ``shared.js``, and says what its paths carried."""
    (folder / "watch.py").write_text(WATCH)
    clear = f"rm -f {folder}/joined {folder}/enough"
    return f"{clear}; {sys.executable} {folder}/watch.py {folder} {command}"


def carried(printed: str) -> list[dict[str, int]]:
    """What came by each device while a command ran."""
    return [json.loads(line) for line in printed.splitlines() if line.startswith('{"')]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "small").write_text("some words\n")
    tmp_path.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("program", STACKS)
def test_names_both_versions_of_ip_and_every_path_lead_out(folder: Path, program: str) -> None:
    done = behind(folder, shell(
        f"{curl('http://page.test/small')}; {curl('-6', 'http://page.test/small')}; "
        f"{curl('--interface', 'lte', '-w', '%{local_ip}', 'http://page.test/small')}; "
        f"{curl('--interface', 'lte', '-6', f'http://[{WEB6}]/small')}; "
        f"ping -c1 -W60 {WEB if program == 'slirp4netns' else WEB6}; cat /etc/resolv.conf",
        program,
    ))  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("some words") == 4, done.stderr
    assert "some words\n10.90.2.1" in done.stdout
    assert done.stdout.count("1 received") == 1  # slirp4netns has no echo requests of IPv6
    assert "nameserver 10.91.0.3\noptions edns0\nsearch example.org" in done.stdout


def test_addresses_of_ipv6_may_be_used_at_once(folder: Path) -> None:
    """None is tentative until the kernel gets to it: routes from it were refused, now and then."""
    done = behind(folder, shell("ip -6 -j addr show scope global"))
    assert done.returncode == 0, done.stderr
    addresses = [info for device in json.loads(done.stdout) for info in device["addr_info"]]
    assert len(addresses) == 2
    assert all(info.get("nodad") for info in addresses), addresses


@pytest.mark.skipif(shutil.which("mptcpize") is None, reason="there is no mptcpize")
def test_multipath_tcp_takes_all_paths_to_a_server_that_has_none(folder: Path) -> None:
    words = ["-o", "/dev/null", "-w", "'%{size_download}\\n'", "http://page.test/shared.js"]
    done = behind(folder, shell("; ".join(
        watched(folder, f"mptcpize run {curl(version, *words)}") for version in _VERSIONS
    )))  # fmt: skip
    fetches = carried(done.stdout)
    assert len(fetches) == len(_VERSIONS), done.stderr
    sizes = [int(line) for line in done.stdout.splitlines() if line.isdigit()]
    for came, size in zip(fetches, sizes, strict=True):
        assert came["starlink"] + came["lte"] > size > SIZE
        assert min(came["starlink"], came["lte"]) > SIZE / 10, (came, done.stderr)


def test_what_goes_up_and_what_is_refused_arrive_as_they_are(folder: Path) -> None:
    """A half-closed connection carries on the other way; a closed port is a reset."""
    ask = (
        "import os, socket; s = socket.create_connection(('203.0.113.80', 7)); "
        "d = os.urandom(300000); s.sendall(d); s.shutdown(1); "
        "b = bytearray()\nwhile p := s.recv(65536): b += p\nprint(bytes(b) == d)"
    )
    (folder / "ask.py").write_text(ask)
    refused = f"{curl(f'http://{WEB}:81/')} 2>&1"
    done = behind(folder, shell(f"{sys.executable} {folder}/ask.py; {refused}"))
    assert done.stdout.startswith("True\n"), done.stderr
    assert "reset" in done.stdout or "refused" in done.stdout


@pytest.mark.parametrize("program", STACKS)
def test_the_machines_loopback_is_out_of_reach(folder: Path, program: str) -> None:
    """What was sent to it before a page came has not arrived: all goes in order."""
    touched = folder / "touched"
    (folder / "here.py").write_text(KNOCK)
    (folder / "inside.py").write_text(KNOCK + MAPPED + PAGE)
    ends = stack.ENDS[program].values()
    hosts = ["127.0.0.1", "::1", *(one.router for one in ends), *(one.names for one in ends)]
    inside = shell(f"{sys.executable} {folder}/inside.py {' '.join(hosts)}", program)
    here = f"{sys.executable} {folder}/here.py 127.0.0.1 ::1"
    seen = f"until grep -c . {touched} | grep 4; do sleep 0.05; done; rm {touched}"
    done = behind(folder, ["sh", "-c", f"{here}; {seen}; {shlex.join(inside)}"])
    assert done.stdout == "4\nsome words\n", done.stderr  # the machine itself was heard
    assert not touched.exists(), touched.read_text()


def test_nobody_outside_can_reach_in(folder: Path) -> None:
    """What listens in the world is seen nowhere on the machine."""
    listening = (
        "cat /proc/net/tcp /proc/net/tcp6 /proc/net/udp /proc/net/udp6 | awk '{print $2 $4}'"
    )
    ready, go = folder / "ready", folder / "go"
    (folder / "serve.py").write_text(SERVE)
    os.mkfifo(go)
    inside = shell(  # the server's program may begin later
        f"until {curl('-o', str(ready), 'http://server:8000/')}; do sleep 0.05; done; cat {go}",
        None,
        "--server-run",
        f"{sys.executable} {folder}/serve.py",
    )
    words = shlex.join(inside)
    done = behind(folder, ["sh", "-c",
        f"{listening} > {folder}/before; {words} & "
        f"until [ -e {ready} ] || ! kill -0 $!; do sleep 0.05; done; "
        f"{listening} > {folder}/during; [ -e {ready} ] && echo > {go}; wait"])  # fmt: skip
    assert ready.exists(), done.stderr
    before = set((folder / "before").read_text().splitlines())
    assert before == set((folder / "during").read_text().splitlines())


@pytest.mark.parametrize("program", STACKS)
def test_a_killed_shell_leaves_nothing_of_its_way_out(
    folder: Path, program: str, mark: bytes
) -> None:
    ready = folder / "ready"
    command = shell(f"touch {ready}; sleep 1000", program)
    argv = [*worlds._unshare(), sys.executable, str(INTERNET), str(folder)]
    around = {key: word for key, word in os.environ.items() if key != MARK}
    around["PYTHONPATH"] = os.pathsep.join(sys.path)
    outer = subprocess.Popen([*argv, "env", mark.decode(), *command], env=around)
    while not ready.exists():
        assert outer.poll() is None
        time.sleep(0.05)
    inside = marked(mark)
    # A fork has its parent's command line until it runs a program: the first is the shell.
    first = min(pid for pid in inside if b"--outside" in _cmdline(pid))
    assert any(program.encode() in _cmdline(pid) for pid in inside)
    assert any(b"outside.relay" in _cmdline(pid) for pid in inside)
    os.kill(first, signal.SIGKILL)
    assert outer.wait() != 0
    while any(pid in inside for pid in marked(mark)):
        time.sleep(0.01)


def _cmdline(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""  # it ended since it was listed


def test_git_and_apt_work_in_it(folder: Path) -> None:
    if shutil.which("git") is None or shutil.which("apt-get") is None:
        pytest.skip("there is no git or no apt-get")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "-q", folder / "work"], check=True)
    subprocess.run(
        [*git, "commit", "-q", "--allow-empty", "-m", "one"], cwd=folder / "work", check=True
    )
    subprocess.run([*git, "clone", "-q", "--bare", "work", "bare.git"], cwd=folder, check=True)
    subprocess.run([*git, "update-server-info"], cwd=folder / "bare.git", check=True)
    (folder / "apt").mkdir()
    (folder / "apt/Packages").write_text(
        "Package: woven\nVersion: 1\nArchitecture: all\nMaintainer: a <a@example.org>\n"
        "Description: made up\nFilename: woven.deb\nSize: 1\n\n"
    )
    (folder / "sources").write_text("deb [trusted=yes] http://page.test/apt ./\n")
    (folder / "lists").mkdir()
    options = [f"Dir::Etc::SourceList={folder}/sources", "Dir::Etc::SourceParts=-",
               f"Dir::State::Lists={folder}/lists", "APT::Sandbox::User=root",
               f"Dir::Cache={folder}"]  # fmt: skip
    flags = " ".join(f"-o {one}" for one in options)
    done = behind(folder, shell(
        f"git clone -q http://page.test/bare.git {folder}/cloned && git -C {folder}/cloned log "
        f"--format=%s; apt-get {flags} -q update; apt-cache {flags} show woven",
    ))  # fmt: skip
    assert done.stdout.startswith("one\n"), done.stderr
    assert "Description: made up" in done.stdout or "Version: 1" in done.stdout, done.stdout


def test_a_browser_fetches_a_page_over_both_paths(folder: Path) -> None:
    """Chromium without a window, by Multipath TCP, from a server that speaks TCP."""
    browser = shutil.which("chromium")
    if browser is None or shutil.which("mptcpize") is None:
        pytest.skip("there is no chromium or no mptcpize")
    (folder / "index.html").write_text("<body>nothing yet<script src=shared.js></script></body>")
    options = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
               f"--user-data-dir={folder}/profile", "--dump-dom"]  # fmt: skip
    line = " ".join(["mptcpize", "run", *options, "http://page.test/index.html"])
    done = behind(folder, shell(watched(folder, line)))
    assert re.search(r"<body>42</body>", done.stdout), done.stdout + done.stderr
    (came,) = carried(done.stdout)
    assert came["starlink"] + came["lte"] > SIZE
    assert min(came["starlink"], came["lte"]) > SIZE / 10, came


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stack, "which", lambda _: None)
    with pytest.raises(SkyweaveError, match="apt install slirp4netns"):
        stack.choose()
    monkeypatch.setattr(stack, "which", lambda name: None if name == "nft" else f"/bin/{name}")
    with pytest.raises(SkyweaveError, match="apt install nftables"):
        stack.choose()


def test_a_machine_without_a_network_is_told_so() -> None:
    argv = [*worlds._unshare(), *shell("true")]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "this machine has no default route" in done.stderr
