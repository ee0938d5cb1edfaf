"""The interface: who may what, hostile requests, and the way of a run over HTTP."""

from __future__ import annotations

import hashlib
import itertools
import json
from typing import ClassVar

import pytest
from fastapi.routing import APIRoute
from hypothesis import HealthCheck, given
from hypothesis import settings as how
from hypothesis import strategies as st
from sqlalchemy import select
from world_http import PLAN, Agent, Front

from skyweave.testbed.access import RIGHTS, ROLES, first_admin_code, make_code
from skyweave.testbed.api.app import OPEN
from skyweave.testbed.api.attempts import EACH_S
from skyweave.testbed.store.tables import audit, nodes, people, tokens
from skyweave.testbed.wire import Invitation, PrivateKey

RUN = "0" * 24


@pytest.fixture
def front(tmp_path):
    made = Front(tmp_path / "office")
    made.people({name: role for role in ROLES for name in (role, f"other-{role}")})
    yield made
    made.http.close()
    made.office.close()


@pytest.fixture
def alice(front):
    return front.party("owner", "alice")


def routes(front) -> list[tuple[str, str, str | None]]:
    """All paths with their method and the right that each asks for; None for nodes' paths."""
    found = []
    for route in [
        inner
        for outer in front.http.app.routes
        for inner in (
            outer.original_router.routes if hasattr(outer, "original_router") else [outer]
        )
    ]:
        if not isinstance(route, APIRoute):
            continue
        rights = [
            right
            for one in route.dependant.dependencies
            if (right := getattr(one.call, "right", None)) is not None
        ]
        signs = any(one.call.__name__ == "_sender" for one in route.dependant.dependencies)
        assert len(rights) + signs == (route.path not in OPEN), f"{route.path} is not guarded once"
        for method in route.methods:
            found.append((method, route.path, rights[0] if rights else None))
    assert len(found) > 30, "the matrix has lost its paths"
    return found


MEANT = """
GET    /me                              o o o o
GET    /me/tokens                       o o o o
POST   /me/tokens                       o o o o
DELETE /me/tokens/{token}               o o o o
GET    /me/passkeys                     o o o o
DELETE /me/passkeys/{passkey}           o o o o
GET    /people                          - - - a
POST   /people                          - - - a
PATCH  /people/{name}                   - - - a
GET    /people/{name}/identities        - - - a
POST   /people/{name}/identities        - - - a
DELETE /people/{name}/identities/{identity} - - - a
GET    /audit                           - - a a
POST   /invitations                     o - - a
GET    /nodes                           a a a a
GET    /nodes/{name}                    a a a a
PATCH  /nodes/{name}                    o - a a
DELETE /nodes/{name}                    o - - a
PUT    /inputs/{sha256}                 o a - a
POST   /experiments                     o a - a
POST   /experiments/check               o a - a
GET    /experiments                     o o a a
GET    /experiments/{experiment}        o o a a
DELETE /experiments/{experiment}        o o a a
POST   /experiments/{experiment}/fire   o o - a
GET    /runs                            o o a a
GET    /runs/{run}                      o o a a
POST   /runs/{run}/stop                 o o a a
GET    /runs/{run}/artefacts            o o - a
GET    /runs/{run}/artefacts/{name:path} o o - a
GET    /calendar                        a a a a
"""
"""Own, all or nothing, for owner, researcher, operator, admin: what docs/testbed.md promises."""


def test_each_path_asks_for_the_right_that_is_meant(front):
    said = {}
    for method, path, right in routes(front):
        if right is not None:
            reaches = (RIGHTS[right].reach.get(role, "-")[0] for role in ROLES)
            said[f"{method} {path}"] = " ".join(reaches)
    meant = {}
    for line in MEANT.strip().splitlines():
        method, path, *reaches = line.split()
        meant[f"{method} {path}"] = " ".join(reaches)
    assert said == meant


WHO = [(role, own) for role in ROLES for own in (True, False)]


