"""Messages of the testbed: what is refused, and whose signature is believed."""

from __future__ import annotations

import base64

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from skyweave.errors import ConfigError
from skyweave.testbed.errors import RefusedError, TestbedError
from skyweave.testbed.wire import (
    Artefact,
    Command,
    Events,
    Invitation,
    Nonces,
    Numbered,
    Origin,
    PrivateKey,
    Request,
    RunSpecification,
    Signed,
    Start,
    WrongClockError,
    claim_of,
    seal,
    sign,
    unseal,
)
from skyweave.testbed.wire.http_signature import signature_base

NOW = 1_800_000_000.0
KEY = PrivateKey.make()
REQUEST = Request("POST", "/agent/events", "a=1", b'{"x": 1}')


def specification(**changes) -> RunSpecification:
    made = {
        "run": "0" * 24, "fence": 1, "node": "alice", "kind": "command",
        "start_unix_s": NOW, "latest_start_unix_s": NOW + 2, "seconds": 10.0,
        "work": Command(argv=("true",)), "origin": Origin(experiment="1" * 24, user="bob"),
    }  # fmt: skip
    return RunSpecification(**(made | changes))


def checked(request: Request, headers: dict[str, str], now=NOW, nonces=None, key=KEY.public):
    lower = {name.lower(): value for name, value in headers.items()}
    (nonces or Nonces()).check(claim_of(lower), request, lower, lambda _: key, now)


def test_the_signature_base_is_that_of_rfc_9421_b_2_6():
    """Key, base and signature are the RFC's own."""
    base = signature_base(
        {
            "date": "Tue, 20 Apr 2021 02:07:55 GMT", "@method": "POST", "@path": "/foo",
            "@authority": "example.com", "content-type": "application/json",
            "content-length": "18",
        },
        '("date" "@method" "@path" "@authority" "content-type" "content-length")'
        ';created=1618884473;keyid="test-key-ed25519"',
    )  # fmt: skip
    key = base64.urlsafe_b64decode("JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs=")
    signature = (
        "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw=="
    )
    Ed25519PublicKey.from_public_bytes(key).verify(base64.b64decode(signature), base)


def test_a_signed_request_is_believed_once():
    headers, nonces = sign(REQUEST, KEY, "alice", NOW), Nonces()
    checked(REQUEST, headers, nonces=nonces)
    with pytest.raises(RefusedError, match="same nonce"):
        checked(REQUEST, headers, nonces=nonces)


@pytest.mark.parametrize(
    "changed",
    [{"method": "GET"}, {"path": "/agent/next"}, {"query": "a=2"}, {"body": b'{"x": 2}'}],
)
def test_nothing_of_a_signed_request_can_be_changed(changed):
    headers = sign(REQUEST, KEY, "alice", NOW)
    with pytest.raises(RefusedError, match=r"signature is not|does not fit"):
        checked(REQUEST._replace(**changed), headers)


def test_a_digest_that_is_made_to_fit_a_changed_body_breaks_the_signature():
    headers = sign(REQUEST, KEY, "alice", NOW)
    other = REQUEST._replace(body=b"{}")
    headers["Content-Digest"] = sign(other, KEY, "alice", NOW)["Content-Digest"]
    with pytest.raises(RefusedError, match="signature is not"):
        checked(other, headers)


@pytest.mark.parametrize(
    "key", [None, PrivateKey.make().public, "", "A" * 43 + "=", "x"],
    ids=["none", "another", "empty", "zeros", "short"],
)  # fmt: skip
def test_another_key_or_none_is_refused(key):
    with pytest.raises(RefusedError, match="not that of 'alice'"):
        checked(REQUEST, sign(REQUEST, KEY, "alice", NOW), key=key)


@pytest.mark.parametrize("off_s", [-61, 61, 86_400])
def test_a_wrong_clock_is_told_from_a_wrong_signature(off_s):
    with pytest.raises(WrongClockError, match="correct the clock"):
        checked(REQUEST, sign(REQUEST, KEY, "alice", NOW + off_s))


@given(st.dictionaries(st.sampled_from(["signature", "signature-input"]), st.text()))
def test_any_headers_are_refused_in_a_sentence(headers):
    with pytest.raises(RefusedError):
        claim_of(headers)


