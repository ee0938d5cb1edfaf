"""Signing in by an OpenID provider, and what must not sign in."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit, urlunsplit

import pytest
from issuer import CLIENT, SECRET, Issuer
from joserfc import jwt
from joserfc.jwk import RSAKey
from typer.testing import CliRunner
from visitors import Browser
from world_http import Front

from skyweave.cli import testbed as command_line
from skyweave.errors import ConfigError
from skyweave.testbed.access.oidc import Provider, read_client
from skyweave.testbed.pages.oidc import AWAY_S, COOKIE

LEAVE = "/pages/sign-in/oidc"
URL = "https://testserver"


@pytest.fixture
def front(tmp_path):
    made = Front(tmp_path / "office")
    made.office.url = URL
    made.people({"ada": "admin", "bob": "researcher"})
    yield made
    made.http.close()
    made.office.close()


@pytest.fixture
def issuer(front, tmp_path):
    made = Issuer(lambda: front.now)
    secret = tmp_path / "secret"
    secret.write_text(SECRET + "\n", encoding="utf-8")
    front.office.oidc = Provider(read_client(made.url, CLIENT, secret, URL), front.office.now)
    front.good("ada", "POST", "/people/bob/identities", {"subject": made.subject})
    yield made
    made.close()


def leave(browser: Browser, to: str = "/pages/runs") -> str:
    answer = browser.look(f"{LEAVE}?to={to}")
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def come_back(browser: Browser, address: str, **changed: str | None):
    """Follow the provider's redirect, with other parameters than it sent."""
    parts = urlsplit(address)
    query = dict(parse_qsl(parts.query)) | changed
    said = urlencode({name: value for name, value in query.items() if value is not None})
    return browser.look(urlunsplit(parts._replace(scheme="", netloc="", query=said)))


def sign_in(front: Front, issuer: Issuer, browser: Browser | None = None, **changed: str | None):
    browser = browser or Browser(front)
    return come_back(browser, issuer.authorize(leave(browser)), **changed)


def refused(answer, sentence: str) -> bool:
    assert answer.status_code == 403, answer.text
    assert "__Host-skyweave=" not in answer.headers.get("set-cookie", "")
    assert sentence in answer.text.replace("&#39;", "'"), answer.text
    return True


def test_who_an_admin_has_linked_signs_in_and_everything_is_noted(front, issuer):
    browser = Browser(front)
    assert "Sign in with 127.0.0.1" in browser.good("/pages/sign-in")
    answer = sign_in(front, issuer, browser)
    assert answer.status_code == 200
    assert 'http-equiv="refresh" content="0; url=/pages/runs"' in answer.text
    assert "<b>bob</b>" in browser.good("/pages/runs")
    noted = [(one["who"], one["action"], one["detail"])
             for one in front.good("ada", "GET", "/audit")]  # fmt: skip
    assert noted[0] == ("bob", "session.begin", f"by {urlsplit(issuer.url).netloc}")
    assert noted[1] == ("ada", "person.link", f"sub-of-ada of {issuer.url}")


@pytest.mark.parametrize("kind", ["RS256", "ES256"])
def test_both_kinds_of_keys(front, issuer, kind):
    issuer.kind = kind
    assert sign_in(front, issuer).status_code == 200


def test_nobody_makes_an_account_of_themselves(front, issuer):
    issuer.subject = "<b>eve</b>"
    answer = sign_in(front, issuer)
    assert answer.status_code == 403
    assert "nobody here is" in answer.text
    assert "<b>eve" not in answer.text
    newest = front.good("ada", "GET", "/audit")[0]
    assert (newest["who"], newest["action"], newest["what"], newest["detail"]) == (
        "nobody", "oidc.unknown", "<b>eve</b>", issuer.url,
    )  # fmt: skip
    assert len(front.good("ada", "GET", "/people")) == 2


