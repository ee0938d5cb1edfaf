"""Pages for accounts, the audit log, and submitting experiments."""

from __future__ import annotations

import json
import re

import pytest
from test_pages import EVIL
from visitors import Browser
from world_http import PLAN, Front

from skyweave.testbed.access import ROLES, note

NOON = "2027-01-15T12:00:00"
FORM = {
    "title": "ping", "node": "alice", "work": "command", "command": "ping -c 3 'a b'",
    "when": "soon", "seconds": "60", "tolerance": "2", "priority": "exclusive", "kind": "",
    "do": "submit",
}  # fmt: skip


@pytest.fixture
def front(tmp_path):
    made = Front(tmp_path / "office")
    made.people({name: role for role in ROLES for name in (role, f"other-{role}")})
    made.party("owner", "alice")
    yield made
    made.http.close()
    made.office.close()


def run_of(answer) -> str:
    assert answer.status_code == 303, re.sub(r"<[^>]*>", "", answer.text)
    return answer.headers["location"].rpartition("/")[2]


def experiment(front: Front, who: str = "researcher") -> dict:
    return front.good(who, "GET", "/experiments")[0]


# submitting


def test_a_command_is_submitted_as_its_words(front):
    browser = Browser(front, "researcher")
    run = run_of(browser.act("/pages/submit", FORM))
    plan = experiment(front)["plan"]
    assert plan["work"] == {"kind": "command", "argv": ["ping", "-c", "3", "a b"]}
    assert plan["kind"] == "command"
    assert front.good("researcher", "GET", f"/runs/{run}")["run"]["node"] == "alice"


def test_a_study_goes_with_the_experiment(front):
    study = '# "quoted"\r\ntitle = "<b>x</b>"\r\n'
    form = FORM | {"work": "study", "study": study}
    run_of(Browser(front, "researcher").act("/pages/submit", form))
    plan = experiment(front)["plan"]
    assert plan["work"]["file"] == "study.toml"
    assert plan["kind"] == "tcp"
    kept = b"".join(front.office.objects.read(f"inputs/{plan['input']['sha256']}"))
    assert study.replace("\r\n", "\n").encode() in kept
    assert len(kept) == plan["input"]["bytes"]


@pytest.mark.parametrize(
    ("changed", "when", "leads"),
    [
        ({"when": "once", "start": NOON}, {"kind": "once", "start": 1_800_014_400},
         "calendar"),
        ({"when": "every", "start": NOON, "period": "7200"}, {"kind": "every", "period": 7200},
         "calendar"),
        ({"when": "cron", "expression": "5 * * * *"}, {"kind": "cron", "expression": "5 * * * *"},
         "runs"),
        ({"when": "trigger", "policy": "wait"}, {"kind": "trigger", "policy": "wait"}, "triggers"),
    ],
    ids=["once", "every", "cron", "trigger"],
)  # fmt: skip
def test_all_kinds_of_times(front, changed, when, leads):
    answer = Browser(front, "researcher").act("/pages/submit", FORM | changed)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith(f"/pages/{leads}")
    assert experiment(front)["plan"]["when"].items() >= when.items()


def test_the_calendar_is_asked_without_anything_being_reserved(front):
    browser = Browser(front, "researcher")
    answer = browser.act("/pages/submit", FORM | {"do": "check"})
    assert answer.status_code == 200
    assert "It fits." in answer.text
    assert "2027-01-15 08:00:00" in answer.text
    assert 'value="ping -c 3 &#39;a b&#39;"' in answer.text, "the form stayed as it was"
    assert front.good("admin", "GET", "/runs") == front.good("admin", "GET", "/experiments") == []


def test_what_is_in_the_way_comes_with_the_nearest_gap_and_takes_it_at_a_press(front):
    at_half = FORM | {"when": "once", "start": "2027-01-15T08:30:00", "seconds": "600"}
    run_of(Browser(front, "admin").act("/pages/submit", at_half))
    browser = Browser(front, "researcher")
    for do, status in (("check", 200), ("submit", 409)):
        answer = browser.act("/pages/submit", at_half | {"do": do})
        assert answer.status_code == status
        assert "Something is in the way" in answer.text
        (nearest,) = re.findall(r'name="at_nearest" value="(\d+)"', answer.text)
        assert int(nearest) == 1_800_001_800 + 602
    taken = {name: value for name, value in at_half.items() if name != "do"}
    run = run_of(browser.act("/pages/submit", taken | {"at_nearest": nearest}))
    assert front.good("researcher", "GET", f"/runs/{run}")["run"]["start_unix_s"] == int(nearest)