class Stage:
    """Things of everybody, on which every path is tried by everybody."""

    def __init__(self, front: Front) -> None:
        self.front = front
        self.agents = {}
        for name in ("owner", "admin"):
            self.agents[f"node-{name}"] = front.party(name, f"node-{name}")
        self.runs, self.experiments = {}, {}
        for name in ("owner", "researcher", "admin"):
            node = "node-owner" if name == "owner" else "node-admin"
            plan = PLAN | {
                "node": node,
                "priority": "normal",
                "when": {"kind": "soon", "seconds": 60},
            }
            made = front.good(name, "POST", "/experiments", plan)
            self.experiments[name], self.runs[name] = made["id"], made["runs"][0]
        self.inputs = front.upload("admin")

    def allowed(self, role: str, right: str, owner: str, asker: str) -> bool:
        reach = RIGHTS[right].reach.get(role)
        return reach == "all" or (reach == "own" and owner == asker)


def bodies(path: str, stage: Stage) -> bytes | dict | None:
    plan = PLAN | {"node": "node-admin", "priority": "normal"}
    return {
        "/inputs/{sha256}": b"tar", "/experiments": plan, "/experiments/check": plan,
        "/invitations": {"kind": "node"},
        "/nodes/{name}": {"paused": False}, "/me/tokens": {"label": "x", "scopes": ["read"]},
        "/experiments/{experiment}/fire": {"trigger": "spike"},
        "/people": {"name": "new", "role": "researcher"}, "/people/{name}": {"role": "researcher"},
    }.get(path)  # fmt: skip


def filled(path: str, owner: str, stage: Stage) -> str:
    kind = {"{run}": stage.runs, "{experiment}": stage.experiments}
    for name, known in kind.items():
        path = path.replace(name, known.get(owner, RUN))
    person = path.startswith("/people/")
    return (
        path.replace("{name:path}", "out.txt")
        .replace("{name}", "other-researcher" if person else f"node-{owner}")
        .replace("{sha256}", hashlib.sha256(b"tar").hexdigest())
        .replace("{token}", RUN)
    )


@pytest.mark.parametrize(("role", "own"), WHO)
def test_every_path_is_shut_to_whom_the_table_of_rights_does_not_name(front, role, own):
    """Every path, every role, one's own things and another's: nothing is open that is not meant."""
    stage = Stage(front)
    asker = role if own else f"other-{role}"
    wrong = []
    for method, path, right in routes(front):
        if path in OPEN:
            continue
        for owner in ("owner", "researcher", "admin"):
            if method == "DELETE" and owner != "researcher" and "node" in path:
                continue  # tried by a test of its own, for it ends what the others need
            where = filled(path, owner, stage)
            query = {"since": 0, "until": 10} if path == "/calendar" else None
            answer = front.ask(asker, method, where, bodies(path, stage), params=query)
            if right is None:
                wrong += [(method, path)] if answer.status_code != 401 else []
                continue
            may = RIGHTS[right].reach.get(role) is not None
            if not may and answer.status_code != 403:
                wrong.append((method, path, answer.status_code))
            if may and "{" in path and not path.startswith(("/people", "/me", "/inputs")):
                theirs = stage.allowed(role, right, owner, asker)
                if right in ("nodes.pause", "nodes.revoke") and not theirs:
                    wrong += [(method, path, owner)] if answer.status_code not in (403, 404) else []
                elif right.startswith(("runs", "artefacts", "experiments")) and not theirs:
                    ok = answer.status_code == 404
                    wrong += [] if ok else [(method, path, owner, answer.status_code)]
    assert wrong == []


def test_without_a_token_nothing_is_said(front):
    for method, path, _ in routes(front):
        where = path.replace("{name:path}", "x").replace("{", "").replace("}", "")
        if path not in OPEN:
            for headers in ({}, {"Authorization": "Bearer "}, {"Authorization": "Basic x"},
                            {"Authorization": "Bearer skyweave_" + "A" * 43}):  # fmt: skip
                front.now += EACH_S  # one more guess
                answer = front.http.request(method, where, headers=headers)
                assert answer.status_code in (400, 401), (method, path, answer.text)
                assert set(answer.json()) <= {"error", "code", "now_unix_s"}