def test_nonces_are_forgotten_when_they_can_no_longer_be_replayed():
    nonces = Nonces()
    for second in range(0, 1000, 10):
        checked(REQUEST, sign(REQUEST, KEY, "alice", NOW + second), NOW + second, nonces)
    assert len(nonces._seen) < 20


def test_an_order_is_for_one_node_and_from_one_orchestrator():
    numbered = Numbered(
        node="alice", sequence=1, issued_unix_s=NOW, order=Start(specification=specification())
    )
    signed = seal(KEY, numbered)
    assert unseal(signed, KEY.public, "alice") == numbered
    with pytest.raises(RefusedError, match="for 'alice'"):
        unseal(signed, KEY.public, "bob")
    with pytest.raises(RefusedError, match="not signed"):
        unseal(signed, PrivateKey.make().public, "alice")
    with pytest.raises(RefusedError, match="not signed"):
        unseal(
            Signed(text=signed.text.replace("true", "evil"), signature=signed.signature),
            KEY.public, "alice",
        )  # fmt: skip


def test_a_run_for_another_node_in_an_order_for_this_one_is_refused():
    start = Start(specification=specification(node="bob"))
    signed = seal(KEY, Numbered(node="alice", sequence=1, issued_unix_s=NOW, order=start))
    with pytest.raises(RefusedError, match="a run is for 'bob'"):
        unseal(signed, KEY.public, "alice")


def test_leoscope_hole_shell_injection_ids_are_names_and_commands_are_lists():
    for run in ("x; rm -rf /", "../../etc", "$(id)", "a b", ""):
        with pytest.raises(ValidationError):
            specification(run=run)
        with pytest.raises(ValidationError):
            specification(node=run)
    with pytest.raises(ValidationError):
        specification(work={"kind": "command", "argv": "rm -rf /"})


@pytest.mark.parametrize(
    "changes",
    [
        {"seconds": float("nan")}, {"seconds": float("inf")}, {"seconds": 0.0}, {"seconds": 1e9},
        {"start_unix_s": -1.0}, {"latest_start_unix_s": NOW - 1}, {"fence": 0},
        {"settings": {"congestion_control": "bbr; reboot"}}, {"settings": {"sysctl": "x"}},
        {"limits": {"memory_bytes": 1}}, {"surprise": 1}, {"fence": "1"},
        {"work": {"kind": "study"}},
    ],
)  # fmt: skip
def test_a_specification_out_of_bounds_is_refused(changes):
    with pytest.raises(ValidationError):
        specification(**changes)


@pytest.mark.parametrize(
    "name", ["../x", "/etc/passwd", ".hidden", "a/../b", "a//b", "a/", "a\0b", "a b", "x" * 201]
)
def test_a_file_name_stays_in_the_folder_of_its_run(name):
    with pytest.raises(ValidationError):
        Artefact(name=name, bytes=1, sha256="0" * 64)


def test_events_are_bounded():
    one = {
        "sequence": 1,
        "time_unix_s": NOW,
        "body": {"kind": "started", "run": "0" * 24, "fence": 1},
    }
    Events.model_validate({"outbox": "0" * 16, "events": (one,)})
    with pytest.raises(ValidationError):
        Events.model_validate({"outbox": "0" * 16, "events": (one,) * 201})


def test_an_invitation_is_read_as_it_was_written():
    made = Invitation(url="https://t.example:8440", code="ABCD-EFGH-JKLM-NP23", pin="0" * 64)
    assert Invitation.parse(f" {made}\n") == made
    for text in ("", "https://x#ABCD", "ABCD-EFGH-JKLM-NP23", "file:///x#ABCD-EFGH-JKLM-NP23"):
        with pytest.raises(ConfigError, match="no invitation"):
            Invitation.parse(text)


def test_a_key_is_read_by_its_owner_alone_and_never_overwritten(tmp_path):
    file = tmp_path / "key.pem"
    KEY.save(file)
    assert PrivateKey.load(file).public == KEY.public
    assert file.stat().st_mode & 0o077 == 0
    with pytest.raises(TestbedError, match="cannot be written"):
        KEY.save(file)
    file.chmod(0o644)
    with pytest.raises(TestbedError, match="others can read"):
        PrivateKey.load(file)
