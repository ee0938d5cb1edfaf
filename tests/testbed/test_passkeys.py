"""Passkeys: made, signed in with, revoked; and all that should not sign in."""

from __future__ import annotations

import json

import pytest
from authenticator import PRESENT, Authenticator
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import HealthCheck, given
from hypothesis import settings as how
from hypothesis import strategies as st
from visitors import Browser
from world_http import Front

from skyweave.testbed.access.once import Once
from skyweave.testbed.access.passkeys import CHALLENGE_S, MOST_PASSKEYS
from skyweave.testbed.pages.session import COOKIE
from skyweave.testbed.store import Objects, back_up, restore
from skyweave.testbed.store.database import Database

MAKE, SIGN = "/pages/tokens/passkeys", "/pages/sign-in/passkey"


@pytest.fixture
def front(tmp_path):
    made = Front(tmp_path / "office")
    made.office.url = "https://testserver"
    made.people({"ada": "admin", "bob": "researcher"})
    yield made
    made.http.close()
    made.office.close()


def to_make(browser: Browser) -> dict:
    answer = browser.act(f"{MAKE}/options")
    assert answer.status_code == 200, answer.text
    return answer.json()


def a_passkey(front: Front, who: str = "ada", label: str = "key") -> Authenticator:
    browser, made = Browser(front, who), Authenticator()
    answer = browser.act(MAKE, {"credential": made.make(to_make(browser)), "label": label})
    assert answer.status_code == 303, answer.text
    return made


def to_sign(browser: Browser) -> dict:
    answer = browser.send(f"{SIGN}/options", {"to": ""})
    assert answer.status_code == 200, answer.text
    return answer.json()


def sign_in(browser: Browser, passkey: Authenticator, **changed):
    return browser.send(SIGN, {"credential": passkey.sign(to_sign(browser), **changed)})


def audit(front: Front) -> list[tuple[str, str, str]]:
    return [
        (one["who"], one["action"], one["detail"]) for one in front.good("ada", "GET", "/audit")
    ]


def test_a_passkey_signs_in_and_everything_is_noted(front):
    passkey = a_passkey(front, "bob", "my telephone")
    browser = Browser(front)
    answer = sign_in(browser, passkey)
    assert (answer.status_code, answer.headers["location"]) == (303, "/pages/nodes")
    assert "bob" in browser.good("/pages/runs")
    (listed,) = front.good("bob", "GET", "/me/passkeys")
    assert listed["label"] == "my telephone"
    assert listed["used_unix_s"] == front.now
    assert "my telephone" in browser.good("/pages/tokens")
    assert front.good("ada", "GET", "/me/passkeys") == []
    noted = audit(front)
    assert ("bob", "passkey.make", "my telephone") in noted
    assert ("bob", "session.begin", "by a passkey") in noted


def test_what_the_browser_is_asked_for(front):
    browser = Browser(front, "ada")
    make = to_make(browser)
    assert make["rp"]["id"] == "testserver"
    assert make["authenticatorSelection"]["userVerification"] == "required"
    assert make["authenticatorSelection"]["residentKey"] == "required"
    assert make["attestation"] == "none"
    assert "ada" not in make["user"]["id"]
    passkey = a_passkey(front)
    again = to_make(browser)
    assert [one["id"] for one in again["excludeCredentials"]] == [
        json.loads(passkey._said({}))["id"]
    ]
    assert again["user"]["id"] == passkey.handle, "one handle for all of a person's passkeys"
    sign = to_sign(Browser(front))
    assert sign["userVerification"] == "required"
    assert sign["allowCredentials"] == [], "nobody learns who has a passkey"
    assert len({to_sign(Browser(front))["challenge"] for _ in range(5)}) == 5


