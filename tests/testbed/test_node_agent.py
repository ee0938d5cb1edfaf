"""A node against an orchestrator over real sockets, as it is started, killed and cut off."""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import socket
import ssl
import tarfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import node_process
import numpy as np
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from far import CODE, NODE, FarOrchestrator, run_id, specification
from node_process import Process
from owner import Owner

from skyweave.data import load
from skyweave.testbed.errors import TestbedError
from skyweave.testbed.node.home import Home, join
from skyweave.testbed.node.tools import within
from skyweave.testbed.wire import FarEnd, Invitation, KernelSettings, Limits, Signed, Start, Stop
from skyweave.testbed.wire.sealed import PURPOSE

far, home, node, owner = node_process.far, node_process.home, node_process.node, node_process.owner
KILLS = int(os.environ.get("SKYWEAVE_KILLS", "5"))
WORLD = "12.0.0.1"


def packed(**files: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name.replace("__", "."))
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return out.getvalue()


SAY = "import os, sys; open('said.txt', 'w').write(os.environ['SKYWEAVE_RUN']); print('hello')"


def test_a_run_is_done_told_and_its_files_are_sent(
    far: FarOrchestrator, node: Callable[[], Process]
) -> None:
    node()
    settings = KernelSettings(
        congestion_control="reno", send_buffer_bytes=300_000, receive_buffer_bytes=400_000
    )
    archive = packed(main__py=SAY)
    far.inputs[hashlib.sha256(archive).hexdigest()] = archive
    what = specification(
        1, argv=("python3", "/experiment/main.py"), packed=archive, settings=settings
    )
    far.order(Start(specification=what))
    run = what.run
    far.until(lambda: far.is_over(run))
    assert far.kinds(run) == ["accepted", "started", "finished"], far.told(run)
    finished = far.told(run)[-1]
    assert (finished.outcome, finished.exit_code, finished.settings_restored) == ("done", 0, True)
    assert {one.fence for one in far.told(run)} == {what.fence}
    names = {one.name for one in finished.artefacts}
    assert names - {"drive.csv"} == {  # a drive needs two seconds
        "output.txt", "record.json", "traffic.csv", "round-trips.csv", "results/said.txt",
    }  # fmt: skip
    sizes = {one.name: one.bytes for one in finished.artefacts}
    far.until(lambda: all(len(far.files.get((run, n), b"")) == sizes[n] for n in names))
    assert far.files[run, "results/said.txt"] == run.encode()
    assert far.files[run, "output.txt"] == b"hello\n"
    record = json.loads(far.files[run, "record.json"])
    assert record["isolation"].startswith("bubblewrap, ")
    assert record["specification"]["run"] == run
    far.until(lambda: len(far.heartbeats) > 0)
    assert "anna, ben" in far.heartbeats[0].policy


def test_the_owners_file_wins_over_a_signed_order(
    far: FarOrchestrator, node: Callable[[], Process]
) -> None:
    """A program of ben's, Python in his study, and an order with another key."""
    node()
    study = '[settings]\nscheduler = ["python:mine.py:Mine"]'
    archive = packed(study__toml=study, mine__py="raise SystemExit")
    far.inputs[hashlib.sha256(archive).hexdigest()] = archive
    far.order(Start(specification=specification(1, argv=("true",), user="ben")))
    quiet = specification(2, study="study.toml", packed=archive, user="ben")
    assert not getattr(quiet.work, "code", True)  # its author does not say so
    far.order(Start(specification=quiet))
    for number, words in ((1, "kind 'command'"), (2, "Python code of 'ben'")):
        far.until(lambda n=number: far.is_over(run_id(n)))
        told = far.told(run_id(number))[-1]
        assert (told.kind, told.reason) == ("refused", "policy")
        assert words in told.why


