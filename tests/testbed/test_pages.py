"""The pages: who sees and does what, hostile text in all of them, and forms of other sites."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import tomllib
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise

import pytest
from fastapi.routing import APIRoute
from starlette.routing import Mount
from visitors import HOST, Browser
from world_http import PLAN, Front

from skyweave.plotting.style import DARK, LIGHT
from skyweave.testbed.access import RIGHTS, ROLES, first_admin_code
from skyweave.testbed.pages.app import HEADERS, OPEN, digests
from skyweave.testbed.pages.changes import Watch
from skyweave.testbed.pages.session import COOKIE, SESSION_S, Sessions

RUN = "0" * 24
EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{7*7}}\u202eabc\x1b[2J"
WHO = [(role, own) for role in ROLES for own in (True, False)]


@pytest.fixture
def front(tmp_path):
    made = Front(tmp_path / "office")
    made.people({name: role for role in ROLES for name in (role, f"other-{role}")})
    yield made
    made.http.close()
    made.office.close()


def application(front: Front):
    (found,) = [one.app for one in front.http.app.routes if isinstance(one, Mount)]
    return found


def pages(front: Front) -> list[tuple[str, str, str]]:
    """All pages with their method and the right that each asks for."""
    found, is_open = [], set()
    for outer in application(front).routes:
        inner = outer.original_router.routes if hasattr(outer, "original_router") else [outer]
        for route in inner:
            if not isinstance(route, APIRoute):
                continue
            checks = [one.call for one in route.dependant.dependencies]
            rights = [one.right for one in checks if hasattr(one, "right")]
            for method in route.methods:
                if route.path in OPEN:
                    assert not rights
                    is_open.add(route.path)
                    continue
                assert len(rights) == 1, f"{route.path} is not guarded once"
                kind = checks[0].__qualname__.partition(".")[0]
                assert kind == ("sees" if method == "GET" else "acts"), (method, route.path)
                found.append((method, f"/pages{route.path}", rights[0]))
    assert is_open == OPEN
    assert len(found) > 20, "the matrix has lost its pages"
    return found


class Stage:
    """Things of everybody: nodes, runs with a file, and experiments that wait for a trigger."""

    def __init__(self, front: Front, text: str = "t") -> None:
        self.front, self.runs, self.experiments = front, {}, {}
        for owner in ("owner", "researcher", "admin"):
            home = "owner" if owner == "owner" else "admin"
            if f"node-{home}" not in {one["name"] for one in front.good("admin", "GET", "/nodes")}:
                front.agent = agent = front.party(home, f"node-{home}")
                beat = {
                    "clock": {"offset_s": 0.01, "error_s": 0.02}, "version": text[:100],
                    "kernel": text, "isolation": text, "policy": text,
                }  # fmt: skip
                answer = agent.ask("POST", "/agent/heartbeat", json.dumps(beat).encode())
                assert answer.status_code == 200, answer.text
            plan = PLAN | {"title": text, "node": f"node-{home}", "priority": "normal"}
            waits = plan | {"when": {"kind": "trigger", "seconds": 10}}
            made = front.good(owner, "POST", "/experiments", plan)
            self.runs[owner] = made["runs"][0]
            self.experiments[owner] = front.good(owner, "POST", "/experiments", waits)["id"]
            front.good(
                owner, "POST", f"/experiments/{self.experiments[owner]}/fire",
                {"trigger": text, "context_json": json.dumps({"x": text})},
            )  # fmt: skip
            self.finish(agent, text)

    def finish(self, agent, text: str) -> None:
        """The node does what it was ordered, and leaves a drive and a report."""
        for start in [one for one in agent.orders() if one.kind == "start"]:
            said = {"run": start.specification.run, "fence": start.specification.fence}
            content = text.encode()
            artefacts = [
                {"name": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
                for name in ("drive.csv", "out.txt", "results/report.html", "tool.bin")
            ]
            done = said | {
                "kind": "finished", "outcome": "failed", "why": text, "artefacts": artefacts,
                "received_bytes": 10**7, "started_unix_s": self.front.now - 5,
                "record_json": json.dumps({text: text, "warnings": [text]}),
            }  # fmt: skip
            answer = agent.tell({"kind": "started"} | said, done)
            assert answer.status_code == 200, answer.text
            for one in artefacts:
                where = f"/agent/runs/{said['run']}/artefacts"
                held = agent.ask("POST", where, json.dumps({"artefact": one}).encode()).json()
                agent.ask("PUT", f"/agent/uploads/{held['upload']}", content, "offset=0")

    def path(self, path: str, owner: str) -> str:
        if path.startswith("/pages/people/"):
            path = path.replace("{name}", "other-researcher").replace("{identity}", RUN)
        return (
            path.replace("{run}", self.runs[owner])
            .replace("{experiment}", self.experiments[owner])
            .replace("{name:path}", "out.txt")
            .replace("{name}", "node-owner" if owner == "owner" else "node-admin")
            .replace("{token}", RUN)
            .replace("{passkey}", RUN)
        )


FORMS = {
    "/pages/nodes": {"kind": "node"}, "/pages/nodes/{name}/pause": {"paused": "no"},
    "/pages/people": {"name": "new", "role": "owner"},
    "/pages/people/{name}/role": {"role": "researcher"},
    "/pages/people/{name}/disabled": {"disabled": "no"},
    "/pages/people/{name}/links": {"subject": "s", "issuer": "https://a.example"},
    "/pages/tokens": {"label": "x", "scope": "read", "days": "1"},
}  # fmt: skip


@pytest.mark.parametrize(("role", "own"), WHO)
def test_every_page_is_shut_to_whom_the_table_of_rights_does_not_name(front, role, own):
    """Every page, every role, one's own things and another's: as the interface itself."""
    stage, asker = Stage(front), role if own else f"other-{role}"
    browser, wrong = Browser(front, asker), []
    for method, path, right in pages(front):
        if path.endswith(("/changes", "/sign-out")):
            continue  # tried by tests of their own: one has no end, the other ends the session
        for owner in ("owner", "researcher", "admin"):
            where = stage.path(path, owner)
            reach = RIGHTS[right].reach.get(role)
            if method == "POST" and path.endswith(("/revoke", "/end")) and reach and owner == role:
                continue  # it would end what the others need; what is allowed is tried below
            answer = browser.look(where) if method == "GET" else browser.act(where, FORMS.get(path))
            if reach is None:
                wrong += [] if answer.status_code == 403 else [(method, where, answer.status_code)]
                continue
            whose = "admin" if "/nodes/{name}" in path and owner != "owner" else owner
            theirs = reach == "all" or whose == asker
            on_own_node = right.startswith("runs") and owner == "owner" and asker == "owner"
            if "{" in path and "token" not in path and not theirs and not on_own_node:
                refused = answer.status_code in (403, 404)
                wrong += [] if refused else [(method, where, owner, answer.status_code)]
    assert wrong == []


@pytest.mark.parametrize("role", ROLES)
def test_pages_show_what_the_interface_answers_and_no_more(front, role):
    """A page shows a run if, and only if, the interface lists it for the same token."""
    Stage(front)
    for who in (role, f"other-{role}"):
        listed = {one["id"] for one in front.good(who, "GET", "/runs")}
        shown = set(
            re.findall(r"/pages/runs/([0-9a-f]{24})", Browser(front, who).good("/pages/runs"))
        )
        assert shown == listed


def test_who_is_not_signed_in_is_led_to_where_to_do_it(front):
    browser = Browser(front)
    for method, path, _ in pages(front):
        where = re.sub(r"\{[^}]*\}", RUN, path)
        if method == "GET":
            answer = browser.look(where)
            assert answer.status_code == 303
            assert answer.headers["location"].startswith("/pages/sign-in?to=/pages/")
            assert browser.look(where, headers={"HX-Request": "true"}).status_code == 401
        else:
            assert browser.send(where, {"csrf": "x"}).status_code == 401


def test_signing_in_leads_back_and_nowhere_else(front):
    secret = front.tokens["owner"]
    for to, leads in (
        ("/pages/runs", "/pages/runs"), ("https://evil.example/", "/pages/nodes"),
        ("//evil.example", "/pages/nodes"), ("/pages/../nodes", "/pages/nodes"),
        ("/pages//evil", "/pages/nodes"), ("javascript:alert(1)", "/pages/nodes"),
    ):  # fmt: skip
        answer = Browser(front).send("/pages/sign-in", {"secret": secret, "to": to})
        assert answer.headers["location"] == leads


def test_the_cookie_is_for_this_host_over_tls_and_for_no_script(front):
    answer = Browser(front).send("/pages/sign-in", {"secret": front.tokens["owner"]})
    name, *rest = answer.headers["set-cookie"].split("; ")
    assert name.startswith("__Host-skyweave=")
    assert {one.lower() for one in rest} >= {"httponly", "secure", "samesite=strict", "path=/"}
    assert front.tokens["owner"] not in answer.headers["set-cookie"]


def test_a_session_ends_with_its_token_by_signing_out_and_by_the_clock(front):
    made = front.good("owner", "POST", "/me/tokens", {"label": "x", "scopes": ["read"]})
    front.tokens["half"] = made["token"]
    browsers = [Browser(front, "half") for _ in range(3)]
    assert browsers[0].act("/pages/sign-out").status_code == 303
    assert [one.look("/pages/nodes").status_code for one in browsers] == [303, 200, 200]
    front.good("owner", "DELETE", f"/me/tokens/{made['id']}")
    assert [one.look("/pages/nodes").status_code for one in browsers] == [303, 303, 303]
    late = Browser(front, "admin")
    front.now += SESSION_S - 1
    late.good("/pages/nodes")
    front.now += 1
    assert late.look("/pages/nodes").status_code == 303


def test_a_token_that_may_only_read_shows_no_way_to_do_more(front):
    Stage(front)
    made = front.good("admin", "POST", "/me/tokens", {"label": "x", "scopes": ["read"]})
    front.tokens["reader"] = made["token"]
    browser = Browser(front, "reader")
    for path in ("/pages/nodes", "/pages/nodes/node-owner", "/pages/triggers"):
        assert re.findall(r'action="([^"]+)"', browser.good(path)) == ["/pages/sign-out"]
    assert browser.look("/pages/tokens").status_code == 403
    assert browser.act("/pages/nodes/node-owner/pause", {"paused": "yes"}).status_code == 403
    assert ">Tokens<" not in browser.good("/pages/nodes")


def test_a_code_signs_in_once_within_15_minutes_and_its_token_ends_with_the_session(front):
    first = Browser(front, "researcher")
    code, late = (first.secret(first.act("/pages/tokens/code")) for _ in range(2))
    second = Browser(front)
    assert second.send("/pages/sign-in", {"secret": code.lower()}).status_code == 303
    assert "researcher" in second.good("/pages/runs")
    assert second.send("/pages/sign-in", {"secret": code}).status_code == 403
    assert second.act("/pages/sign-out").status_code == 303
    labels = {one["label"]: one for one in front.good("researcher", "GET", "/me/tokens")}
    assert labels["a browser, by a one-time code"]["revoked_unix_s"] == front.now
    front.now += 901
    assert second.send("/pages/sign-in", {"secret": late}).status_code == 403


def test_a_code_of_who_was_shut_out_makes_no_token(front):
    code = (browser := Browser(front, "researcher")).secret(browser.act("/pages/tokens/code"))
    front.good("admin", "PATCH", "/people/researcher", {"disabled": True})
    assert Browser(front).send("/pages/sign-in", {"secret": code}).status_code == 403
    front.good("admin", "PATCH", "/people/researcher", {"disabled": False})
    assert (
        Browser(front).send("/pages/sign-in", {"secret": front.tokens["researcher"]}).status_code
        == 403
    )


def test_a_token_with_fewer_scopes_makes_no_code_that_has_all(front):
    wish = {"label": "x", "scopes": ["read", "manage"]}
    front.tokens["part"] = front.good("owner", "POST", "/me/tokens", wish)["token"]
    browser = Browser(front, "part")
    assert "one-time code" not in browser.good("/pages/tokens")
    assert browser.act("/pages/tokens/code").status_code == 403
    more = {"label": "y", "scope": "submit", "days": "1"}
    assert browser.act("/pages/tokens", more).status_code == 400


@pytest.mark.parametrize(
    "secret",
    ["", "skyweave_", "skyweave_" + "A" * 43, "AAAA-AAAA-AAAA-AAAA", EVIL, "x" * 100_000, "\x00"],
)
def test_what_is_no_secret_does_not_sign_in(front, secret):
    answer = Browser(front).send("/pages/sign-in", {"secret": secret})
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers
    assert "alert(1)" not in answer.text


def test_the_first_admin_comes_by_the_code_of_the_terminal(tmp_path):
    front = Front(tmp_path / "new")
    with front.office.database.write() as connection:
        code = first_admin_code(connection, front.now)
    browser = Browser(front)
    assert "Nobody is an admin yet" in browser.good("/pages/sign-in")
    wrong = {"code": "AAAA-AAAA-AAAA-AAAA", "name": "eve"}
    assert browser.send("/pages/first", wrong).status_code == 403
    answer = browser.send("/pages/first", {"code": code, "name": "ada"})
    front.tokens["ada"] = browser.secret(answer)
    assert "admin" in Browser(front, "ada").good("/pages/nodes")
    assert "Nobody is an admin yet" not in browser.good("/pages/sign-in")
    assert browser.send("/pages/first", {"code": code, "name": "eve"}).status_code == 403
    front.office.close()


# forms of other sites


def test_every_form_needs_the_word_of_the_session(front):
    stage, browser = Stage(front), Browser(front, "admin")
    other = Browser(front, "other-admin").csrf()
    before = front.good("admin", "GET", "/audit")
    for method, path, _ in pages(front):
        if method == "POST":
            where, form = stage.path(path, "admin"), FORMS.get(path, {"x": "y"})
            for csrf in ({}, {"csrf": ""}, {"csrf": other}, {"csrf": "ä"}):
                answer = browser.send(where, form | csrf)
                assert answer.status_code == 403, (where, csrf, answer.status_code)
    assert front.good("admin", "GET", "/audit") == before


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"},
     {"Sec-Fetch-Site": "same-site"}, {"Origin": HOST + ".evil.example"}],
)  # fmt: skip
def test_forms_that_another_site_sends_do_nothing(front, headers):
    browser = Browser(front, "admin")
    csrf = browser.csrf()
    for path, form in (
        ("/pages/nodes", {"kind": "node", "csrf": csrf}),
        ("/pages/sign-in", {"secret": front.tokens["owner"]}),
        ("/pages/first", {"code": "AAAA-AAAA-AAAA-AAAA", "name": "eve"}),
        ("/pages/sign-out", {"csrf": csrf}),
    ):
        assert browser.send(path, form, **headers).status_code == 403, path
    browser.good("/pages/nodes")


def test_a_body_that_is_no_form_is_one_sentence(front):
    browser = Browser(front, "admin")
    for content, kind, status in (
        (b'{"kind": "node"}', "application/json", 400),
        (b"\xff\xfe=1", "application/x-www-form-urlencoded", 400),
        (b"%ff=1", "application/x-www-form-urlencoded", 400),
        (b"a=1&" * 51, "application/x-www-form-urlencoded", 400),
        (b"a" * 1_000_001, "application/x-www-form-urlencoded", 413),
    ):
        answer = browser.http.post(
            "/pages/nodes", content=content, headers={"Content-Type": kind, "Origin": HOST}
        )
        assert answer.status_code == status, content[:20]


def test_a_cookie_alone_opens_nothing_of_the_interface(front):
    browser = Browser(front, "admin")
    assert browser.http.cookies[COOKIE]
    for path in ("/nodes", "/people", "/me/tokens", "/audit"):
        assert browser.look(path).status_code == 401


# what pages say


class Markup(HTMLParser):
    """What is in a page: elements, attributes, headings, labels."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def all(self, *tags: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.found if tag in tags]


