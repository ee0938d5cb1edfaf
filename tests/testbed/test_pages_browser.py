"""The pages in a real browser: by keyboard, narrow and wide, light and dark, as things change."""

from __future__ import annotations

import json
import math
import os

import pytest
from browsing import chromium, serving
from test_pages import EVIL, Stage
from world_http import PLAN, Front

from skyweave.testbed.access import ROLES

__all__ = ["chromium"]
pytestmark = pytest.mark.waits
WIDTHS = (400, 768, 1400)
PATIENCE_MS = 120_000
DRAWN = "[data-chart={}][data-points] canvas"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """An orchestrator over TLS, with nodes, runs, and text that is not harmless."""
    front = Front(tmp_path_factory.mktemp("office"))
    front.people({name: role for role in ROLES for name in (role, f"other-{role}")})
    Stage(front, "night probe")
    front.good(  # a name that cannot be broken
        "admin", "POST", "/experiments",
        PLAN | {"node": "node-admin", "title": "W" * 200,
                "when": {"kind": "trigger", "seconds": 5}},
    )  # fmt: skip
    for number, length in ((1, 600), (3, 5400), (9, 30)):
        when = {"kind": "once", "start": int(front.now) + 3600 * number, "seconds": length}
        whose = "researcher" if number != 3 else "admin"
        front.good(whose, "POST", "/experiments", PLAN | {"node": "node-admin", "when": when})
    front.good(
        "owner", "POST", "/experiments",
        PLAN | {"node": "node-owner", "title": EVIL[:150],
                "when": {"kind": "trigger", "seconds": 5, "policy": "wait"}},
    )  # fmt: skip
    with serving(front) as front.address:
        yield front
    front.http.close()
    front.office.close()


@pytest.fixture
def open_page(chromium, served):
    """Pages of a browser in which nothing has gone wrong when the test ends."""
    contexts, wrong = [], []

    def make(who: str | None = None, width: int = 1400, **options):
        context = chromium.new_context(
            base_url=served.address, ignore_https_errors=True,
            viewport={"width": width, "height": 900}, **options,
        )  # fmt: skip
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(f"a dialog: {dialog.message}"))
        if who:
            page.goto("/pages/sign-in")
            page.fill("#secret", served.tokens[who])
            page.click("main button:has-text('Sign in')")
            page.wait_for_url("**/pages/nodes")
        return page

    yield make
    for context in contexts:
        context.close()
    assert wrong == []


def beat(front: Front, version: str, offset_s: float) -> None:
    said = {"clock": {"offset_s": offset_s, "error_s": 0.004}, "version": version,
            "kernel": "6.1.0", "isolation": "bubblewrap, cgroup v2", "free_bytes": 10**11,
            "policy": "from 22 to 6 o'clock; 5 GB a day; tcp and probes of anybody"}  # fmt: skip
    front.now += 30
    turn = math.sin(front.now / 200)
    said["dish"] = {
        "down_mbps": 120 + 60 * turn, "up_mbps": 12 + 5 * turn, "obstructed_ratio": 0.01,
        "ping_latency_ms": 34 + 8 * turn, "ping_drop_ratio": 0.002,
    }  # fmt: skip
    said["radio"] = {
        "kind": "lte", "rsrp_dbm": -97 + 6 * turn, "rsrq_db": -11.0, "rssi_dbm": -67.0,
        "sinr_db": 9 + 5 * turn,
    }  # fmt: skip
    answer = front.agent.ask("POST", "/agent/heartbeat", json.dumps(said).encode())
    assert answer.status_code == 200, answer.text


def places(front: Front) -> dict[str, str]:
    runs = front.good("admin", "GET", "/runs")
    over = next(one["id"] for one in runs if one["trigger"])
    return {
        "nodes": "/pages/nodes", "node": f"/pages/nodes/{front.agent.name}",
        "calendar": "/pages/calendar", "runs": "/pages/runs", "run": f"/pages/runs/{over}",
        "triggers": "/pages/triggers", "profiles": "/pages/profiles", "tokens": "/pages/tokens",
        "submit": "/pages/submit",
        "people": "/pages/people", "person": "/pages/people/owner", "audit": "/pages/audit",
    }  # fmt: skip


def test_by_keyboard_from_signing_in_to_a_paused_node(open_page, served):
    page = open_page()
    page.goto("/pages/sign-in")
    page.wait_for_selector("#secret:focus")
    page.keyboard.type(served.tokens["owner"])
    page.keyboard.press("Enter")
    page.wait_for_url("**/pages/nodes")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    focused = "document.activeElement.textContent.trim()"
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate(focused) == "node-owner":
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/pages/nodes/node-owner")
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate(focused) == "Pause":
            break
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Let it go on")
    assert served.good("owner", "GET", "/nodes/node-owner")["paused"]
    served.good("owner", "PATCH", "/nodes/node-owner", {"paused": False})


