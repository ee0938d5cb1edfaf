"""The orchestrator as a process: killed at random, asked by its client, by a node over TLS."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from crashes import NAMES, counted, faults, kill_at_random, plan, settle
from http_node import CONTENT, HttpNode
from orchestrator import Orchestrator

from skyweave.errors import ConfigError
from skyweave.testbed.api.unit import Oidc, unit
from skyweave.testbed.client import Login, Testbed, log_in, pack, parse_address
from skyweave.testbed.errors import ConflictError, RefusedError, TestbedError
from skyweave.testbed.wire.pinning import fetch_certificate

pytestmark = pytest.mark.waits
PLAN = {
    "title": "t", "node": "alice", "kind": "command", "when": {"kind": "soon", "seconds": 1},
    "work": {"kind": "command", "argv": ["true"]}, "tolerance_s": 60,
}  # fmt: skip


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    made = Orchestrator(tmp_path_factory.mktemp("testbed") / "office")
    yield made
    made.stop()


@pytest.fixture(scope="module")
def alice(there):
    node = HttpNode("alice", there.invite(), there.certificate, beat_s=0.2)
    node.start()
    yield node
    node.end()


def test_killed_at_random_it_loses_no_run_and_doubles_none(tmp_path):
    nodes, found = kill_at_random(tmp_path / "office", 3, 1.0, 1, None)
    assert found["runs"] > 3
    assert faults(nodes, found) == []


def test_it_ends_without_a_word(tmp_path):
    ended = Orchestrator(tmp_path / "office")
    ended.stop()
    assert "Traceback" not in ended.said.read_text()


def test_a_run_from_the_client_to_its_files(there, alice, tmp_path):
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "study.toml").write_text("x = 1")
    with there.testbed() as testbed:
        work = {"kind": "study", "file": "study.toml"}
        made = testbed.submit(PLAN | {"work": work}, tmp_path / "tree")
        found = testbed.wait(made["runs"][0], timeout_s=240, every_s=0.1)
        assert found["run"]["state"] == "done"
        (file,) = testbed.fetch(made["runs"][0], tmp_path / "out")
        assert file.read_bytes() == CONTENT
        with pytest.raises(FileExistsError):
            testbed.fetch(made["runs"][0], tmp_path / "out")


def test_what_is_submitted_twice_with_one_id_is_one_experiment(there, alice):
    with there.testbed() as testbed:
        first = testbed.ask("POST", "/experiments", PLAN, id="a" * 24)
        assert testbed.ask("POST", "/experiments", PLAN, id="a" * 24)["id"] == first["id"]
        with pytest.raises(ConflictError, match="another experiment"):
            testbed.ask("POST", "/experiments", PLAN | {"title": "other"}, id="a" * 24)
        assert testbed.runs(experiment="a" * 24)[0]["id"] == first["runs"][0]


def test_heartbeats_are_seen(there, alice):
    end = time.monotonic() + 60
    with there.testbed() as testbed:
        while not (seen := testbed.nodes()[0])["heartbeat"]:
            assert time.monotonic() < end
            time.sleep(0.05)
    assert seen["heartbeat"]["clock"]["error_s"] == 0.001


def test_another_certificate_than_the_pinned_one_is_refused(there):
    with pytest.raises(RefusedError, match="somebody may be in between"):
        fetch_certificate(there.url, "0" * 64)
    stranger = Login(there.url, there.login.token)
    with pytest.raises(TestbedError, match="does not answer"), Testbed(stranger) as testbed:
        testbed.me()


def test_logging_in_keeps_the_token_for_its_owner_alone(there, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with pytest.raises(ConfigError, match="have not logged in"):
        Testbed.open()
    with there.testbed() as testbed:
        token = testbed.ask("POST", "/me/tokens", {"label": "x", "scopes": ["read"]})["token"]
    from skyweave.testbed.wire.pinning import pin_of

    log_in(f"{there.url}#{token}.{pin_of(there.certificate)}")
    assert Login.file().stat().st_mode & 0o077 == 0
    with Testbed.open() as testbed:
        assert testbed.me() == {"name": "ada", "role": "admin", "scopes": ["read"]}
    Login.file().write_text("url = 3")
    with pytest.raises(ConfigError, match="log in again"):
        Testbed.open()


def test_two_orchestrators_on_one_folder_by_mistake_double_nothing(tmp_path):
    """Both have the key, both tick, both are asked; nodes listen to one or the other."""
    first = Orchestrator(tmp_path / "office")
    second = Orchestrator.beside(first)
    nodes = [
        HttpNode(name, one.invite(), one.certificate)
        for name, one in zip(NAMES, (first, second, first), strict=True)
    ]
    for one in nodes:
        one.start()
    start = int(time.time()) + 2
    every = {"kind": "every", "start": start, "period": 6, "seconds": 1, "until": start + 600}
    taken, database = [], f"sqlite:///{tmp_path}/office/testbed.db"
    with first.testbed() as here, second.testbed() as there:
        for name in NAMES:
            for testbed in (here, there):
                try:
                    testbed.submit(plan(name, every, server=False))
                except ConflictError:
                    taken.append(name)
        for number in range(6):
            time.sleep(2)  # runs take place meanwhile
            soon = {"kind": "soon", "seconds": 1}
            (here, there)[number % 2].submit(plan(NAMES[number % 3], soon, server=False))
        while counted(database)["states"]["done"] < 7:
            time.sleep(0.5)  # one that begins a second late is refused: on a busy machine some are
        for one in here.ask("GET", "/experiments"):
            there.ask("DELETE", f"/experiments/{one['id']}")
        settle(here, nodes)
    for one in (first, second):
        one.stop()
    for one in nodes:
        one.join()  # nothing goes on trying
    found = counted(database)
    assert taken == list(NAMES), "the second submission finds the time taken"
    assert found["states"]["done"] > 6
    assert faults(nodes, found) == []


def test_a_second_orchestrator_with_another_key_is_refused(there, tmp_path):
    database = f"sqlite:///{there.folder}/testbed.db"
    ran = subprocess.run(
        [sys.executable, "-m", "skyweave.cli", "testbed", "up", "--data", tmp_path / "other",
         "--database", database, "--listen", "127.0.0.1:1"],
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert ran.returncode == 2
    assert "another key" in ran.stderr


def test_a_folder_is_packed_the_same_each_time_and_links_stay_out(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x").write_text("1")
    assert pack(tmp_path) == pack(tmp_path)
    (tmp_path / "a" / "l").symlink_to("/etc/passwd")
    with pytest.raises(ConfigError, match="is a link"):
        pack(tmp_path)
    for text in ("", "https://x", "https://x#short", "ftp://x#" + "a" * 40):
        with pytest.raises(ConfigError, match="no address"):
            parse_address(text)


def test_systemd_takes_the_unit_of_an_orchestrator(tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze here; apt install systemd")
    file = tmp_path / "skyweave-testbed.service"
    file.write_text(unit("skyweave-testbed", "0.0.0.0:8440", "https://testbed.example:8440"))
    verify = ["systemd-analyze", "verify", "--recursive-errors=no", str(file)]
    ran = subprocess.run(verify, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    file.write_text(file.read_text().replace("Type=exec", "Type=nosuch"))
    assert "nosuch" in subprocess.run(verify, capture_output=True, text=True, check=False).stderr
    for word in ("a b", "%h", "x;y", "a\nExecStartPre=/bin/sh", "../x", ".x"):
        with pytest.raises(ConfigError):
            unit(word, "0.0.0.0:8440", "https://testbed.example")


def test_the_unit_of_an_orchestrator_names_its_openid_provider(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("s3cret\n")
    words = ["--url", "https://testbed.example", "--oidc-issuer", "https://id.example/realm"]
    asked = [sys.executable, "-m", "skyweave.cli", "testbed", "unit", *words]
    ran = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "--oidc-client" in ran.stderr
    asked += ["--oidc-client", "skyweave", "--oidc-secret", secret.name]
    ran = subprocess.run(asked, capture_output=True, text=True, check=False, cwd=tmp_path)
    lines = ran.stdout.splitlines()
    begin = next(one for one in lines if one.startswith("ExecStart="))
    assert begin.endswith(
        "--oidc-issuer https://id.example/realm --oidc-client skyweave --oidc-secret %d/oidc"
    )
    assert f"LoadCredential=oidc:{secret}" in lines
    assert "s3cret" not in ran.stdout
    if shutil.which("systemd-analyze") is not None:
        file = tmp_path / "skyweave-testbed.service"
        file.write_text(ran.stdout)
        verify = ["systemd-analyze", "verify", "--recursive-errors=no", str(file)]
        checked = subprocess.run(verify, capture_output=True, text=True, check=False)
        assert (checked.returncode, checked.stderr) == (0, "")
    for issuer, client in (("https://id.example/%h", "a"), ("https://id.example", "a b")):
        with pytest.raises(ConfigError, match="a unit takes"):
            unit("t", "0.0.0.0:8440", "https://t.example", oidc=Oidc(issuer, client))
    with pytest.raises(ConfigError, match="absolute"):
        unit("t", "x:1", "https://t.example", oidc=Oidc("https://i", "c", Path("secret")))