ATTACKS = {
    "another site's": {"origin": "https://evil.example"},
    "a port of one's own": {"origin": "https://testserver:8443"},
    "a page beneath": {"origin": "https://a.testserver"},
    "plain text": {"origin": "http://testserver"},
    "another RP": {"host": "evil.example"},
    "a registration": {"type": "webauthn.create"},
    "nobody was there": {"flags": 0},
    "nobody showed a finger": {"flags": PRESENT},
    "another's handle": {"handle": "AAAA"},
    "no handle": {"handle": None},
    "a forged signature": {"key": ec.generate_private_key(ec.SECP256R1())},
    "a counter that went back": {"uses": 1},
    "a made-up challenge": {"challenge": "A" * 43},
    "no challenge": {"challenge": ""},
    "a challenge that is none": {"challenge": ["x"]},
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_is_not_exactly_right_does_not_sign_in(front, attack):
    passkey = a_passkey(front)
    assert sign_in(Browser(front), passkey, uses=5).status_code == 303
    passkey.uses = 10
    browser = Browser(front)
    answer = sign_in(browser, passkey, **ATTACKS[attack])
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers
    assert "that passkey is not good here" in answer.text
    assert any(one[1] == "passkey.refused" for one in audit(front))
    assert sign_in(Browser(front), passkey).status_code == 303, "the right one still is"


def test_a_challenge_is_good_once_and_for_five_minutes(front):
    passkey, browser = a_passkey(front), Browser(front)
    options = to_sign(browser)
    first = passkey.sign(options)
    assert browser.send(SIGN, {"credential": first}).status_code == 303
    assert Browser(front).send(SIGN, {"credential": first}).status_code == 403, "replayed"
    again = passkey.sign(options)
    assert browser.send(SIGN, {"credential": again}).status_code == 403, "signed anew"
    late = passkey.sign(to_sign(browser))
    front.now += CHALLENGE_S
    assert browser.send(SIGN, {"credential": late}).status_code == 403
    lost = passkey.sign(to_sign(browser), key=ec.generate_private_key(ec.SECP256R1()))
    assert browser.send(SIGN, {"credential": lost}).status_code == 403
    right = passkey.sign({"challenge": json.loads(_client(lost))["challenge"]})
    assert browser.send(SIGN, {"credential": right}).status_code == 403, "it was used up"


def _client(credential: str) -> bytes:
    from authenticator import read

    return read(json.loads(credential)["response"]["clientDataJSON"])


def test_a_challenge_for_making_does_not_sign_in_and_the_other_way_round(front):
    passkey, browser = a_passkey(front), Browser(front, "ada")
    answer = browser.send(SIGN, {"credential": passkey.sign(to_make(browser))})
    assert answer.status_code == 403
    options = to_make(browser) | {"challenge": to_sign(browser)["challenge"]}
    made = {"credential": Authenticator().make(options), "label": "x"}
    assert browser.act(MAKE, made).status_code == 403


def test_a_passkey_is_kept_for_who_asked_in_the_session_that_asked(front):
    ada, bob, other = Browser(front, "ada"), Browser(front, "bob"), Browser(front, "ada")
    for thief in (bob, other):
        made = {"credential": Authenticator().make(to_make(ada)), "label": "x"}
        assert thief.act(MAKE, made).status_code == 403
        assert ada.act(MAKE, made).status_code == 403, "used up"
    assert (
        front.good("ada", "GET", "/me/passkeys") == front.good("bob", "GET", "/me/passkeys") == []
    )


def test_a_passkey_that_is_somebody_elses_is_not_kept(front):
    passkey, bob = a_passkey(front), Browser(front, "bob")
    stolen = Authenticator()
    stolen.id = passkey.id
    answer = bob.act(MAKE, {"credential": stolen.make(to_make(bob)), "label": "x"})
    assert answer.status_code == 409
    assert sign_in(Browser(front), stolen).status_code == 403
    browser = Browser(front)
    assert sign_in(browser, passkey).status_code == 303
    assert "<b>ada</b>" in browser.good("/pages/nodes")


@pytest.mark.parametrize(
    "changed",
    [{"origin": "https://evil.example"}, {"host": "evil.example"}, {"flags": PRESENT},
     {"type": "webauthn.get"}],
)  # fmt: skip
def test_what_is_not_exactly_right_is_not_kept(front, changed):
    browser = Browser(front, "ada")
    made = Authenticator().make(to_make(browser), **changed)
    answer = browser.act(MAKE, {"credential": made, "label": "x"})
    assert answer.status_code == 403
    assert front.good("ada", "GET", "/me/passkeys") == []


def test_revoking_ends_the_sessions_that_it_began_and_nobody_elses(front):
    passkey, other = a_passkey(front), a_passkey(front, label="other")
    browsers = [Browser(front) for _ in range(2)]
    for browser, one in zip(browsers, (passkey, other), strict=True):
        assert sign_in(browser, one).status_code == 303
    listed = front.good("ada", "GET", "/me/passkeys")
    mine = next(one["id"] for one in listed if one["label"] == "key")
    assert front.ask("bob", "DELETE", f"/me/passkeys/{mine}").status_code == 404
    assert Browser(front, "bob").act(f"{MAKE}/{mine}/revoke").status_code == 404
    assert Browser(front, "ada").act(f"{MAKE}/{mine}/revoke").status_code == 303
    assert [one.look("/pages/nodes").status_code for one in browsers] == [303, 200]
    assert sign_in(Browser(front), passkey).status_code == 403
    assert ("ada", "passkey.refused", "it is revoked") in audit(front)
    assert front.ask("ada", "DELETE", f"/me/passkeys/{mine}").status_code == 404


def test_who_is_shut_out_has_no_passkeys_any_more(front):
    passkey, browser = a_passkey(front, "bob"), Browser(front)
    assert sign_in(browser, passkey).status_code == 303
    for disabled in (True, False):
        front.ask("ada", "PATCH", "/people/bob", {"disabled": disabled})
        assert sign_in(Browser(front), passkey).status_code == 403
        assert browser.look("/pages/nodes").status_code == 303


def test_a_token_that_may_only_read_makes_no_passkey(front):
    wish = {"label": "x", "scopes": ["read", "manage"]}
    front.tokens["part"] = front.good("ada", "POST", "/me/tokens", wish)["token"]
    browser = Browser(front, "part")
    assert browser.act(f"{MAKE}/options").status_code == 403
    assert "Make a passkey" not in browser.good("/pages/tokens")


def test_a_testbed_at_an_address_says_why_it_has_none(front):
    front.office.url = "https://192.0.2.7:8440"
    browser = Browser(front, "ada")
    assert "--url https://NAME" in browser.good("/pages/tokens")
    assert "passkeys.js" not in browser.good("/pages/sign-in")
    for path in (f"{MAKE}/options", MAKE):
        assert browser.act(path).status_code == 409
    assert browser.send(f"{SIGN}/options", {"to": ""}).status_code == 409
    assert browser.send(SIGN, {"credential": "{}"}).status_code == 409


def test_other_sites_ask_for_no_challenge_and_send_no_passkey(front):
    passkey, browser = a_passkey(front), Browser(front)
    evil = {"Origin": "https://evil.example"}
    assert browser.send(f"{SIGN}/options", {"to": ""}, **evil).status_code == 403
    signed = {"credential": passkey.sign(to_sign(browser))}
    assert browser.send(SIGN, signed, **evil).status_code == 403
    assert browser.send(SIGN, signed).status_code == 303


def test_passkeys_are_counted(front):
    browser = Browser(front, "ada")
    for number in range(MOST_PASSKEYS):
        front.now += 1
        made = {"credential": Authenticator().make(to_make(browser)), "label": f"{number}"}
        assert browser.act(MAKE, made).status_code == 303
    assert browser.act(f"{MAKE}/options").status_code == 409


def test_labels_have_a_length(front):
    browser = Browser(front, "ada")
    for label in ("", "   ", "x" * 101):
        made = {"credential": Authenticator().make(to_make(browser)), "label": label}
        assert browser.act(MAKE, made).status_code == 400


HOSTILE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20)
    | st.sampled_from(["public-key", "e30", "eyJjaGFsbGVuZ2UiOiAieCJ9"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["id", "rawId", "type", "response", "clientDataJSON", "userHandle",
                         "authenticatorData", "signature", "attestationObject"]),
        inner, max_size=6,
    ),
    max_leaves=12,
)  # fmt: skip


