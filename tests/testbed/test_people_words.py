"""The command line for who may in: passkeys, links to a provider, and asking the calendar."""

from __future__ import annotations

import json

import pytest
from authenticator import Authenticator
from browsing import serving
from typer.testing import CliRunner
from visitors import Browser
from world_http import Front

from skyweave.cli import testbed as words
from skyweave.errors import SkyweaveError
from skyweave.testbed.client import Login

pytestmark = pytest.mark.waits


@pytest.fixture
def front(tmp_path, monkeypatch):
    """An orchestrator over TLS, with an admin who is logged in on the command line."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    made = Front(tmp_path / "office")
    made.office.url = "https://testserver"
    made.people({"ada": "admin", "bob": "researcher"})
    with serving(made) as address:
        certificate = (made.office.folder / "certificate.pem").read_text()
        Login(address, made.tokens["ada"], certificate).save()
        yield made
    made.http.close()
    made.office.close()


def said(*arguments: str) -> str:
    found = CliRunner().invoke(words.testbed_app, [*arguments])
    assert found.exit_code == 0, (found.output, found.exception)
    return found.output


def refusal(*arguments: str) -> str:
    found = CliRunner().invoke(words.testbed_app, [*arguments])
    assert isinstance(found.exception, SkyweaveError), found.output
    return str(found.exception)


def test_links_are_made_listed_and_removed(front):
    issuer = "https://id.example"
    link = said("people", "link", "bob", "sub-1", "--issuer", issuer).strip()
    (row,) = json.loads(said("people", "links", "bob", "--json"))
    assert (row["id"], row["issuer"], row["subject"]) == (link, issuer, "sub-1")
    assert "sub-1" in said("people", "links", "bob")
    assert "linked already" in refusal("people", "link", "ada", "sub-1", "--issuer", issuer)
    assert "name the issuer" in refusal("people", "link", "ada", "sub-2")
    said("people", "unlink", "bob", link)
    assert "no such link" in refusal("people", "unlink", "bob", link)
    assert json.loads(said("people", "links", "bob", "--json")) == []


def test_passkeys_are_listed_and_revoked(front):
    browser, passkey = Browser(front, "ada"), Authenticator()
    options = browser.act("/pages/tokens/passkeys/options").json()
    made = {"credential": passkey.make(options), "label": "telephone"}
    assert browser.act("/pages/tokens/passkeys", made).status_code == 303
    (row,) = json.loads(said("passkeys", "list", "--json"))
    assert row["label"] == "telephone"
    said("passkeys", "revoke", row["id"])
    assert "still good" in refusal("passkeys", "revoke", row["id"])


def test_the_calendar_is_asked_and_nothing_is_submitted(front, tmp_path):
    front.party("ada", "alice")
    study = tmp_path / "study" / "study.toml"
    study.parent.mkdir()
    study.write_text("title = 'x'\n")
    asked = ("submit", "--node", "alice", "--check")
    assert "it fits, and begins 2027-01-15" in said(*asked, "--", "true")
    assert "it fits" in said(*asked, "--study", str(study))
    assert "it fits" in said(*asked, "--trigger", "skip", "--", "true")
    assert json.loads(said("experiments", "--json")) == []
    assert "no node 'nowhere'" in refusal("submit", "--node", "nowhere", "--check", "--", "true")
