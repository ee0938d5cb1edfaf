"""Passkeys in a real browser, with Chromium's virtual authenticator (CDP, domain WebAuthn)."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

import pytest
from browsing import chromium, serving
from world_http import Front

from skyweave.testbed.access import ROLES

__all__ = ["chromium"]
pytestmark = pytest.mark.waits
PATIENCE_MS = 120_000


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    front = Front(tmp_path_factory.mktemp("office"))
    front.people({role: role for role in ROLES})
    with serving(front, "localhost") as address:
        front.office.url = front.address = address
        yield front
    front.http.close()
    front.office.close()


class Device:
    """A browser with a virtual authenticator inside it, whose user shows a finger or does not."""

    def __init__(self, chromium, address: str, **options) -> None:
        self.context = chromium.new_context(
            base_url=address, ignore_https_errors=True, **options
        )  # fmt: skip
        self.context.set_default_timeout(PATIENCE_MS)
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.cdp = self.context.new_cdp_session(self.page)
        self.cdp.send("WebAuthn.enable", {"enableUI": False})
        made = self.cdp.send(
            "WebAuthn.addVirtualAuthenticator",
            {"options": {
                "protocol": "ctap2", "transport": "internal", "hasResidentKey": True,
                "hasUserVerification": True, "isUserVerified": True,
                "automaticPresenceSimulation": True,
            }},
        )  # fmt: skip
        self.authenticator = {"authenticatorId": made["authenticatorId"]}

    def verifies(self, yes: bool) -> None:
        self.cdp.send("WebAuthn.setUserVerified", self.authenticator | {"isUserVerified": yes})

    def credentials(self) -> list[dict]:
        return self.cdp.send("WebAuthn.getCredentials", self.authenticator)["credentials"]

    def sign_in_by_token(self, token: str) -> None:
        self.page.goto("/pages/sign-in")
        self.page.fill("#secret", token)
        self.page.click("main button:text-is('Sign in')")
        self.page.wait_for_url("**/pages/nodes")

    def sign_out(self) -> None:
        self.page.click("text=Sign out")
        self.page.wait_for_url("**/pages/sign-in")

    def by_passkey(self) -> None:
        self.page.goto("/pages/sign-in?to=/pages/runs")
        self.page.click("text=Sign in with a passkey")

    def make(self, label: str) -> None:
        self.page.goto("/pages/tokens")
        self.page.fill("#passkey-label", label)
        self.page.click("button:text-is('Make a passkey')")


@pytest.fixture
def devices(chromium, served):
    made = []

    def new(**options) -> Device:
        made.append(Device(chromium, served.address, **options))
        return made[-1]

    yield new
    for one in made:
        one.context.close()
        assert one.wrong == []


def test_a_passkey_is_made_signed_in_with_and_revoked(devices, served):
    device = devices()
    page = device.page
    device.sign_in_by_token(served.tokens["researcher"])
    device.make("my telephone")
    page.wait_for_selector("caption:has-text('Passkeys of researcher')")
    (credential,) = device.credentials()
    assert credential["rpId"] == "localhost"
    assert credential["isResidentCredential"]
    device.sign_out()
    for uses in (2, 3):
        device.by_passkey()
        page.wait_for_url("**/pages/runs")
        assert "researcher" in page.inner_text(".who")
        assert device.credentials()[0]["signCount"] == uses
        if uses == 2:
            device.sign_out()
    page.goto("/pages/tokens")
    page.click("[aria-label='Revoke the passkey my telephone']")
    page.wait_for_url("**/pages/sign-in?to=/pages/tokens")  # the session ends with its passkey
    device.by_passkey()
    page.wait_for_selector("text=that passkey is not good here")
    served.office.attempts.__init__()


def test_by_keyboard_alone(devices, served):
    device = devices()
    page = device.page
    device.sign_in_by_token(served.tokens["owner"])
    page.goto("/pages/tokens")
    page.focus("#passkey-label")
    page.keyboard.type("laptop")
    page.keyboard.press("Enter")
    page.wait_for_selector("caption:has-text('Passkeys of owner')")
    device.sign_out()
    page.wait_for_selector("#secret:focus")
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.textContent") == "Sign in with a passkey"
    page.keyboard.press("Enter")
    page.wait_for_url("**/pages/nodes")


def test_who_shows_no_finger_stays_out_and_is_told(devices, served):
    device = devices()
    page = device.page
    device.sign_in_by_token(served.tokens["operator"])
    device.make("laptop")
    page.wait_for_selector("caption:has-text('Passkeys of operator')")
    device.make("again")
    page.wait_for_selector("[role=alert]:has-text('has a passkey for you already')")
    assert len(device.credentials()) == 1
    device.sign_out()
    device.verifies(False)
    device.by_passkey()
    page.wait_for_selector("[role=alert]:has-text('not allowed, or took too long')")
    assert "/pages/sign-in" in page.url
    device.verifies(True)
    page.click("text=Sign in with a passkey")
    page.wait_for_url("**/pages/runs")


def test_a_copied_passkey_is_noticed_by_its_counter(devices, served):
    device = devices()
    device.sign_in_by_token(served.tokens["admin"])
    device.make("copied")
    device.page.wait_for_selector("caption:has-text('Passkeys of admin')")
    (copy,) = device.credentials()
    device.sign_out()
    for _ in range(2):
        device.by_passkey()
        device.page.wait_for_url("**/pages/runs")
        device.sign_out()
    thief = devices()
    thief.cdp.send("WebAuthn.addCredential", thief.authenticator | {"credential": copy})
    thief.by_passkey()
    thief.page.wait_for_selector("text=that passkey is not good here")
    refused = [one for one in served.good("admin", "GET", "/audit")
               if one["action"] == "passkey.refused" and one["who"] == "admin"]  # fmt: skip
    assert "sign count" in refused[0]["detail"]
    served.office.attempts.__init__()


def test_at_another_name_of_the_same_machine_a_passkey_is_not_offered(devices, served, chromium):
    other = f"https://127.0.0.1:{urlsplit(served.address).port}"
    device = Device(chromium, other)
    device.by_passkey()
    device.page.wait_for_selector("[role=alert]:has-text('own name; open it by that')")
    device.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 768, 1400])
def test_the_pages_fit_and_are_seen(devices, served, scheme, width):
    device = devices(color_scheme=scheme, viewport={"width": width, "height": 900})
    page, shots = device.page, os.environ.get("SKYWEAVE_SHOTS")
    device.sign_in_by_token(served.tokens["researcher"])
    label = f"telephone {scheme} {width} " + "W" * 70
    device.make(label)
    page.wait_for_selector(f"[aria-label='Revoke the passkey {label}']")
    for name, where in (("tokens", "/pages/tokens"), ("sign-in", "/pages/sign-in")):
        page.goto(where)
        wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide[0] <= wide[1], (name, wide)
        if shots:
            page.screenshot(path=f"{shots}/passkey-{name}-{width}-{scheme}.png", full_page=True)