def test_the_interface_answers_the_same(front):
    plan = PLAN | {"when": {"kind": "once", "start": int(front.now) + 60, "seconds": 600}}
    said = front.good("researcher", "POST", "/experiments/check", plan)
    assert said == {
        "fits": True, "begins_unix_s": front.now + 60, "taken_unix_s": None,
        "nearest_unix_s": None,
    }  # fmt: skip
    front.good("researcher", "POST", "/experiments", plan)
    said = front.good("other-researcher", "POST", "/experiments/check", plan)
    assert (said["fits"], said["taken_unix_s"]) == (False, front.now + 60)
    moved = plan | {"when": plan["when"] | {"start": said["nearest_unix_s"]}}
    assert front.good("researcher", "POST", "/experiments/check", moved)["fits"]
    for when, fits in (
        ({"kind": "soon", "seconds": 60}, True),
        ({"kind": "soon", "seconds": 600, "before": int(front.now) + 300}, False),
        ({"kind": "trigger", "seconds": 60}, True),
        ({"kind": "cron", "expression": "30 * * * *", "seconds": 60}, True),
    ):
        answer = front.good("researcher", "POST", "/experiments/check", PLAN | {"when": when})
        assert answer["fits"] is fits, when
    past = PLAN | {"when": {"kind": "once", "start": 5, "seconds": 60}}
    assert front.ask("researcher", "POST", "/experiments/check", past).status_code == 400
    assert front.ask("other-owner", "POST", "/experiments/check", plan).status_code == 403
    nowhere = PLAN | {"node": "nowhere"}
    assert front.ask("researcher", "POST", "/experiments/check", nowhere).status_code == 404


@pytest.mark.parametrize("do", ["check", "submit"])
@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"title": ""}, "title"), ({"node": "nowhere"}, "there is no node"),
        ({"node": "'; DROP"}, "node"), ({"command": ""}, "give a command"),
        ({"command": "a 'b"}, "quotation mark"), ({"seconds": "x"}, "whole seconds"),
        ({"seconds": "-1"}, "seconds"), ({"seconds": "1e3"}, "whole seconds"),
        ({"seconds": "9" * 5000}, "seconds"),
        ({"when": "once", "start": "soon"}, "give a time such as"),
        ({"when": "once", "start": "0001-01-01T00:00:00"}, "start"),
        ({"when": "once", "start": "2000-01-01T00:00:00"}, "is past"),
        ({"when": "never"}, "when"), ({"when": "cron", "expression": "x"}, "expression"),
        ({"when": "every", "start": NOON, "period": "1"}, "period"),
        ({"when": "trigger", "policy": "x"}, "policy"), ({"priority": "first"}, "priority"),
        ({"kind": "x"}, "kind"), ({"tolerance": "4000"}, "tolerance"), ({"work": "study"}, "study"),
        ({"work": "study", "study": "= ="}, "no TOML"),
        ({"work": "study", "study": "a = " + "[" * 100_000}, "no TOML"),
        ({"work": "study", "study": "#" * 200_001}, "at most"),
        ({"server": "alice"}, "server"), ({"command": "x" * 3000}, "argv"),
        ({"command": "a\0b"}, "argv"), ({"title": EVIL, "command": ""}, "give a command"),
    ],
    ids=lambda one: one if isinstance(one, str) else "-".join(one),
)  # fmt: skip
def test_what_cannot_be_is_a_sentence_above_the_form(front, changed, sentence, do):
    answer = Browser(front, "researcher").act("/pages/submit", FORM | changed | {"do": do})
    assert answer.status_code == 400
    (said,) = re.findall(r'<p role="alert"[^>]*>(.*?)</p>', answer.text, re.DOTALL)
    assert sentence in said
    assert '<form method="post" action="/pages/submit"' in answer.text
    assert "<script>alert" not in answer.text
    assert front.good("admin", "GET", "/experiments") == []


def test_a_nearest_start_that_nobody_offered_is_a_start_like_any_other(front):
    browser = Browser(front, "researcher")
    for chosen in ("x", "99999999999999999999", "-5"):
        answer = browser.act("/pages/submit", FORM | {"at_nearest": chosen})
        assert answer.status_code == 400, chosen
    form = {name: value for name, value in FORM.items() if name != "do"}
    run_of(browser.act("/pages/submit", form | {"at_nearest": str(int(front.now) + 77)}))


def test_an_owner_submits_to_own_nodes_and_sees_no_others_in_the_form(front):
    front.party("admin", "bob")
    page = Browser(front, "owner").good("/pages/submit")
    assert '<option value="alice"' in page
    assert '<option value="bob"' not in page
    assert '<option value="bob"' in Browser(front, "researcher").good("/pages/submit")
    answer = Browser(front, "owner").act("/pages/submit", FORM | {"node": "bob"})
    assert answer.status_code == 403
    assert "There is no node that you may use" in Browser(front, "other-owner").good(
        "/pages/submit"
    )


def test_a_server_goes_with_its_services(front):
    front.party("admin", "far", "server")
    form = FORM | {"server": "far", "service": "iperf3"}
    run_of(Browser(front, "researcher").act("/pages/submit", form))
    assert experiment(front)["plan"]["services"] == ["iperf3"]
    none = {name: value for name, value in form.items() if name != "service"}
    assert Browser(front, "researcher").act("/pages/submit", none).status_code == 400


def test_a_node_leads_to_the_form_for_who_may_submit_there(front):
    for who, may in (("researcher", True), ("owner", True), ("other-owner", False),
                     ("operator", False)):  # fmt: skip
        page = Browser(front, who).good("/pages/nodes/alice")
        assert ("/pages/submit?node=alice" in page) is may, who
    page = Browser(front, "researcher").good("/pages/submit?node=alice")
    assert '<option value="alice" selected' in page
    assert "<script>" not in Browser(front, "researcher").good("/pages/submit?node=%3Cscript%3E")


