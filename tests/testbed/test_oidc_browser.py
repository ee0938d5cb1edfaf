"""An OpenID provider at another site, in a real browser: there and back, with strict cookies."""

from __future__ import annotations

import os

import pytest
from browsing import chromium, serving
from issuer import CLIENT, SECRET, Issuer
from world_http import Front

from skyweave.testbed.access.oidc import Client, Provider

__all__ = ["chromium"]
pytestmark = pytest.mark.waits


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """An orchestrator at ``localhost``; its provider is at 127.0.0.1, which is another site."""
    front = Front(tmp_path_factory.mktemp("office"))
    front.people({"ada": "admin", "bob": "researcher"})
    issuer = Issuer(lambda: front.now, "ES256")
    with serving(front, "localhost") as address:
        front.office.url = front.address = address
        back = f"{address}/pages/sign-in/oidc/back"
        front.office.oidc = Provider(Client(issuer.url, CLIENT, SECRET, back), front.office.now)
        front.good("ada", "POST", "/people/bob/identities", {"subject": issuer.subject})
        yield front, issuer
    issuer.close()
    front.http.close()
    front.office.close()


@pytest.fixture
def open_page(chromium, served):
    contexts = []

    def make(**options):
        contexts.append(chromium.new_context(
            base_url=served[0].address, ignore_https_errors=True, **options,
        ))  # fmt: skip
        contexts[-1].set_default_timeout(120_000)
        return contexts[-1].new_page()

    yield make
    for one in contexts:
        one.close()


@pytest.mark.parametrize("scripts", [True, False])
def test_there_and_back(open_page, served, scripts):
    page = open_page(java_script_enabled=scripts)
    page.goto("/pages/runs")
    page.wait_for_url("**/pages/sign-in?to=/pages/runs")
    page.click("text=Sign in with 127.0.0.1")
    page.wait_for_url("**/pages/runs")
    assert page.inner_text(".who b") == "bob"
    (cookie,) = [one for one in page.context.cookies() if one["name"] == "__Host-skyweave"]
    assert cookie["sameSite"] == "Strict"
    assert cookie["httpOnly"]
    page.click("text=Sign out")
    page.wait_for_url("**/pages/sign-in")


def test_by_keyboard(open_page):
    page = open_page()
    page.goto("/pages/sign-in")
    page.wait_for_selector("#secret:focus")  # by the page, which may get to it later
    for _ in range(20):
        page.keyboard.press("Shift+Tab")
        if "127.0.0.1" in page.evaluate("document.activeElement.textContent"):
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/pages/nodes")


def test_who_has_no_account_is_told_whom_to_ask(open_page, served):
    _, issuer = served
    page, known = open_page(), issuer.subject
    issuer.subject = "somebody-else"
    page.goto("/pages/sign-in")
    page.click("text=Sign in with 127.0.0.1")
    page.wait_for_selector("text=nobody here is 'somebody-else'")
    issuer.subject = known


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 768, 1400])
def test_the_page_fits(open_page, scheme, width):
    page = open_page(color_scheme=scheme, viewport={"width": width, "height": 900})
    page.goto("/pages/sign-in")
    wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide[0] <= wide[1]
    if shots := os.environ.get("SKYWEAVE_SHOTS"):
        page.screenshot(path=f"{shots}/oidc-{width}-{scheme}.png", full_page=True)