def test_what_is_allowed_works(front, alice):
    """The other half of the matrix: who has a right can use it."""
    made = front.good("owner", "POST", "/experiments", PLAN)
    for who in ("owner", "operator", "admin"):
        assert front.good(who, "GET", f"/runs/{made['runs'][0]}")["run"]["owner"] == "owner"
        assert front.good(who, "GET", f"/experiments/{made['id']}")["owner"] == "owner"
    for who, paused in (("owner", True), ("operator", False), ("admin", False)):
        assert front.good(who, "PATCH", "/nodes/alice", {"paused": paused})["paused"] is paused
    assert front.good("admin", "GET", "/audit")[0]["action"] == "node.pause"
    assert front.ask("other-owner", "DELETE", "/nodes/alice").status_code == 403
    assert front.good("owner", "DELETE", "/nodes/alice") is None
    assert front.good("owner", "GET", f"/runs/{made['runs'][0]}")["run"]["state"] == "lost"


def test_an_owner_sees_and_stops_what_runs_at_home_and_reads_none_of_its_results(front, alice):
    made = front.good("researcher", "POST", "/experiments", PLAN)
    run = made["runs"][0]
    assert front.good("owner", "GET", f"/runs/{run}")["run"]["owner"] == "researcher"
    assert [one["id"] for one in front.good("owner", "GET", "/runs")] == [run]
    assert front.good("other-owner", "GET", "/runs") == []
    assert front.ask("owner", "GET", f"/runs/{run}/artefacts").status_code == 404
    assert front.ask("other-owner", "POST", f"/runs/{run}/stop").status_code == 404
    assert front.good("owner", "POST", f"/runs/{run}/stop")["state"] == "stopping"


def test_an_owner_uses_own_nodes_alone(front, alice):
    assert front.ask("other-owner", "POST", "/experiments", PLAN).status_code == 403
    front.good("owner", "POST", "/experiments", PLAN)


def test_the_calendar_says_whose_a_time_is_to_whom_it_belongs(front, alice):
    front.good("researcher", "POST", "/experiments", PLAN)
    query = {"since": 0, "until": 10**10}
    for who, seen in (
        ("researcher", "researcher"),
        ("other-researcher", None),
        ("admin", "researcher"),
    ):
        (taken,) = front.good(who, "GET", "/calendar", params=query)
        assert taken["owner"] == seen
        assert (taken["run"] is None) == (seen is None)


# LEOScope's holes, by the numbers of its list


def test_leoscope_hole_1_nobody_makes_an_account_or_an_admin_of_oneself(front):
    for who in ("owner", "researcher", "operator"):
        wish = {"name": "me2", "role": "admin"}
        assert front.ask(who, "POST", "/people", wish).status_code == 403
        assert front.ask(who, "PATCH", f"/people/{who}", {"role": "admin"}).status_code == 403
    code = {"code": "AAAA-AAAA-AAAA-AAAA", "name": "evil"}
    assert front.ask(None, "POST", "/first", code).status_code == 403


def test_leoscope_hole_1_what_is_kept_of_a_token_does_not_log_in(front):
    with front.office.database.read() as connection:
        kept = list(connection.execute(select(tokens.c.hash)).scalars())
    for one in [*kept, "skyweave_" + kept[0][:43]]:
        headers = {"Authorization": f"Bearer {one}"}
        assert front.http.get("/me", headers=headers).status_code == 401
    assert not any(token in str(kept) for token in front.tokens.values())


def test_leoscope_hole_2_tokens_are_random_and_no_answer_shows_one(front, alice):
    assert len(set(front.tokens.values())) == len(front.tokens)
    assert all(len(one) == 52 for one in front.tokens.values())
    said = ""
    for method, path, _ in routes(front):
        if method == "GET" and "{" not in path and not path.startswith("/agent"):
            said += front.ask("admin", "GET", path, params={"since": 0, "until": 1}).text
    assert not any(token in said for token in front.tokens.values())
    assert "hash" not in said


@pytest.mark.parametrize("evil", ["x; reboot", "$(id)", "../../etc", "a\nb", "`id`", "a b", "ä"])
def test_leoscope_hole_3_no_name_reaches_a_shell(front, alice, evil):
    for changed in ({"node": evil}, {"server": evil, "services": ["iperf3"]}, {"kind": evil},
                    {"settings": {"congestion_control": evil}}):  # fmt: skip
        answer = front.ask("researcher", "POST", "/experiments", PLAN | changed)
        assert answer.status_code == 400, answer.text
    assert front.ask("admin", "POST", "/people", {"name": evil, "role": "owner"}).status_code == 400