# accounts


def test_accounts_are_made_changed_and_shut_out(front):
    admin = Browser(front, "admin")
    made = admin.act("/pages/people", {"name": "eve", "role": "owner"})
    line = admin.secret(made)
    front.tokens["eve"] = re.search(r"skyweave_[A-Za-z0-9_-]{43}", line)[0]
    assert line.endswith(f".{'0' * 64}'"), "with the pin"
    eve = Browser(front, "eve")
    assert admin.act("/pages/people/eve/role", {"role": "researcher"}).status_code == 303
    assert front.good("eve", "GET", "/me")["role"] == "researcher"
    assert admin.act("/pages/people/eve/disabled", {"disabled": "yes"}).status_code == 303
    assert eve.look("/pages/nodes").status_code == 303
    assert "shut out" in admin.good("/pages/people/eve")
    assert admin.act("/pages/people/eve/disabled", {"disabled": "no"}).status_code == 303
    assert "shut out" not in admin.good("/pages/people/eve").replace("Shut out", "")
    for name, role, status in (
        ("eve", "owner", 409), ("Eve", "owner", 400), (EVIL, "owner", 400), ("x", "god", 400),
        ("join", "owner", 409),
    ):  # fmt: skip
        answer = admin.act("/pages/people", {"name": name, "role": role})
        assert answer.status_code == status, name
    assert admin.act("/pages/people/nobody/role", {"role": "owner"}).status_code == 404
    assert admin.look("/pages/people/nobody").status_code == 404


def test_the_last_admin_stays(front):
    admin = Browser(front, "admin")
    assert admin.act("/pages/people/other-admin/role", {"role": "owner"}).status_code == 303
    for path, form in (("role", {"role": "owner"}), ("disabled", {"disabled": "yes"})):
        answer = admin.act(f"/pages/people/admin/{path}", form)
        assert answer.status_code == 409
        assert "is the only admin" in answer.text
    admin.good("/pages/people")


def test_links_are_made_and_removed(front):
    admin = Browser(front, "admin")
    wish = {"subject": EVIL[:80], "issuer": "https://id.example"}
    assert admin.act("/pages/people/owner/links", wish).status_code == 303
    page = admin.good("/pages/people/owner")
    assert "https://id.example" in page
    assert "<script>alert" not in page
    (link,) = front.good("admin", "GET", "/people/owner/identities")
    wrong = admin.act(f"/pages/people/researcher/links/{link['id']}/remove")
    assert wrong.status_code == 404
    assert admin.act(f"/pages/people/owner/links/{link['id']}/remove").status_code == 303
    assert "https://id.example" not in admin.good("/pages/people/owner")
    assert admin.act("/pages/people/owner/links", {"subject": "x"}).status_code == 400


# the audit log


def test_the_audit_log_has_every_line_once_over_its_pages(front):
    with front.office.database.write() as connection:
        for number in range(450):
            note(connection, front.now, "ada", "test", f"line {number}", EVIL)
    operator, where, seen = Browser(front, "operator"), "/pages/audit", []
    for _ in range(10):
        page = operator.good(where)
        assert "<script>alert" not in page
        seen += re.findall(r"line (\d+)<", page)
        following = re.search(r'href="(/pages/audit\?before=\d+)" rel="next"', page)
        if not following:
            break
        where = following[1]
        assert ('rel="prev"' in operator.good(where)) is True
    assert seen == [f"{number}" for number in reversed(range(450))]
    assert "No line is older" in operator.good("/pages/audit?before=1")
    for before in ("-1", "x", "9" * 30):
        assert operator.look(f"/pages/audit?before={before}").status_code == 400


def test_the_navigation_has_what_is_open(front):
    for who, shown in (
        ("admin", {"Submit", "People", "Audit"}), ("operator", {"Audit"}),
        ("researcher", {"Submit"}), ("owner", {"Submit"}),
    ):  # fmt: skip
        page = Browser(front, who).good("/pages/nodes")
        found = set(re.findall(r'<li><a href="[^"]*"[^>]*>(\w+)</a>', page))
        assert found & {"Submit", "People", "Audit"} == shown, who


def test_the_command_line_asks_the_calendar(front, monkeypatch, capsys):
    from skyweave.cli.testbed_submit import _say

    _say(front.good("researcher", "POST", "/experiments/check", PLAN), False)
    plan = PLAN | {"when": {"kind": "once", "start": int(front.now) + 60, "seconds": 600}}
    front.good("researcher", "POST", "/experiments", plan)
    _say(front.good("researcher", "POST", "/experiments/check", plan), False)
    _say(front.good("researcher", "POST", "/experiments/check", plan), True)
    lines = capsys.readouterr().out.split("\n", 2)
    assert lines[0] == "it fits, and begins 2027-01-15 08:00:00"
    assert lines[1].startswith("taken at 2027-01-15 08:01:00; the nearest free start is 2027-")
    assert json.loads(lines[2])["fits"] is False