@how(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(HOSTILE.map(json.dumps) | st.text(max_size=200))
def test_what_is_no_passkey_is_refused_in_a_sentence(front, credential):
    front.now += 60
    browser = front.__dict__.setdefault("hostile", Browser(front, "ada"))
    if browser.look("/pages/nodes").status_code != 200:
        browser = front.__dict__["hostile"] = Browser(front, "ada")
    for answer in (
        browser.send(SIGN, {"credential": credential}),
        browser.act(MAKE, {"credential": credential, "label": "x"}),
    ):
        assert answer.status_code == 403
    assert browser.http.cookies[COOKIE]


@how(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(
    st.sampled_from(["clientDataJSON", "authenticatorData", "signature"]),
    st.integers(0, 10_000), st.integers(1, 255),
)  # fmt: skip
def test_a_known_passkey_that_was_tampered_with_is_refused_in_a_sentence(front, name, at, flipped):
    """Each byte string of a good answer is changed somewhere."""
    from authenticator import plain, read

    front.now += 60
    passkey = front.__dict__.setdefault("passkey", None) or a_passkey(front)
    front.__dict__["passkey"], browser = passkey, Browser(front)
    said = json.loads(passkey.sign(to_sign(browser)))
    content = bytearray(read(said["response"][name]))
    content[at % len(content)] ^= flipped
    said["response"][name] = plain(bytes(content))
    assert browser.send(SIGN, {"credential": json.dumps(said)}).status_code == 403


def test_what_is_good_once_is_bounded_and_nobody_takes_anothers_place():
    once: Once[int] = Once(10.0, askers=3, each=2)
    mine = [once.make(number, "me", 0.0) for number in range(3)]
    assert [once.take(word, 1.0) for word in mine] == [None, 1, 2]
    words = [once.make(number, f"asker {number % 3}", 0.0) for number in range(6)]
    for _ in range(50):
        once.make(9, "asker 2", 0.0)
    assert [once.take(word, 1.0) for word in words[:2]] == [0, 1]
    for number in range(50):
        once.make(number, f"other {number}", 0.0)
    assert len(once) <= 6
    late = once.make(1, "me", 0.0)
    assert once.take(late, 10.0) is None
    assert once.take(late, 0.0) is None


def test_a_backup_brings_passkeys_back(front, tmp_path):
    passkey = a_passkey(front, "bob")
    office, out = front.office, tmp_path / "all.tar"
    back_up(office.database, office.objects, [office.folder / "orchestrator.pem"], out)
    (tmp_path / "new").mkdir()
    database = Database(f"sqlite:///{tmp_path}/new/testbed.db")
    restore(out, database, Objects(tmp_path / "new" / "artefacts"), tmp_path / "new")
    database.close()
    again = Front(tmp_path / "new")
    again.office.url = "https://testserver"
    assert sign_in(Browser(again), passkey).status_code == 303
    again.office.close()