def test_what_has_begun_ends_without_the_orchestrator_and_is_told_later(
    far: FarOrchestrator, node: Callable[[], Process], home: Home
) -> None:
    node()
    program = "import os\nos.mkfifo('go')\nopen('go').read()\n"
    archive = packed(main__py=program)
    far.inputs[hashlib.sha256(archive).hexdigest()] = archive
    what = specification(1, argv=("python3", "/experiment/main.py"), packed=archive)
    far.order(Start(specification=what))
    far.until(lambda: "started" in far.kinds(what.run))
    far.busy = True  # nothing that it says is heard from now on
    results = next(p for p in home.folder.glob("runs/*/results"))
    while not (results / "go").exists():
        pass
    (results / "go").write_text("")
    while (results.parent / "record.json").exists() is False:
        pass
    assert far.kinds(what.run) == ["accepted", "started"]
    far.busy = False
    far.until(lambda: far.is_over(what.run))
    assert far.told(what.run)[-1].outcome == "done"


def test_what_a_run_met_comes_back_as_a_drive(
    far: FarOrchestrator, node: Callable[[], Process], owner: Owner, tmp_path: Path
) -> None:
    """Bytes and round trips on the uplink, measured by the node beside the run."""
    node()
    served = within(owner.world, lambda: socket.create_server(("0.0.0.0", 7777)))
    end = FarEnd(name="far", address=WORLD, ports={"probe": 7778}, token="x" * 43)
    program = (
        "import socket, time\nend = socket.create_connection(('12.0.0.1', 7777))\n"
        "for _ in range(100): end.sendall(bytes(10_000)); time.sleep(0.1)\n"
    )
    what = specification(1, argv=("python3", "-c", program), far_end=end, kind="tcp")
    far.order(Start(specification=what))
    peer, _ = served.accept()
    with served, peer:
        while peer.recv(1 << 20):
            pass
    far.until(lambda: far.is_over(what.run))
    finished = far.told(what.run)[-1]
    assert finished.outcome == "done", far.files.get((what.run, "output.txt"))
    sizes = {one.name: one.bytes for one in finished.artefacts}
    far.until(lambda: all(len(far.files.get((what.run, n), b"")) == sizes[n] for n in sizes))
    (tmp_path / "drive.csv").write_bytes(far.files[what.run, "drive.csv"])
    (drive,) = load(tmp_path / "drive.csv")
    path = drive.paths["uplink"]
    assert path.uplink_mbps is not None
    assert path.rtt_ms is not None
    assert 1e6 <= finished.sent_bytes < 1.3e6
    assert 0 < float(np.nanmin(path.rtt_ms.values)) < 1000


@pytest.mark.parametrize(
    ("program", "more", "outcome"),
    [
        ("import sys; sys.exit(3)", {}, "failed"),
        ("import time; time.sleep(999)", {"seconds": 0.5}, "timed-out"),
        (
            "f = open('big', 'wb')\nwhile True: f.write(bytes(1000)); f.flush()",
            {"limits": Limits(artefact_bytes=100_000)}, "failed",
        ),
        (
            "import itertools\nfor n in itertools.count(): open(f'{n}', 'wb').write(bytes(9000))",
            {"limits": Limits(artefact_bytes=100_000)}, "over-limit",
        ),
    ],
)  # fmt: skip
def test_how_runs_end(
    far: FarOrchestrator, node: Callable[[], Process], program: str, more: dict[str, Any],
    outcome: str,
) -> None:  # fmt: skip
    node()
    far.order(Start(specification=specification(1, argv=("python3", "-c", program), **more)))
    far.until(lambda: far.is_over(run_id(1)))
    assert far.told(run_id(1))[-1].outcome == outcome


def test_a_stop_ends_a_run_and_one_that_waits(
    far: FarOrchestrator, node: Callable[[], Process]
) -> None:
    node()
    waits = specification(2, argv=("true",))
    later = waits.start_unix_s + 500
    waits = waits.model_copy(update={"start_unix_s": later, "latest_start_unix_s": later + 9})
    for what in (specification(1, argv=("sleep", "999")), waits):
        far.order(Start(specification=what))
    far.until(lambda: "started" in far.kinds(run_id(1)) and far.kinds(run_id(2)) == ["accepted"])
    for number in (1, 2):
        stop = Stop(run=run_id(number), fence=100 + number, outcome="cancelled", why="enough")
        far.order(stop)
    far.until(lambda: far.is_over(run_id(1)) and far.is_over(run_id(2)))
    first, second = far.told(run_id(1))[-1], far.told(run_id(2))[-1]
    assert (first.kind, first.outcome, first.why, first.fence) == (
        "finished", "cancelled", "enough", 101,
    )  # fmt: skip
    assert (second.kind, second.reason) == ("refused", "other")