def test_leoscope_hole_4_nobody_changes_or_reads_what_is_another_users(front, alice):
    """Runs, experiments, nodes and artefacts of others; no answer holds a key of the store."""
    made = front.good("researcher", "POST", "/experiments", PLAN)
    run, experiment = made["runs"][0], made["id"]
    for method, path in (
        ("GET", f"/runs/{run}"), ("POST", f"/runs/{run}/stop"), ("GET", f"/runs/{run}/artefacts"),
        ("GET", f"/experiments/{experiment}"), ("DELETE", f"/experiments/{experiment}"),
    ):  # fmt: skip
        assert front.ask("other-researcher", method, path).status_code == 404
    said = front.ask("researcher", "GET", f"/runs/{run}").text
    assert "AccountKey" not in said
    assert alice.key.public not in front.ask("admin", "GET", "/nodes").text
    assert front.good("researcher", "GET", f"/runs/{run}")["run"]["state"] == "ordered"


def test_leoscope_hole_5_settings_are_data_from_a_list(front, alice):
    for settings in ({"sysctl": "net.x=1"}, {"qdisc": "netem"}, {"command": "id"},
                     {"send_buffer_bytes": 10**15}, {"congestion_control": "x" * 99}):  # fmt: skip
        plan = PLAN | {"settings": settings}
        assert front.ask("researcher", "POST", "/experiments", plan).status_code == 400


def test_leoscope_hole_6_nothing_is_told_anonymously(front, alice):
    body = b'{"outbox": "0000000000000000", "events": []}'
    for method, path in (("POST", "/agent/events"), ("GET", "/agent/next?after=0")):
        assert front.http.request(method, path, content=body).status_code == 401
    stranger = Agent(front, "alice")
    assert stranger.tell({"kind": "started", "run": RUN, "fence": 1}).status_code == 401


def test_leoscope_hole_7_secrets_are_in_no_answer_no_order_and_no_audit_line(front, alice, caplog):
    front.good("researcher", "POST", "/experiments", PLAN)
    (start,) = alice.orders()
    assert "skyweave_" not in start.model_dump_json()
    assert "token" not in json.dumps(front.good("admin", "GET", "/audit"))
    assert not any(one in caplog.text for one in front.tokens.values())


def test_leoscope_hole_8_tokens_end_and_are_revoked(front):
    made = front.good(
        "owner", "POST", "/me/tokens", {"label": "ci", "scopes": ["read"], "days": 1.0}
    )
    front.tokens["ci"] = made["token"]
    assert front.good("ci", "GET", "/me")["scopes"] == ["read"]
    assert front.ask("ci", "POST", "/me/tokens", {"label": "x"}).status_code == 403
    front.good("owner", "DELETE", f"/me/tokens/{made['id']}")
    assert front.ask("ci", "GET", "/me").status_code == 401
    assert front.ask("other-owner", "DELETE", f"/me/tokens/{made['id']}").status_code == 404
    front.now += 91 * 86_400
    assert front.ask("owner", "GET", "/me").status_code == 401


def test_leoscope_hole_8_who_is_shut_out_is_out_at_once_and_the_last_admin_stays(front):
    front.good("admin", "PATCH", "/people/researcher", {"disabled": True})
    assert front.ask("researcher", "GET", "/me").status_code == 401
    front.good("admin", "PATCH", "/people/researcher", {"disabled": False})
    assert front.ask("researcher", "GET", "/me").status_code == 401, "its old tokens are gone"
    front.good("admin", "PATCH", "/people/other-admin", {"role": "owner"})
    assert front.ask("admin", "PATCH", "/people/admin", {"role": "owner"}).status_code == 409


def test_a_token_makes_none_that_may_more(front):
    wish = {"label": "x", "scopes": ["manage"]}
    front.tokens["half"] = front.good("admin", "POST", "/me/tokens", wish)["token"]
    assert front.ask("half", "GET", "/nodes").status_code == 403
    assert front.ask("half", "POST", "/me/tokens", {"label": "y"}).status_code == 400