def test_an_experiment_is_submitted_by_keyboard(open_page, served):
    page = open_page("researcher")
    page.goto("/pages/submit")
    press, focused = page.keyboard.press, "document.activeElement.id"

    def on_to(field: str) -> None:
        for _ in range(40):
            press("Tab")
            if page.evaluate(focused) == field:
                return
        raise AssertionError(field)

    on_to("title")
    page.keyboard.type("from the keyboard")
    on_to("node")
    page.keyboard.type("node-admin")
    on_to("command")
    page.keyboard.type("ping -c 3 192.0.2.1")
    assert not page.is_visible("#study")
    assert not page.is_visible("#start")
    for _ in range(40):
        press("Tab")
        if page.evaluate("document.activeElement.name") == "when":
            break
    press("ArrowDown")  # from the nearest gap to a time
    assert page.is_visible("#start")
    on_to("start")
    page.fill("#start", "2027-01-15T09:01:00")  # in the way of a run of an hour from now
    page.select_option("#priority", "exclusive")
    page.click("text=Ask the calendar")
    page.wait_for_selector("[role=alert]:has-text('Something is in the way')")
    assert page.input_value("#title") == "from the keyboard"
    page.focus("button[name=at_nearest]")
    press("Enter")
    page.wait_for_url(lambda url: not url.endswith("/submit"))
    (made,) = [one for one in served.good("researcher", "GET", "/experiments")
               if one["plan"]["title"] == "from the keyboard"]  # fmt: skip
    assert made["plan"]["when"]["start"] > served.now + 3660
    served.good("researcher", "DELETE", f"/experiments/{made['id']}")


def test_what_changes_is_shown_without_a_reload(open_page, served):
    beat(served, "0.2.0", 0.001)
    nodes, node, runs = (open_page("admin") for _ in range(3))
    node.goto(places(served)["node"])
    runs.goto("/pages/runs")
    for page in (nodes, node, runs):
        page.evaluate("window.stayed = true")
    node.wait_for_selector(DRAWN.format("clock"))
    before = int(node.get_attribute("[data-chart=clock]", "data-points"))
    told = int(node.get_attribute("[data-chart=dish]", "data-points"))
    beat(served, "0.2.1-new", 0.003)
    nodes.wait_for_selector("text=0.2.1-new")
    node.wait_for_selector("text=0.2.1-new")
    node.wait_for_selector(f"[data-chart=clock][data-points='{before + 1}'] canvas")
    for chart in ("dish", "ping", "radio", "quality"):
        node.wait_for_selector(f"[data-chart={chart}][data-points='{told + 1}'] canvas")
    node.wait_for_selector(DRAWN.format("carried"))
    plan = PLAN | {"node": "node-owner", "priority": "normal"}
    made = served.good("admin", "POST", "/experiments", plan)["runs"][0]
    runs.wait_for_selector(f"a[href='/pages/runs/{made}']")
    for page in (nodes, node, runs):
        assert page.evaluate("window.stayed"), "the page was loaded anew"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_is_wider_than_the_window(open_page, served, scheme, width):
    for number in range(20):
        beat(served, "0.2.0", 0.002 + number * 1e-4)
    page, shots = open_page("admin", width, color_scheme=scheme), os.environ.get("SKYWEAVE_SHOTS")
    grounds = set()
    for name, where in {"sign-in": "/pages/sign-in", **places(served)}.items():
        page.goto(where)
        if name == "node":
            for chart in ("carried", "clock", "dish", "ping", "radio", "quality"):
                page.wait_for_selector(DRAWN.format(chart))
        if name == "submit":  # with all that it can show
            page.check("[value=study]")
            page.check("[value=every]")
        wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide[0] <= wide[1], (name, wide)
        over = page.evaluate(
            "[...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right"
            " > innerWidth + 1 && !e.closest('.scroll, pre, svg')).map(e => e.outerHTML)"
        )
        assert over == [], name
        grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        if shots:
            page.screenshot(path=f"{shots}/{name}-{width}-{scheme}.png", full_page=True)
    assert grounds == {"rgb(246, 245, 242)" if scheme == "light" else "rgb(15, 19, 27)"}


def test_without_javascript_all_but_charts_works(open_page, served):
    page = open_page("owner", java_script_enabled=False)
    for name, where in places(served).items():
        if name not in ("run", "people", "person", "audit"):  # not an owner's
            page.goto(where)
            assert page.inner_text("h1")
    page.goto("/pages/nodes/node-owner")
    page.click("button:has-text('Pause')")
    page.wait_for_selector("text=Let it go on")
    page.click("text=Let it go on")
    page.wait_for_selector("button:has-text('Pause')")
    page.click("text=Sign out")
    page.wait_for_url("**/pages/sign-in")
    page.goto("/pages/nodes")
    assert "/pages/sign-in" in page.url


def test_a_report_of_a_run_runs_no_script_and_sees_no_session(open_page, served):
    page = open_page("admin")
    page.goto(places(served)["run"])
    page.click("text=Open the report")
    page.wait_for_url("**/shown/results/report.html")
    assert "night probe" in page.inner_text("body")
    assert page.evaluate("self.origin") == "null"