LIES = {
    "another's nonce": (lambda claims: claims.update(nonce="x" * 43), "another request"),
    "no nonce": (lambda claims: claims.pop("nonce"), "another request"),
    "a list of nonces": (lambda claims: claims.update(nonce=[claims["nonce"]]), "another request"),
    "another audience": (lambda claims: claims.update(aud="other"), "not for us"),
    "no audience": (lambda claims: claims.pop("aud"), "not for us"),
    "others beside us": (lambda claims: claims.update(aud=[CLIENT, "other"]), "for another one"),
    "another party": (lambda claims: claims.update(azp="other"), "for another one"),
    "another issuer": (lambda claims: claims.update(iss="https://evil.example"), "not for us"),
    "a slash more": (lambda claims: claims.update(iss=claims["iss"] + "/"), "not for us"),
    "no issuer": (lambda claims: claims.pop("iss"), "not for us"),
    "over": (lambda claims: claims.update(exp=claims["iat"] - 61), "not for us, or not now"),
    "without an end": (lambda claims: claims.pop("exp"), "not for us"),
    "never over": (lambda claims: claims.update(exp="never"), "not for us"),
    "of tomorrow": (lambda claims: claims.update(iat=claims["iat"] + 61), "not for us"),
    "not yet": (lambda claims: claims.update(nbf=claims["iat"] + 61), "not for us"),
    "nobody": (lambda claims: claims.update(sub=""), "not for us"),
    "no subject": (lambda claims: claims.pop("sub"), "not for us"),
    "a number": (lambda claims: claims.update(sub=7), "not for us"),
    "a long subject": (lambda claims: claims.update(sub="x" * 256), "too long"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_token_that_says_anything_else_signs_nobody_in(front, issuer, lie):
    issuer.lie, sentence = LIES[lie]
    refused(sign_in(front, issuer), sentence)
    issuer.lie = lambda claims: None
    assert sign_in(front, issuer).status_code == 200


def plain(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def unsigned(claims: dict, alg: str = "none") -> str:
    return f"{plain(json.dumps({'alg': alg}).encode())}.{plain(json.dumps(claims).encode())}."


def by_public_key(issuer: Issuer):
    """RFC 8725, section 2.1: a MAC whose key is the public key that everybody has."""

    def sign(claims: dict) -> str:
        pem = issuer.keys["RS256"].as_pem(private=False)
        head = plain(json.dumps({"alg": "HS256", "kid": "r"}).encode())
        body = f"{head}.{plain(json.dumps(claims).encode())}"
        return f"{body}.{plain(hmac.new(pem, body.encode(), hashlib.sha256).digest())}"

    return sign


def by_key_of_the_header(claims: dict) -> str:
    key = RSAKey.generate_key(2048)
    header = {"alg": "RS256", "jwk": key.as_dict(private=False)}
    return jwt.encode(header, claims, key, algorithms=["RS256"])


def by_a_stolen_name(claims: dict) -> str:
    key = RSAKey.generate_key(2048, {"kid": "r"})
    return jwt.encode({"alg": "RS256", "kid": "r"}, claims, key, algorithms=["RS256"])


@pytest.mark.parametrize(
    "forge",
    [lambda _: unsigned, lambda _: lambda claims: unsigned(claims, "None"), by_public_key,
     lambda _: by_key_of_the_header, lambda _: by_a_stolen_name,
     lambda issuer: lambda claims: issuer.signed(claims)[:-8] + "AAAAAAAA",
     lambda issuer: lambda claims: issuer.signed(claims).rsplit(".", 1)[0] + ".",
     lambda _: lambda claims: "x", lambda _: lambda claims: "." * 10_000,
     lambda _: lambda claims: plain(b"[" * 50_000) + ".e30.x"],
    ids=["none", "None", "public key", "own key", "stolen name", "bent", "cut", "x", "dots",
         "deep"],
)  # fmt: skip
def test_what_its_keys_did_not_sign_signs_nobody_in(front, issuer, forge):
    issuer.sign = forge(issuer)
    refused(sign_in(front, issuer), "signature is not good")


def test_a_key_that_is_new_there_is_asked_for_once_a_minute(front, issuer):
    assert sign_in(front, issuer).status_code == 200
    issuer.keys["RS256"] = RSAKey.generate_key(2048, {"kid": "new", "use": "sig"})
    refused(sign_in(front, issuer), "signature")
    assert issuer.asked.count("/keys") == 1, "the keys are from just now"
    front.now += 61
    assert sign_in(front, issuer).status_code == 200
    issuer.sign = by_a_stolen_name
    for _ in range(3):
        refused(sign_in(front, issuer), "signature")
    assert issuer.asked.count("/keys") == 2


def test_a_state_is_good_once_soon_and_in_the_browser_that_left(front, issuer):
    browser, thief = Browser(front), Browser(front)
    address = issuer.authorize(leave(browser))
    refused(come_back(thief, address), "nobody was sent away")
    refused(come_back(browser, address), "nobody was sent away")  # it was used up
    address = issuer.authorize(leave(browser))
    assert come_back(browser, address).status_code == 200
    refused(come_back(browser, address), "nobody was sent away")
    address = issuer.authorize(leave(thief))
    leave(browser)
    refused(come_back(browser, address), "nobody was sent away")  # another's code, to be their own
    late = Browser(front)
    address = issuer.authorize(leave(late))
    front.now += AWAY_S
    refused(come_back(late, address), "nobody was sent away")
    for state in (None, "", "x", "x" * 4000):
        answer = sign_in(front, issuer, state=state)
        refused(answer, "nobody was sent away")
        front.now += 60


def test_a_code_is_good_once_and_with_its_own_verifier(front, issuer):
    browser = Browser(front)
    used = issuer.authorize(leave(browser))
    code = parse_qs(urlsplit(used).query)["code"][0]
    assert come_back(browser, used).status_code == 200
    refused(sign_in(front, issuer, code=code), "did not take that code")
    stolen = issuer.authorize(leave(Browser(front)))
    code = parse_qs(urlsplit(stolen).query)["code"][0]
    refused(sign_in(front, issuer, code=code), "did not take that code")  # PKCE
    refused(sign_in(front, issuer, code=None), "let nobody in")
    refused(sign_in(front, issuer, error="<script>"), "let nobody in (&lt;script&gt;)")


def test_an_answer_of_another_provider_is_not_asked_about(front, issuer):
    """Mix-up: RFC 9207. The code does not even leave for our provider."""
    refused(sign_in(front, issuer, iss="https://evil.example"), "from another provider")
    refused(sign_in(front, issuer, iss=None), "from another provider")
    assert "/token" not in issuer.asked


def test_a_provider_that_does_not_name_itself_in_answers_is_still_checked(front, issuer):
    issuer.described = {"authorization_response_iss_parameter_supported": False}
    assert sign_in(front, issuer, iss=None).status_code == 200
    refused(sign_in(front, issuer, iss="https://evil.example"), "from another provider")


@pytest.mark.parametrize(
    "described",
    [{"issuer": "https://evil.example"}, {"issuer": None}, {"token_endpoint": None},
     {"token_endpoint": "http://evil.example/token"}, {"jwks_uri": "file:///etc/passwd"},
     {"authorization_endpoint": "javascript:alert(1)"}],
    ids=str,
)  # fmt: skip
def test_a_description_that_does_not_fit_leads_nowhere(front, issuer, described):
    issuer.described = described
    answer = Browser(front).look(LEAVE)
    assert answer.status_code == 503
    assert "evil" not in answer.headers.get("location", "")


@pytest.mark.parametrize(
    "answer",
    [(500, b"{}"), (200, b"no JSON"), (200, b"[]"), (200, b"[" * 100_000), (302, b""),
     (200, b" " * 2_000_000)],
    ids=["500", "text", "list", "deep", "away", "long"],
)  # fmt: skip
def test_a_provider_that_answers_nonsense_is_a_sentence_and_costs_no_attempt(front, issuer, answer):
    browser = Browser(front)
    address = issuer.authorize(leave(browser))
    issuer.answer = answer
    assert come_back(browser, address).status_code in (403, 503)
    front.office.oidc = Provider(front.office.oidc.client, front.office.now)
    for _ in range(25):
        assert Browser(front).look(LEAVE).status_code == 503
    issuer.answer = None
    assert sign_in(front, issuer).status_code == 200


def test_a_provider_that_is_away_is_a_sentence(front, issuer):
    browser = Browser(front)
    address = issuer.authorize(leave(browser))
    issuer.close()
    answer = come_back(browser, address)
    assert answer.status_code == 503
    assert "does not answer; try again, or sign in with a token" in answer.text
    issuer.close = lambda: None


def test_unlinking_ends_the_sessions_that_it_began(front, issuer):
    browser, other = Browser(front), Browser(front, "bob")
    sign_in(front, issuer, browser)
    browser.good("/pages/runs")
    (linked,) = front.good("ada", "GET", "/people/bob/identities")
    assert front.ask("ada", "DELETE", f"/people/ada/identities/{linked['id']}").status_code == 404
    front.good("ada", "DELETE", f"/people/bob/identities/{linked['id']}")
    assert browser.look("/pages/runs").status_code == 303
    other.good("/pages/runs")
    refused(sign_in(front, issuer), "nobody here is")


def test_who_is_shut_out_does_not_come_in(front, issuer):
    front.good("ada", "PATCH", "/people/bob", {"disabled": True})
    assert sign_in(front, issuer).status_code == 403


def test_a_subject_is_linked_once_and_by_an_admin(front, issuer):
    wish = {"subject": issuer.subject}
    assert front.ask("ada", "POST", "/people/ada/identities", wish).status_code == 409
    assert front.ask("bob", "POST", "/people/bob/identities", {"subject": "x"}).status_code == 403
    assert (
        front.ask("ada", "POST", "/people/nobody/identities", {"subject": "x"}).status_code == 404
    )
    for subject in ("", "x" * 256, "\0"):
        answer = front.ask("ada", "POST", "/people/bob/identities", {"subject": subject})
        assert answer.status_code == 400
    elsewhere = wish | {"issuer": "https://other.example"}
    front.good("ada", "POST", "/people/ada/identities", elsewhere)
    browser = Browser(front)
    sign_in(front, issuer, browser)
    assert "<b>bob</b>" in browser.good("/pages/runs"), "not of the other issuer"


def test_a_testbed_without_a_provider_has_no_such_pages(front):
    assert "/sign-in/oidc" not in Browser(front).good("/pages/sign-in")
    assert Browser(front).look(LEAVE).status_code == 404
    assert Browser(front).look(f"{LEAVE}/back").status_code == 404
    assert front.ask("ada", "POST", "/people/bob/identities", {"subject": "x"}).status_code == 400


def test_the_way_away_is_bound_to_the_browser_and_leads_back_here(front, issuer):
    browser = Browser(front)
    answer = browser.look(f"{LEAVE}?to=https://evil.example")
    assert "samesite=lax" in answer.headers["set-cookie"].lower()
    assert answer.headers["set-cookie"].startswith(f"{COOKIE}=")
    asked = parse_qs(urlsplit(answer.headers["location"]).query)
    assert asked["redirect_uri"] == [f"{URL}/pages/sign-in/oidc/back"]
    assert SECRET not in answer.headers["location"]
    done = come_back(browser, issuer.authorize(answer.headers["location"]))
    assert "url=/pages/nodes" in done.text


def test_guesses_at_the_way_back_are_slowed(front, issuer):
    for _ in range(20):
        refused(Browser(front).look(f"{LEAVE}/back?state=x&code=y"), "nobody was sent away")
    assert Browser(front).look(f"{LEAVE}/back?state=x&code=y").status_code == 429


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--oidc-issuer", "https://a.example"], "give --oidc-client"),
        (["--oidc-client", "x"], "go with --oidc-issuer"),
        (["--oidc-issuer", "http://a.example", "--oidc-client", "x"], "begins with https://"),
        (["--oidc-issuer", "x", "--oidc-client", "x"], "begins with https://"),
        (["--oidc-issuer", "https://a.example", "--oidc-client", "x", "--oidc-secret", "/none"],
         "cannot be read"),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_are_a_sentence(tmp_path, options, sentence):
    found = CliRunner().invoke(
        command_line.testbed_app, ["up", "--data", str(tmp_path / "x"), *options]
    )
    assert isinstance(found.exception, ConfigError)
    assert sentence in str(found.exception)
    assert not (tmp_path / "x").exists()