def test_the_first_admin_comes_by_a_code_that_is_good_once_and_for_15_minutes(tmp_path):
    front = Front(tmp_path / "new")
    with front.office.database.write() as connection:
        late, code = (first_admin_code(connection, front.now) for _ in range(2))
    front.now += 901
    assert front.ask(None, "POST", "/first", {"code": late, "name": "eve"}).status_code == 403
    front.now -= 901
    token = front.good(None, "POST", "/first", {"code": code, "name": "ada"})["token"]
    front.tokens["ada"] = token
    assert front.good("ada", "GET", "/me")["role"] == "admin"
    for again in (code, late):
        assert front.ask(None, "POST", "/first", {"code": again, "name": "eve"}).status_code == 403
    with front.office.database.read() as connection:
        assert list(connection.execute(select(people.c.name)).scalars()) == ["ada"]
    front.office.close()


# nodes


def invitation(front, kind: str = "node") -> Invitation:
    said = front.good("owner", "POST", "/invitations", {"kind": kind})["invitation"]
    return Invitation.parse(said)


def test_a_code_enrols_one_node_of_its_kind_within_15_minutes(front):
    invited = invitation(front)
    assert Agent(front, "late").join(invited, "server").status_code == 403
    front.now += 901
    assert Agent(front, "late").join(invited).status_code == 403
    front.now -= 901
    assert Agent(front, "carol").join(invited).status_code == 200
    assert Agent(front, "again").join(invited).status_code == 403


def test_a_code_is_not_used_up_by_a_name_that_is_taken(front, alice):
    invited = invitation(front)
    assert Agent(front, "alice").join(invited).status_code == 409
    assert Agent(front, "join").join(invited).status_code == 409
    assert Agent(front, "carol").join(invited).status_code == 200


def test_a_key_is_enrolled_by_who_holds_it(front):
    agent = Agent(front, "carol")
    stolen = PrivateKey.make().public
    assert agent.join(invitation(front), key=stolen).status_code == 401


def test_the_code_of_an_admin_enrols_no_node(front):
    with front.office.database.write() as connection:
        code = make_code(connection, "admin", None, front.now)
    invited = Invitation(url="https://x", code=code)
    assert Agent(front, "carol").join(invited).status_code == 403


def test_a_revoked_node_is_not_heard(front, alice):
    front.good("researcher", "POST", "/experiments", PLAN)
    front.good("owner", "DELETE", "/nodes/alice")
    assert alice.ask("GET", "/agent/next", query="after=0").status_code == 401
    assert front.ask("researcher", "POST", "/experiments", PLAN).status_code == 404


def test_a_clock_that_is_off_is_told_the_time_and_nothing_else(front, alice):
    front.now += 3600
    headers_of_the_past = front.now - 3600
    front.now, now = headers_of_the_past, front.now
    signed = alice.ask  # signs with front.now: an hour behind when it is checked
    front.office.now = lambda: now
    answer = signed("GET", "/agent/next", query="after=0")
    assert (answer.status_code, answer.json()["code"]) == (401, "clock")
    assert answer.json()["now_unix_s"] == now


def test_a_request_is_not_replayed(front, alice):
    from skyweave.testbed.wire import Request, sign

    body = b'{"outbox": "0000000000000000", "events": []}'
    headers = sign(Request("POST", "/agent/events", "", body), alice.key, "alice", front.now)
    codes = [
        front.http.post("/agent/events", content=body, headers=headers).status_code
        for _ in range(2)
    ]
    assert codes == [400, 401], "once it was read, and refused for its content"