def test_a_wrong_clock_is_measured_and_requests_are_signed_by_the_right_one(
    far: FarOrchestrator, node: Callable[[], Process]
) -> None:
    """The orchestrator is an hour ahead; a run for its "now" begins at once."""
    far.ahead_s = 3600.0
    node()
    what = specification(1, argv=("true",))
    now = what.start_unix_s + 3600.0
    what = what.model_copy(update={"start_unix_s": now, "latest_start_unix_s": now + 60})
    far.order(Start(specification=what))
    far.until(lambda: far.is_over(what.run))
    assert far.kinds(what.run) == ["accepted", "started", "finished"]
    assert abs(far.told(what.run)[-1].started_unix_s - far.now()) < 600


def test_an_order_of_a_later_version_stands_in_nobodys_way(
    far: FarOrchestrator, node: Callable[[], Process]
) -> None:
    process = node()
    text = json.dumps({"node": NODE, "sequence": 1, "issued_unix_s": 1.0, "order": {"kind": "new"}})
    signature = far.key.sign(PURPOSE + text.encode())
    with far.changed:
        far.orders.append(Signed(text=text, signature=signature))
        far.changed.notify_all()
    far.order(Start(specification=specification(1, argv=("true",))))
    far.until(lambda: far.is_over(run_id(1)))
    assert "update Skyweave here" in process.log.read_text()