def every_page(front: Front, stage: Stage, who: str) -> dict[str, str]:
    browser, found = Browser(front, who), {}
    for method, path, _ in pages(front):
        if method == "GET" and not path.endswith(("/changes", "/series", "{name:path}")):
            for owner in ("owner", "researcher"):
                where = stage.path(path, owner)
                found[where] = browser.good(where)
    fired = browser.good("/pages/triggers")
    for run in set(re.findall(r"/pages/runs/([0-9a-f]{24})", fired)):
        found[f"/pages/runs/{run}"] = browser.good(f"/pages/runs/{run}")
    return found


def test_hostile_names_are_text_on_every_page(front):
    text = EVIL[:100]
    found = every_page(front, Stage(front, text), "admin")
    assert sum("alert(1)" in page for page in found.values()) >= 4, "it is shown somewhere"
    for where, page in found.items():
        markup = Markup(page)
        assert all(one.get("src") for one in markup.all("script")), where
        assert not markup.all("img", "iframe", "object", "embed", "base", "style"), where
        names = {name for _, attributes in markup.found for name in attributes}
        assert not {one for one in names if one.startswith("on") or one == "style"}, where
        assert "49" not in re.findall(r"onerror=alert\(1\)&gt;(.{2})", page), where
        assert "\u202e" not in page, where
        assert "\x1b" not in page, where