def test_a_run_over_http_from_plan_to_artefact(front, alice):
    far = front.party("owner", "far", "server")
    plan = PLAN | {
        "server": "far", "services": ["iperf3"], "input": front.upload("researcher", b"a tree"),
        "work": {"kind": "study"},
    }  # fmt: skip
    made = front.good("researcher", "POST", "/experiments", plan)
    run = made["runs"][0]
    (serve,) = far.orders()
    said = {"run": run, "fence": serve.fence}
    assert far.tell(
        said | {"kind": "ready", "address": "192.0.2.1", "ports": {"iperf3": 5201}}
    ).status_code == 200  # fmt: skip
    (start,) = alice.orders()
    what = start.specification
    assert (what.far_end.token, what.far_end.address) == (serve.token, "192.0.2.1")
    got = alice.ask("GET", f"/agent/inputs/{what.input.sha256}")
    assert got.content == b"a tree"
    assert far.ask("GET", f"/agent/inputs/{what.input.sha256}").status_code == 404

    content = b"0123456789" * 1000
    artefact = {"name": "a/out.csv", "bytes": 10_000, "sha256": hashlib.sha256(content).hexdigest()}
    alice.tell(said | {"kind": "accepted"}, said | {"kind": "started"})
    alice.tell(said | {"kind": "finished", "outcome": "done", "artefacts": [artefact]})
    (release,) = far.orders()
    assert release.kind == "release"

    declared = json.dumps({"artefact": artefact}).encode()
    held = alice.ask("POST", f"/agent/runs/{run}/artefacts", declared).json()
    where = f"/agent/uploads/{held['upload']}"
    assert held["held"] == 0
    assert far.ask("PUT", where, content, "offset=0").status_code == 404
    alice.ask("PUT", where, content[:3000], "offset=0")
    gone_on = alice.ask("PUT", where, content[2000:], "offset=2000")
    assert (gone_on.status_code, gone_on.json()["held"]) == (409, 3000)
    assert alice.ask("POST", f"/agent/runs/{run}/artefacts", declared).json()["held"] == 3000
    assert alice.ask("PUT", where, content[3000:], "offset=3000").json()["done"]
    assert alice.ask("PUT", where, content[3000:], "offset=3000").json()["done"]

    seen = front.good("researcher", "GET", f"/runs/{run}")
    assert seen["run"]["state"] == "done"
    saved = front.ask("researcher", "GET", f"/runs/{run}/artefacts/a/out.csv")
    assert saved.content == content
    assert saved.headers["content-disposition"].startswith("attachment")
    assert front.ask("operator", "GET", f"/runs/{run}/artefacts/a/out.csv").status_code == 403


def test_a_trigger_elsewhere_fires_by_a_token(front, alice):
    when = {"kind": "trigger", "seconds": 10, "runs_per_day": 1}
    made = front.good("researcher", "POST", "/experiments", PLAN | {"when": when})
    path, body = f"/experiments/{made['id']}/fire", {"trigger": "spike", "context_json": '{"x": 1}'}
    assert front.ask("other-researcher", "POST", path, body).status_code == 404
    (run,) = front.good("researcher", "POST", path, body)["runs"]
    (start,) = alice.orders()
    assert (start.specification.run, start.specification.origin.trigger) == (run, "spike")
    assert start.specification.origin.context_json == '{"x": 1}'
    (again,) = front.good("researcher", "POST", path, body)["runs"]
    assert front.good("researcher", "GET", f"/runs/{again}")["run"]["state"] == "skipped"
    front.good("researcher", "DELETE", f"/experiments/{made['id']}")
    assert front.ask("researcher", "POST", path, body).status_code == 409


def test_a_wrong_digest_begins_anew(front, alice):
    made = front.good("researcher", "POST", "/experiments", PLAN)
    (start,) = alice.orders()
    said = {"run": made["runs"][0], "fence": start.specification.fence}
    artefact = {"name": "x", "bytes": 3, "sha256": hashlib.sha256(b"yes").hexdigest()}
    alice.tell(said | {"kind": "finished", "outcome": "done", "artefacts": [artefact]})
    declared = json.dumps({"artefact": artefact}).encode()
    upload = alice.ask("POST", f"/agent/runs/{said['run']}/artefacts", declared).json()["upload"]
    assert alice.ask("PUT", f"/agent/uploads/{upload}", b"no!", "offset=0").json() == {
        "upload": upload, "held": 0, "done": False,
    }  # fmt: skip
    assert alice.ask("PUT", f"/agent/uploads/{upload}", b"yes", "offset=0").json()["done"]


def test_an_empty_artefact_and_none_at_all_end_a_run(front, alice):
    for artefacts in ([], [{"name": "x", "bytes": 0, "sha256": hashlib.sha256().hexdigest()}]):
        front.good("researcher", "POST", "/experiments", PLAN)
        (start,) = alice.orders()
        said = {"run": start.specification.run, "fence": start.specification.fence}
        alice.tell(said | {"kind": "finished", "outcome": "failed", "artefacts": artefacts})
        for one in artefacts:
            declared = json.dumps({"artefact": one}).encode()
            held = alice.ask("POST", f"/agent/runs/{said['run']}/artefacts", declared).json()
            assert held["done"]
        assert front.good("researcher", "GET", f"/runs/{said['run']}")["run"]["state"] == "failed"