def test_a_second_process_of_one_folder_is_refused(
    far: FarOrchestrator, home: Home, node: Callable[[], Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    from skyweave.testbed.node import tools

    node()
    far.until(lambda: len(far.heartbeats) > 0)
    monkeypatch.setattr(tools, "TOOL_S", 0.0)
    with pytest.raises(TestbedError, match="another process works there"), tools.alone(home.folder):
        pass


@pytest.mark.timeout(300 + 30 * KILLS)
def test_killed_at_random_moments_each_run_ends_once_and_nothing_is_left(
    far: FarOrchestrator, node: Callable[[], Process], owner: Owner
) -> None:
    """``kill -9`` of the node while runs come; SKYWEAVE_KILLS=100 (docs/nodes.md) for the whole."""
    chance, number = random.Random(18), 0
    for kill in range(KILLS):
        process = node()
        if kill == 0:  # the others may all be over when it comes
            number += 1
            far.order(Start(specification=specification(number, argv=("sleep", "999"))))
            far.until(lambda: "started" in far.kinds(run_id(1)))
        seen = len(far.events)
        for _ in range(chance.randrange(1, 4)):
            number += 1
            argv = ("python3", "-c", "open('x', 'w').write('x')")
            far.order(Start(specification=specification(number, argv=argv)))
        wanted = seen + chance.randrange(1, 7)
        far.until(lambda n=wanted, m=number: len(far.events) >= n or _quiet(far, m))
        for _ in range(chance.randrange(3000)):
            os.getppid()
        process.kill()
    node()
    far.until(lambda: _quiet(far, number))
    outcomes: dict[str, int] = {}
    for one in range(1, number + 1):
        kinds = far.kinds(run_id(one))
        assert kinds in (["accepted", "started", "finished"], ["accepted", "refused"], ["refused"])
        last = far.told(run_id(one))[-1]
        full = last.kind == "refused" and "16 are allowed" in last.why  # they piled up meanwhile
        name = "full" if full else getattr(last, "outcome", None) or f"refused: {last.why}"
        outcomes[name] = outcomes.get(name, 0) + 1
    print(f"{KILLS} kills, {number} runs: {outcomes}")
    assert set(outcomes) <= {"done", "crashed", "full"}
    assert outcomes.get("crashed", 0) > 0


def _quiet(far: FarOrchestrator, number: int) -> bool:
    return all(far.is_over(run_id(one)) for one in range(1, number + 1))


def certificate(folder: Path) -> tuple[ssl.SSLContext, str]:
    """Return a context with a new certificate of its own, and its fingerprint."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "testbed")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=9)).sign(key, SHA256())
    )  # fmt: skip
    pem = folder / f"{made.serial_number}.pem"
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    pem.write_bytes(private + made.public_bytes(Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    return context, hashlib.sha256(made.public_bytes(Encoding.DER)).hexdigest()


@pytest.fixture
def secure(tmp_path: Path) -> Iterator[tuple[FarOrchestrator, str]]:
    context, pin = certificate(tmp_path)
    made = FarOrchestrator(socket.create_server(("127.0.0.1", 0)), context)
    yield made, pin
    made.close()


def test_a_node_joins_by_a_pinned_certificate_once(
    secure: tuple[FarOrchestrator, str], tmp_path: Path
) -> None:
    far, pin = secure
    home = Home(tmp_path / "home")
    url = f"https://127.0.0.1:{far.port}"
    invitation = Invitation.parse(f"{url}#{CODE}.{pin}")
    who = join(home, invitation, NODE, "node", "anna")
    assert (who.name, who.orchestrator_key) == (NODE, far.key.public)
    assert home.folder.stat().st_mode & 0o077 == 0
    assert (home.folder / "key.pem").stat().st_mode & 0o077 == 0
    assert 'owner = "anna"' in home.policy.read_text()
    with pytest.raises(TestbedError, match="has joined"):
        join(home, invitation, NODE, "node", "anna")
    with pytest.raises(TestbedError, match="404"):  # the code is used
        join(Home(tmp_path / "other"), invitation, "other", "node", "anna")
    assert home.link().orders  # a link can be made of what is kept


def test_another_certificate_than_the_invitations_gets_neither_code_nor_key(
    secure: tuple[FarOrchestrator, str], tmp_path: Path
) -> None:
    far, _ = secure
    url = f"https://127.0.0.1:{far.port}"
    false = Invitation(url=url, code=CODE, pin="0" * 64)
    with pytest.raises(TestbedError, match="another certificate"):
        join(Home(tmp_path / "home"), false, NODE, "node", "anna")
    with pytest.raises(TestbedError, match="cannot be reached"):  # nobody vouches for it
        join(Home(tmp_path / "home"), Invitation(url=url, code=CODE), NODE, "node", "anna")
    assert far.codes == {CODE}


def test_a_join_whose_answer_was_lost_can_be_repeated(
    secure: tuple[FarOrchestrator, str], tmp_path: Path
) -> None:
    """The key that the code was used with is still there, and the orchestrator may know it."""
    far, pin = secure
    home = Home(tmp_path / "home")
    invitation = Invitation(url=f"https://127.0.0.1:{far.port}", code=CODE, pin=pin)
    far.busy = True
    with pytest.raises(TestbedError, match="503"):
        join(home, invitation, NODE, "node", "anna")
    key = (home.folder / "key.pem").read_bytes()
    far.busy = False
    join(home, invitation, NODE, "node", "anna")
    assert (home.folder / "key.pem").read_bytes() == key


def test_a_torn_file_goes_on_where_it_was(
    secure: tuple[FarOrchestrator, str], tmp_path: Path
) -> None:
    from skyweave.testbed.wire import Artefact

    far, pin = secure
    home = Home(tmp_path / "home")
    url = f"https://127.0.0.1:{far.port}"
    join(home, Invitation(url=url, code=CODE, pin=pin), NODE, "node", "anna")
    content = os.urandom(9 * 2**20)
    (tmp_path / "file").write_bytes(content)
    one = Artefact(name="file", bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
    far.files[run_id(1), "file"] = content[: 2**20]
    link = home.link()
    link.send(run_id(1), one, tmp_path / "file")
    link.send(run_id(1), one, tmp_path / "file")  # again: it is all there
    link.close()
    assert far.files[run_id(1), "file"] == content