def test_hostile_queries_and_paths_are_text_or_refused(front):
    browser = Browser(front, "admin")
    for path in (
        f"/pages/runs?state={'x' * 17}", "/pages/calendar?since=-1", "/pages/calendar?since=x",
        "/pages/nodes/%3Cscript%3E", "/pages/runs/..%2f..", "/pages/nothing",
        "/pages/static/../app.py",
        "/pages/static/vendored.toml", f"/pages/runs/{RUN}/shown/%2e%2e/x",
    ):  # fmt: skip
        answer = browser.look(path)
        assert answer.status_code in (400, 404), path
        assert "<script>" not in answer.text.replace("<script src", "")
    said = browser.good("/pages/runs?node=%22%3E%3Cscript%3Ealert(1)%3C/script%3E")
    assert "<script>alert" not in said
    assert browser.look("/pages/calendar?since=100000000000").status_code == 200


def test_every_answer_has_the_headers(front):
    stage, browser = Stage(front), Browser(front, "admin")
    for method, path, _ in pages(front):
        if method == "GET" and not path.endswith("/changes"):
            answer = browser.look(stage.path(path, "admin"))
            for name, value in HEADERS.items():
                if "/shown/" not in path or name != "Content-Security-Policy":
                    assert answer.headers[name] == value, (path, name)
    for path in ("/pages/sign-in", "/pages/nothing", "/pages/static/pages.css"):
        policy = browser.look(path).headers["Content-Security-Policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy


def test_what_a_run_wrote_is_shown_in_a_place_of_its_own(front):
    stage, browser = Stage(front, EVIL[:60]), Browser(front, "admin")
    (run,) = {one["id"] for one in front.good("researcher", "GET", "/runs") if one["trigger"]}
    for name, kind in (("results/report.html", "text/html"), ("out.txt", "text/plain")):
        answer = browser.look(f"/pages/runs/{run}/shown/{name}")
        assert answer.headers["content-type"].startswith(kind)
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("sandbox;")
        assert "script" not in policy
        assert "allow" not in policy
    assert browser.look(f"/pages/runs/{run}/shown/tool.bin").status_code == 404
    saved = browser.look(f"/pages/runs/{run}/artefacts/results/report.html")
    assert saved.headers["content-disposition"].startswith("attachment")
    assert "Open the report" in browser.good(f"/pages/runs/{run}")
    at_home = Browser(front, "operator").good(f"/pages/runs/{run}")
    assert "Open the report" not in at_home
    assert "for researcher alone" in at_home
    assert stage.runs


def test_pages_have_headings_labels_and_names_for_who_does_not_see_them(front):
    found = every_page(front, Stage(front), "admin") | {"in": Browser(front).good("/pages/sign-in")}
    for where, page in found.items():
        markup = Markup(page)
        assert markup.all("html")[0]["lang"] == "en"
        levels = [int(tag[1]) for tag, _ in markup.found if re.fullmatch(r"h[1-6]", tag)]
        assert levels.count(1) == 1, where
        assert all(b - a <= 1 for a, b in pairwise(levels)), (where, levels)
        ids = [one["id"] for _, one in markup.found if "id" in one]
        assert len(ids) == len(set(ids)), (where, ids)
        labelled = {one.get("for") for one in markup.all("label")}
        for field in markup.all("input", "select", "textarea"):
            if field.get("type") not in ("hidden", "checkbox", "radio"):
                assert field.get("id") in labelled, (where, field)
        assert len(markup.all("main")) == 1
        assert page.count("<table") == page.count("<caption"), where


def test_the_calendar_names_whom_it_may_and_places_what_it_shows(front):
    front.party("owner", "alice")
    plan = PLAN | {"when": {"kind": "once", "start": int(front.now) + 1800, "seconds": 3600}}
    front.good("researcher", "POST", "/experiments", plan)
    for who, is_theirs in (("researcher", True), ("other-researcher", False), ("admin", True)):
        said = Browser(front, who).good("/pages/calendar")
        (bar,) = re.findall(r'<rect class="(\w+)" x="([\d.]+)%" y="5" width="([\d.]+)%"', said)
        assert bar[0] == ("exclusive" if is_theirs else "foreign")
        begin = int(front.now) // 3600 * 3600 - 3600
        assert float(bar[1]) == pytest.approx((front.now + 1800 - begin) / 864, abs=0.01)
        assert float(bar[2]) == pytest.approx(100 * 3602 / 86_400, abs=0.01)
        assert ("researcher</td>" in said) is is_theirs


def test_the_calendar_shows_promises_to_whom_they_are_made(front):
    front.party("owner", "alice")
    every = {"kind": "every", "start": int(front.now) + 1800, "period": 7200, "seconds": 60}
    plan = PLAN | {"title": "each two hours", "when": every}
    front.good("researcher", "POST", "/experiments", plan)
    for who, count in (("researcher", 11), ("admin", 11), ("other-researcher", 0), ("owner", 0)):
        said = Browser(front, who).good("/pages/calendar")
        assert said.count('class="exclusive promise"') == count, who
        assert ("promised: each two hours" in said) is (count > 0)
        assert len(re.findall(r'<rect class="(?:exclusive|foreign)" x=', said)) == 1
    tomorrow = f"/pages/calendar?since={int(front.now) + 86_400}"
    assert Browser(front, "researcher").good(tomorrow).count('class="exclusive promise"') == 12


def test_a_node_shows_its_clock_and_what_runs_carried(front):
    Stage(front)
    series = json.loads(Browser(front, "admin").good("/pages/nodes/node-owner/series"))
    assert series["clock"] == [[front.now], [10.0], [20.0]]
    when, received, sent = series["carried"]
    assert len(when) == 2
    assert received == pytest.approx([16.0, 16.0])
    assert sent == [0.0, 0.0]
    foreign = json.loads(Browser(front, "other-owner").good("/pages/nodes/node-owner/series"))
    assert foreign["carried"] == [[], [], []]
    assert Browser(front, "admin").look("/pages/nodes/nobody/series").status_code == 404


def test_a_node_shows_what_its_dish_and_modem_say(front):
    agent = front.party("owner", "alice")
    browser = Browser(front, "admin")
    said = {"clock": {"offset_s": 0.01, "error_s": 0.02}, "version": "1"}

    def beat(**more) -> int:
        front.now += 30
        body = json.dumps(said | more).encode()
        return agent.ask("POST", "/agent/heartbeat", body).status_code

    assert beat() == 200
    series = json.loads(browser.good("/pages/nodes/alice/series"))
    assert [len(series[one][0]) for one in ("dish", "ping", "radio", "quality")] == [0] * 4
    assert 'data-chart="dish"' not in browser.good("/pages/nodes/alice")
    first = front.now + 30
    assert beat(dish={"down_mbps": 42.0, "ping_latency_ms": 31.0}) == 200
    assert beat(dish={"down_mbps": -42.0}) == 400
    assert beat(dish={"up_mbps": 4.0}, radio={"kind": "5g", "rsrp_dbm": -95.0}) == 200
    series = json.loads(browser.good("/pages/nodes/alice/series"))
    assert series["dish"] == [[first, front.now], [42.0, None], [None, 4.0]]
    assert series["ping"] == [[first, front.now], [31.0, None]]
    assert series["radio"] == [[front.now], [-95.0]]
    assert series["quality"] == [[front.now], [None], [None]]
    page = browser.good("/pages/nodes/alice")
    assert "4.0 Mbit/s up" in page
    assert "5G: RSRP \N{MINUS SIGN}95 dBm" in page
    assert all(f'data-chart="{one}"' in page for one in ("dish", "ping", "radio", "quality"))


def test_what_is_allowed_works_by_forms(front):
    """The other half of the matrix: pause, stop, fire, end, invite, token, revoke."""
    front.party("owner", "alice")
    waits = PLAN | {"when": {"kind": "trigger", "seconds": 10}}
    experiment = front.good("researcher", "POST", "/experiments", waits)["id"]
    owner, researcher = Browser(front, "owner"), Browser(front, "researcher")
    fired = researcher.act(f"/pages/triggers/{experiment}/fire")
    run = fired.headers["location"].rpartition("/")[2]
    assert "Stop this run" in owner.good(f"/pages/runs/{run}")
    assert owner.act(f"/pages/runs/{run}/stop").status_code == 303
    assert front.good("owner", "GET", f"/runs/{run}")["run"]["state"] == "stopping"
    assert researcher.act(f"/pages/triggers/{experiment}/end").status_code == 303
    assert front.good("researcher", "GET", f"/experiments/{experiment}")["ended_unix_s"]
    for paused in ("yes", "no"):
        assert owner.act("/pages/nodes/alice/pause", {"paused": paused}).status_code == 303
        assert front.good("owner", "GET", "/nodes/alice")["paused"] is (paused == "yes")
    assert "node join 'https://" in owner.secret(owner.act("/pages/nodes", {"kind": "node"}))
    assert owner.act("/pages/nodes", {"kind": EVIL}).status_code == 400
    made = owner.act("/pages/tokens", {"label": "ci", "scope": "read", "days": "2"})
    front.tokens["ci"] = owner.secret(made)
    assert front.good("ci", "GET", "/me")["scopes"] == ["read"]
    (token,) = [one for one in front.good("owner", "GET", "/me/tokens") if one["label"] == "ci"]
    assert owner.act(f"/pages/tokens/{token['id']}/revoke").status_code == 303
    assert front.ask("ci", "GET", "/me").status_code == 401
    for days in ("x", "nan", "1e9", "-1", ""):
        wish = {"label": "ci", "scope": "read", "days": days}
        assert owner.act("/pages/tokens", wish).status_code == 400
    assert owner.act("/pages/nodes/alice/revoke").status_code == 303
    assert front.good("owner", "GET", "/nodes/alice")["revoked"]


def test_what_nobody_thought_of_tells_nothing_of_the_inside(front, monkeypatch, capsys):
    browser = Browser(front, "admin")
    monkeypatch.setattr("skyweave.testbed.pages.nodes.page", lambda *_, **__: 1 / 0)
    answer = browser.look("/pages/nodes")
    assert answer.status_code == 500
    assert "division" not in answer.text
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_sessions_are_bounded_and_the_oldest_go():
    sessions = Sessions(most=3)
    cookies = [sessions.begin("t", 0.0) for _ in range(5)]
    assert [sessions.find(one, 0.0) is not None for one in cookies] == [False] * 2 + [True] * 3
    assert sessions.find(None, 0.0) is None
    assert sessions.find("", 0.0) is None


# what changes


def test_who_watches_hears_of_what_changes_and_of_nothing_else(front):
    front.party("owner", "alice")
    watch = Watch(front.office.database, look_s=0.0)

    async def heard(do, count: int) -> list[str]:
        events = watch.follow()
        first = {await anext(events), await anext(events)}
        assert first == {"nodes", "runs"}, "both at once, for what was missed"
        do()
        found = [await anext(events) for _ in range(count)]
        await events.aclose()
        return found

    pause = lambda: front.good("owner", "PATCH", "/nodes/alice", {"paused": True})  # noqa: E731
    assert sorted(asyncio.run(heard(pause, 2))) == ["nodes", "runs"]
    submit = lambda: front.good("owner", "POST", "/experiments", PLAN)  # noqa: E731
    assert asyncio.run(heard(submit, 1)) == ["runs"]
    assert watch.look() == watch.look()


# what is served


def test_scripts_of_others_are_as_they_were_published():
    folder = files("skyweave.testbed.pages") / "static" / "vendor"
    listed = tomllib.loads((folder / "vendored.toml").read_text())["package"]
    named = {name: digest for one in listed for name, digest in one["files"].items()}
    there = {file.name for file in folder.iterdir()} - {"vendored.toml"}
    assert set(named) == there
    for name, digest in named.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest, name
    assert {name: digests().get(name, digest) for name, digest in named.items()} == named


def test_pages_have_the_colours_of_figures():
    text = (files("skyweave.testbed.pages") / "static" / "pages.css").read_text()
    light, dark = text.split("prefers-color-scheme: dark", 1)
    for said, colours in ((light, LIGHT), (dark.split("}\n}", 1)[0], DARK)):
        found = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", said))
        shared = found.keys() & colours.keys()
        assert {name: found[name] for name in shared} == {name: colours[name] for name in shared}
        assert len(shared) >= 9