# hostile requests


class NOTHING:
    """A stage on which nothing stands."""

    runs: ClassVar[dict] = {}
    experiments: ClassVar[dict] = {}


KEYS = st.sampled_from(
    ["title", "node", "when", "kind", "seconds", "start", "period", "until", "expression", "work",
     "argv", "input", "limits", "settings", "server", "services", "priority", "tolerance_s",
     "role", "name", "disabled", "paused", "scopes", "days", "trigger", "context_json", "x"]
)  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b"[" * 100_000, b'{"a":' * 50_000,
     b'{"title": "' + b"x" * 900_000 + b'"}', b'{"when": NaN}', b'{"__proto__": {}}'],
)  # fmt: skip
def test_a_body_that_is_none_is_one_sentence(front, alice, body):
    for who, method, path in (
        ("researcher", "POST", "/experiments"), ("admin", "POST", "/people"),
        ("owner", "POST", "/me/tokens"), ("owner", "PATCH", "/nodes/alice"),
    ):  # fmt: skip
        answer = front.ask(who, method, path, body)
        assert answer.status_code == 400, answer.text
        assert len(answer.json()["error"]) < 501
    for path in ("/agent/events", "/agent/heartbeat", f"/agent/runs/{RUN}/artefacts"):
        assert alice.ask("POST", path, body).status_code == 400


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=20,
)


@given(data=st.data())
@how(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_body_makes_the_orchestrator_fail(front, data):
    """Random JSON, shaped like what is expected and not, on every path that takes a body."""
    known = [one for one in routes(front) if one[0] in ("POST", "PATCH", "PUT") and one[2]]
    method, path, _ = data.draw(st.sampled_from(known))
    base = data.draw(st.sampled_from([{}, PLAN, {"kind": "node"}, {"label": "x"}]))
    body = data.draw(JSON)
    if isinstance(body, dict):
        body = base | body
    where = filled(path, "nobody", data.draw(st.just(NOTHING)))
    answer = front.ask("admin", method, where, json.dumps(body).encode())
    assert answer.status_code < 500, (path, body, answer.text)


def test_bodies_beyond_their_length_are_not_read(front, alice):
    long = b" " * 1_000_001
    assert front.ask("researcher", "POST", "/experiments", long).status_code == 413
    assert (
        alice.ask("PUT", f"/agent/uploads/{RUN}", b"x" * (4 * 2**20), "offset=0").status_code == 404
    )
    assert (
        alice.ask("PUT", f"/agent/uploads/{RUN}", b"x" * (4 * 2**20 + 1), "offset=0").status_code
        == 413
    )

    def endless():
        while True:
            yield b"x" * 100_000

    answer = front.http.post("/first", content=itertools.islice(endless(), 1000))
    assert (answer.status_code, answer.json()["code"]) == (413, "too-large")
    for length in ("-1", "1e9", "9" * 20, "x"):
        answer = front.http.post("/first", content=b"x", headers={"Content-Length": length})
        assert answer.status_code == 413


@pytest.mark.parametrize(
    "query", ["", "after=-1", "after=x", "after=1e9", "after=99999999999999999999"]
)
def test_queries_are_checked(front, alice, query):
    assert alice.ask("GET", "/agent/next", query=query).status_code == 400


def test_events_and_heartbeats_out_of_bounds_change_nothing(front, alice):
    front.good("researcher", "POST", "/experiments", PLAN)
    (start,) = alice.orders()
    said = {"run": start.specification.run, "fence": start.specification.fence}
    for body in (
        said | {"kind": "finished", "outcome": "won"}, said | {"kind": "dance"},
        said | {"kind": "finished", "outcome": "done", "sent_bytes": -1},
        said | {"kind": "finished", "outcome": "done", "why": "x" * 501},
        said | {"kind": "finished", "outcome": "done",
                "artefacts": [{"name": "../x", "bytes": 1, "sha256": "0" * 64}]},
        said | {"kind": "started", "fence": "1"},
    ):  # fmt: skip
        assert alice.tell(body).status_code == 400
    beat = {"clock": {"offset_s": 0.0, "error_s": -1.0}, "version": "1"}
    assert alice.ask("POST", "/agent/heartbeat", json.dumps(beat).encode()).status_code == 400
    assert front.good("researcher", "GET", f"/runs/{said['run']}")["run"]["state"] == "ordered"


def test_who_asks_too_often_waits_for_the_next_hour(front, alice, monkeypatch):
    monkeypatch.setattr(front.office.wishes, "_most", 2)
    monkeypatch.setattr(front.office.events, "_most", 3)
    front.now += 3600
    for _ in range(2):
        front.good("owner", "POST", "/invitations", {"kind": "node"})
    assert front.ask("owner", "POST", "/me/tokens", {"label": "x"}).status_code == 429
    front.good("admin", "POST", "/invitations", {"kind": "node"})
    beginning = {"kind": "started", "run": RUN, "fence": 1}
    assert alice.tell(beginning, beginning, beginning).status_code == 200
    answer = alice.tell(beginning)
    assert (answer.status_code, answer.json()["code"]) == (429, "too-many")
    front.now += 3600
    assert alice.tell(beginning).status_code == 200


def test_a_heartbeat_is_shown_and_its_key_is_not(front, alice):
    beat = {
        "clock": {"offset_s": 0.01, "error_s": 0.02},
        "version": "0.2",
        "policy": "<b>night</b>",
    }
    front.now += 10
    assert alice.ask("POST", "/agent/heartbeat", json.dumps(beat).encode()).json() == {
        "now_unix_s": front.now, "newest_order": 0,
    }  # fmt: skip
    (seen,) = front.good("other-researcher", "GET", "/nodes")
    assert seen["seen_unix_s"] == front.now
    assert seen["heartbeat"]["clock"]["error_s"] == 0.02
    assert "key" not in seen


def test_what_nobody_thought_of_tells_nothing_of_the_inside(front, monkeypatch, capsys):
    monkeypatch.setattr(front.office.keeper, "submit", lambda *_: 1 / 0)
    front.party("owner", "alice")
    answer = front.ask("researcher", "POST", "/experiments", PLAN)
    assert answer.status_code == 500
    assert "division" not in answer.text
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_a_database_that_goes_away_is_503(front, alice):
    front.office.database.engine.dispose()
    file = front.office.folder / "testbed.db"
    file.rename(file.with_suffix(".gone"))
    for one in front.office.folder.glob("testbed.db-*"):
        one.unlink()
    answer = front.ask("researcher", "GET", "/nodes")
    assert answer.status_code in (500, 503)
    assert "Traceback" not in answer.text


def test_paused_nodes_begin_nothing(front, alice):
    front.good("owner", "PATCH", "/nodes/alice", {"paused": True})
    made = front.good("researcher", "POST", "/experiments", PLAN)
    seen = front.good("researcher", "GET", f"/runs/{made['runs'][0]}")["run"]
    assert (seen["state"], seen["why"]) == ("skipped", "its node is paused by its owner")
    assert front.good("owner", "GET", "/nodes")[0]["paused"]


def test_who_did_what_is_in_the_audit_log(front, alice):
    made = front.good("researcher", "POST", "/experiments", PLAN)
    front.good("owner", "POST", f"/runs/{made['runs'][0]}/stop")
    with front.office.database.read() as connection:
        rows = connection.execute(select(audit.c.who, audit.c.action).order_by(audit.c.id)).all()
    assert [tuple(row) for row in rows] == [
        ("owner", "node.invite"), ("alice", "node.join"), ("researcher", "experiment.submit"),
        ("owner", "run.stop"),
    ]  # fmt: skip


def test_the_document_names_every_path_and_every_body(front):
    document = front.http.get("/openapi.json").json()
    paths = {path for _, path, _ in routes(front)}
    assert {path.replace(":path", "") for path in paths} == set(document["paths"])
    text = json.dumps(document)
    named = set(document["components"]["schemas"])
    used = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert used <= named
    assert {"Plan", "Events", "Finished", "Join"} <= named


def test_a_node_is_enrolled_with_the_key_it_signs_with(front, alice):
    with front.office.database.read() as connection:
        row = connection.execute(select(nodes)).one()
    assert (row.key, row.owner, row.kind) == (alice.key.public, "owner", "node")
