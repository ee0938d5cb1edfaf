"""Runs from plan to end, in virtual time: every run ends once, and nothing is booked twice."""

from __future__ import annotations

import contextlib
import os
import random

import databases
import pytest
from pydantic import ValidationError
from sqlalchemy import event, select
from virtual import CONTENT, VirtualNode, join

from skyweave.testbed.access import add_person
from skyweave.testbed.errors import ConflictError, MissingError, TestbedError
from skyweave.testbed.runs import Keeper, Plan, Uploads, machine
from skyweave.testbed.runs.orders import Dispatch, waiting
from skyweave.testbed.store import Database, Objects, UnavailableError, migrate
from skyweave.testbed.store.tables import (
    artefacts,
    audit,
    events,
    experiments,
    nodes,
    reservations,
    runs,
    transitions,
)
from skyweave.testbed.wire import Event, Events, Finished, Fired, PrivateKey, Ready, Started

url, database, postgresql = databases.url, databases.database, databases.postgresql
NOW = 1_800_000_000.0
KEY = PrivateKey.make()


def plan(**changes) -> Plan:
    made = {
        "title": "t", "node": "alice", "kind": "command", "when": {"kind": "soon", "seconds": 10},
        "work": {"kind": "command", "argv": ("true",)},
    }  # fmt: skip
    return Plan.model_validate(made | changes)


def once(start: float, seconds: int = 10) -> dict:
    return {"kind": "once", "start": int(start), "seconds": seconds}


class World:
    """An orchestrator with two nodes and a server, and a clock that jumps."""

    def __init__(self, database: Database, folder) -> None:
        self.database, self.now = database, NOW
        self.keeper = Keeper(database, KEY)
        self.objects = Objects(folder / "store")
        self.uploads = Uploads(folder / "uploads", self.objects)
        with database.write() as connection:
            add_person(connection, "bob", "admin", NOW)
        self.parties = {}
        for name in ("alice", "carol", "far"):
            join(self.keeper, name, "server" if name == "far" else "node")
            self.parties[name] = VirtualNode(name, self.keeper, self.uploads, KEY)
        self.away: set[str] = set()

    def submit(self, **changes) -> str:
        return self.keeper.submit(plan(**changes), "bob", self.now)

    def runs(self, **which):
        query = select(runs).order_by(runs.c.start, runs.c.created)
        for name, value in which.items():
            query = query.where(runs.c[name] == value)
        with self.database.read() as connection:
            return connection.execute(query).all()

    def run(self, **which):
        (only,) = self.runs(**which)
        return only

    def settle(self) -> None:
        """Let everybody say all that there is to say now."""
        for _ in range(6):
            self.keeper.tick(self.now)
            for name, party in self.parties.items():
                party.work(self.now)
                if name not in self.away:
                    party.talk(self.now)

    def go(self, until: float, step: float = 60.0) -> None:
        """Live until then, from moment to moment at which something happens."""
        self.settle()
        while self.now < until:
            due = self.keeper.tick(self.now)
            moments = [one.next_moment() for one in self.parties.values()] + [due]
            later = [one for one in moments if one is not None and one > self.now]
            self.now = min([*later, self.now + step, until])
            self.settle()


@pytest.fixture
def world(database, tmp_path):
    return World(database, tmp_path)


@pytest.fixture
def fast(tmp_path):
    """The same on SQLite alone."""
    made = Database(f"sqlite:///{tmp_path}/fast.db")
    migrate(made)
    yield World(made, tmp_path)
    made.close()


def states(world, run) -> list[str]:
    query = select(transitions.c.state).where(transitions.c.run == run).order_by("number")
    with world.database.read() as connection:
        return list(connection.execute(query).scalars())


def test_a_run_goes_its_whole_way(world):
    experiment = world.submit(server="far", services=("iperf3",))
    world.go(NOW + 60)
    run = world.run(experiment=experiment)
    assert states(world, run.id) == [
        "reserved", "serving", "ordered", "accepted", "running", "collecting", "done",
    ]  # fmt: skip
    assert run.started is not None
    assert world.parties["far"].serving == set(), "its server was released"
    path = f"{experiment}/alice/2027-01-15/{run.id}/out.txt"
    assert b"".join(world.objects.read(path)) == CONTENT
    with world.database.read() as connection:
        assert connection.execute(select(reservations)).all() == []


def test_a_run_at_once_is_ordered_in_the_transaction_that_submits_it(world):
    world.submit()
    assert world.run().state == "ordered"


def test_times_are_given_once_and_the_nearest_gap_is_said(world):
    world.submit(when=once(NOW + 600, 100))
    with pytest.raises(ConflictError, match=f"nearest free start is {NOW + 702:.0f}"):
        world.submit(when=once(NOW + 650))
    world.submit(when=once(NOW + 702))
    world.submit(when=once(NOW + 650), node="carol")
    with pytest.raises(ConflictError):
        world.submit(when=once(NOW + 650), priority="background")


def test_a_promise_of_next_week_is_kept(world):
    world.submit(when={"kind": "every", "start": int(NOW + 700), "period": 86_400, "seconds": 60})
    with pytest.raises(ConflictError, match="taken"):
        world.submit(when=once(NOW + 700 + 7 * 86_400, 30))
    with pytest.raises(ConflictError, match="taken"):
        world.submit(when={"kind": "every", "start": int(NOW), "period": 86_399, "seconds": 60})


def test_soon_finds_its_place_between_promises(world):
    world.submit(when={"kind": "every", "start": int(NOW), "period": 100, "seconds": 60})
    experiment = world.submit(when={"kind": "soon", "seconds": 30})
    assert world.run(experiment=experiment).start == NOW + 62
    with pytest.raises(ConflictError, match="no gap"):
        world.submit(when={"kind": "soon", "seconds": 60})


def test_a_node_that_is_away_for_a_day_delivers(world):
    experiment = world.submit(when=once(NOW + 100))
    world.go(NOW + 80)
    world.away = {"alice"}
    world.go(NOW + 86_400, step=3600)
    assert world.run(experiment=experiment).state == "accepted"
    world.away = set()
    world.go(NOW + 86_460)
    assert world.run(experiment=experiment).state == "done"
    assert world.run(experiment=experiment).started == NOW + 100


def test_a_node_that_hears_of_a_run_too_late_does_not_begin_it(world):
    world.away = {"alice"}
    experiment = world.submit(when=once(NOW + 100))
    world.go(NOW + 200)
    assert world.run(experiment=experiment).state == "ordered"
    world.away = set()
    world.settle()
    assert world.run(experiment=experiment).state == "refused"
    assert world.parties["alice"].begun == []


def test_a_run_that_takes_any_gap_and_came_too_late_has_one_more_try(world):
    """A node that is away when its order comes: the time was nobody's wish, so another will do."""
    world.away = {"alice"}
    soon = world.submit(when={"kind": "soon", "seconds": 10})
    once_only = world.submit(when=once(NOW + 100))
    world.go(NOW + 200)
    world.parties["alice"].talk(world.now)  # it hears, and is away again
    first, second = world.runs(experiment=soon)
    assert (first.state, second.state) == ("refused", "ordered")
    assert (second.again_of, second.start) == (first.id, world.now + 30)
    world.go(NOW + 400)
    world.away = set()
    world.go(NOW + 800)
    assert [one.state for one in world.runs(experiment=soon)] == ["refused", "refused"]
    assert [one.state for one in world.runs(experiment=once_only)] == ["refused"]
    assert world.parties["alice"].begun == []


def test_an_orchestrator_that_was_away_places_what_takes_any_gap_anew(world):
    world.submit(when=once(NOW + 5, 300))
    experiment = world.submit(when={"kind": "soon", "seconds": 10})
    assert world.run(experiment=experiment).start > NOW + 300
    world.now = NOW + 5000
    world.go(NOW + 5100)
    assert [one.state for one in world.runs(experiment=experiment)] == ["skipped", "done"]


def test_what_takes_any_gap_moves_forward_when_one_opens(world):
    """In order of their places; who gave a time keeps it, and who has to end by then does."""
    long = world.submit(when=once(NOW + 5, 1800))
    first = world.submit(when={"kind": "soon", "seconds": 60})
    timed = world.submit(when=once(NOW + 3300, 60))
    second = world.submit(when={"kind": "soon", "seconds": 60}, server="far", services=("quic",))
    other = world.submit(when={"kind": "soon", "seconds": 60}, node="carol")
    before = [world.run(experiment=one).start for one in (first, second)]
    assert NOW + 1805 < before[0] < before[1] < NOW + 3300
    world.go(NOW + 100)
    world.keeper.stop(world.run(experiment=long).id, "bob", world.now)
    world.settle()
    run = world.run(experiment=first)
    assert NOW + 100 <= run.start <= NOW + 102
    assert run.latest == run.start + plan().tolerance_s
    assert run.start + 60 <= world.run(experiment=second).start <= NOW + 170
    assert world.run(experiment=timed).start == NOW + 3300
    world.go(NOW + 400)
    for one in (first, second, other):
        assert world.run(experiment=one).state == "done"
    assert states(world, run.id)[:2] == ["reserved", "reserved"]


def test_what_takes_any_gap_stays_where_nothing_is_won_or_its_node_is_paused(world):
    blocker = world.submit(when=once(NOW + 5, 3600))
    behind = world.submit(when={"kind": "soon", "seconds": 60})
    start = world.run(experiment=behind).start
    with world.database.write() as connection:
        connection.execute(nodes.update().where(nodes.c.name == "alice").values(paused=True))
    world.keeper.end(blocker, "bob", world.now)
    world.settle()
    assert world.run(experiment=behind).start == start
    with world.database.read() as connection:
        held = connection.execute(select(reservations)).all()
    assert [one.start for one in held] == [int(start)]


def test_a_node_that_never_comes_back_loses_its_run_after_a_week(fast):
    fast.away = {"alice"}
    experiment = fast.submit()
    fast.go(NOW + 8 * 86_400, step=86_400)
    assert fast.run(experiment=experiment).state == "lost"


def test_a_server_that_is_not_ready_costs_the_run_and_not_the_node(world):
    world.away = {"far"}
    experiment = world.submit(server="far", services=("quic",))
    world.go(NOW + 60)
    run = world.run(experiment=experiment)
    assert run.state == "skipped"
    assert "server was not ready" in run.why
    assert world.parties["alice"].begun == []
    world.away = set()
    world.settle()
    assert world.parties["far"].serving == set()


def test_an_orchestrator_that_was_away_does_not_begin_what_is_past(world):
    experiment = world.submit(when=once(NOW + 100))
    world.now = NOW + 5000
    world.settle()
    assert world.run(experiment=experiment).state == "skipped"


def test_what_is_reserved_runs_and_is_over_can_be_stopped(world):
    experiment = world.submit(when=once(NOW + 600))
    run = world.run(experiment=experiment).id
    assert world.keeper.stop(run, "bob", NOW) == "cancelled"
    assert world.keeper.stop(run, "bob", NOW) == "cancelled"
    world.submit(when=once(NOW + 600))

    other = world.submit(node="carol", when={"kind": "soon", "seconds": 1000})
    world.go(NOW + 10)
    run = world.run(experiment=other).id
    assert world.keeper.stop(run, "bob", world.now) == "stopping"
    world.settle()
    assert states(world, run)[-3:] == ["stopping", "collecting", "cancelled"]
    with pytest.raises(MissingError):
        world.keeper.stop("0" * 24, "bob", NOW)


def test_an_experiment_that_ends_gives_its_time_back(world):
    every = {"kind": "every", "start": int(NOW + 100), "period": 100, "seconds": 60}
    experiment = world.submit(when=every)
    with pytest.raises(ConflictError):
        world.submit(when=every)
    world.keeper.end(experiment, "bob", world.now)
    world.submit(when=every)


def test_background_makes_room_and_is_placed_anew(world):
    background = world.submit(priority="background", when={"kind": "soon", "seconds": 600})
    world.go(NOW + 5)
    assert world.run(experiment=background).state == "running"
    world.submit()
    world.go(NOW + 60)
    first, second = world.runs(experiment=background)
    assert (first.state, second.again_of) == ("preempted", first.id)
    world.go(NOW + 1000)
    assert [one.state for one in world.runs(experiment=background)] == ["preempted", "done"]
    assert [one.state for one in world.runs(priority="exclusive")] == ["done"]


def fired(world, experiment: str, node: str = "alice", **more) -> None:
    world.parties[node].tell(Fired(experiment=experiment, trigger="spike", **more), world.now)
    world.settle()


def test_leoscope_hole_a_trigger_starts_a_run(world):
    """LEOScope's triggers are published, and start nothing."""
    experiment = world.submit(when={"kind": "trigger", "seconds": 10})
    assert world.runs() == []
    fired(world, experiment, context_json='{"rtt_ms": 200}')
    world.go(NOW + 30)
    run = world.run(experiment=experiment)
    assert (run.state, run.trigger, run.context) == ("done", "spike", '{"rtt_ms": 200}')


@pytest.mark.parametrize(
    ("policy", "states_then"),
    [("skip", ["skipped"]), ("wait", ["done"]), ("pre-empt", ["skipped"])],
)
def test_a_firing_into_a_run_follows_its_policy(fast, policy, states_then):
    world = fast
    experiment = world.submit(
        when={"kind": "trigger", "seconds": 10, "policy": policy, "wait_s": 100}
    )
    world.submit(when={"kind": "soon", "seconds": 60})
    fired(world, experiment)
    world.go(NOW + 200)
    assert [one.state for one in world.runs(experiment=experiment)] == states_then


@pytest.mark.parametrize(("policy", "then"), [("skip", "done"), ("pre-empt", "preempted")])
def test_a_firing_into_the_background_follows_its_policy(fast, policy, then):
    world = fast
    background = world.submit(priority="background", when={"kind": "soon", "seconds": 100})
    experiment = world.submit(when={"kind": "trigger", "seconds": 10, "policy": policy})
    world.go(NOW + 5)
    fired(world, experiment)
    world.go(NOW + 1000)
    assert world.runs(experiment=background)[0].state == then
    assert world.run(experiment=experiment).state == ("skipped" if policy == "skip" else "done")


def test_a_trigger_fires_for_its_own_node_and_so_often(fast):
    world = fast
    experiment = world.submit(when={"kind": "trigger", "seconds": 1, "runs_per_day": 2})
    fired(world, experiment, node="carol")
    assert world.runs() == []
    for _ in range(4):
        fired(world, experiment)
        world.go(world.now + 60)
    assert [one.state for one in world.runs()] == ["done", "done", "skipped", "skipped"]


def test_events_are_kept_once_however_often_they_are_told(world):
    world.submit()
    world.settle()
    run = world.run()
    told = Events(
        outbox="1" * 16,
        events=(Event(sequence=1, time_unix_s=NOW, body=Started(run=run.id, fence=run.fence)),),
    )
    for _ in range(3):
        assert world.keeper.hear("alice", told, NOW) == 1
    with world.database.read() as connection:
        kept = connection.execute(select(events).where(events.c.outbox == "1" * 16)).all()
    assert len(kept) == 1


@pytest.mark.parametrize("liar", ["carol", "far"])
def test_nobody_tells_of_another_nodes_run(world, liar):
    world.submit(server="far", services=("iperf3",), when=once(NOW + 600))
    run = world.run()
    for number, body in enumerate(
        [
            Finished(run=run.id, fence=run.fence, outcome="done"),
            Started(run=run.id, fence=run.fence),
            Started(run=run.id, fence=run.fence + 1),
            Started(run="0" * 24, fence=1),
        ],
        1,
    ):
        event = Event(sequence=number, time_unix_s=NOW, body=body)
        world.keeper.hear(liar, Events(outbox="2" * 16, events=(event,)), NOW)
    assert world.run().state == "reserved"
    ready = Ready(run=run.id, fence=run.fence, address="192.0.2.9", ports={"iperf3": 1})
    event = Event(sequence=9, time_unix_s=NOW, body=ready)
    world.keeper.hear("alice", Events(outbox="2" * 16, events=(event,)), NOW)
    assert world.run().far_end is None


def test_a_node_that_lies_about_bytes_leaves_nothing(world):
    limits = {"artefact_bytes": 100}
    world.submit(limits=limits)
    world.settle()
    run = world.run()
    huge = {"name": "huge", "bytes": 10_000_000_000, "sha256": "0" * 64}
    small = {"name": "small", "bytes": 4, "sha256": "0" * 64}
    body = Finished.model_validate(
        {"run": run.id, "fence": run.fence, "outcome": "done", "artefacts": (huge, small, small)}
    )
    event = Event(sequence=99, time_unix_s=NOW, body=body)
    world.keeper.hear("alice", Events(outbox="3" * 16, events=(event,)), NOW)
    with world.database.read() as connection:
        (row,) = connection.execute(select(artefacts)).all()
        assert row.name == "small"
        with pytest.raises(MissingError):
            world.uploads.receive(connection, "carol", row.upload, 0, b"abcd")
        with pytest.raises(TestbedError, match="beyond"):
            world.uploads.receive(connection, "alice", row.upload, 0, b"abcde")
        world.uploads.receive(connection, "alice", row.upload, 0, b"ab")
        with pytest.raises(ConflictError, match="go on there") as wrong:
            world.uploads.receive(connection, "alice", row.upload, 1, b"xyz")
        assert wrong.value.held == 2
        world.uploads.receive(connection, "alice", row.upload, 0, b"ab")  # its answer was lost
        world.uploads.receive(connection, "alice", row.upload, 2, b"cd")
    assert not world.uploads.keep(world.keeper.turn, row.upload, NOW), "its digest is another"
    assert world.run().state == "collecting"
    assert list(world.objects.paths()) == []
    assert "left out" in world.run().why


def test_a_crash_between_store_and_note_is_made_good(world):
    world.submit()
    world.go(NOW + 5)
    node = world.parties["alice"]
    node.upload, uploading = (lambda *_: None), node.upload
    world.go(NOW + 30)
    run = world.run()
    (world.objects, file) = (world.objects, world.uploads._folder / "copy")
    file.write_bytes(CONTENT)
    world.objects.put(f"{run.experiment}/alice/2027-01-15/{run.id}/out.txt", file)
    uploading(run.id, world.now)
    assert world.run().state == "done"


def test_a_plan_has_to_fit_the_testbed(world):
    with pytest.raises(MissingError, match="no node 'nobody'"):
        world.submit(node="nobody")
    with pytest.raises(MissingError, match="no node 'far'"):
        world.submit(node="far")
    with pytest.raises(MissingError, match="no server 'carol'"):
        world.submit(server="carol", services=("iperf3",))
    with pytest.raises(TestbedError, match="is past"):
        world.submit(when=once(NOW - 100))
    for wrong in (
        {"server": "far"}, {"services": ("iperf3",)}, {"server": "alice", "services": ("quic",)},
        {"work": {"kind": "study"}}, {"tolerance_s": 10_000}, {"title": ""},
        {"priority": "background", "when": {"kind": "cron", "expression": "0 0 * * *",
                                            "seconds": 1}},
    ):  # fmt: skip
        with pytest.raises(ValidationError):
            plan(**wrong)


def test_orders_that_nobody_can_follow_any_more_are_forgotten(fast):
    fast.submit()
    fast.go(NOW + 30)
    with fast.database.read() as connection:
        assert len(waiting(connection, "alice", 0)) == 1
    fast.go(NOW + 10 * 86_400, step=86_400)
    with fast.database.read() as connection:
        assert waiting(connection, "alice", 0) == ()


def test_parts_whose_rest_never_comes_are_removed(fast):
    part = fast.uploads._folder / ("0" * 24)
    part.write_bytes(b"part")
    born = part.stat().st_mtime
    assert fast.uploads.forget(born + 30 * 86_400) == 0
    assert fast.uploads.forget(born + 38 * 86_400) == 1
    assert not part.exists()


def test_a_disk_that_is_full_refuses_parts_and_loses_none(fast, monkeypatch):
    fast.submit()
    fast.settle()
    node = fast.parties["alice"]
    node.upload, upload = (lambda *_: None), node.upload
    fast.go(NOW + 30)
    monkeypatch.setattr("skyweave.testbed.runs.files.LEAST_FREE_BYTES", 10**18)
    with pytest.raises(UnavailableError, match="nearly full"):
        upload(fast.run().id, fast.now)
    assert fast.run().state == "collecting"
    monkeypatch.undo()
    upload(fast.run().id, fast.now)
    assert fast.run().state == "done"


def test_what_fails_for_one_run_keeps_no_other_from_its_turn(fast, monkeypatch):
    bad = fast.submit(node="carol", when=once(NOW + 100))
    good = fast.submit(when=once(NOW + 100))
    sick = fast.run(experiment=bad).id
    send = Dispatch.send

    def fails(self, what, run):
        if run.id == sick:
            raise ZeroDivisionError
        send(self, what, run)

    monkeypatch.setattr(Dispatch, "send", fails)
    fast.go(NOW + 90)
    assert fast.run(experiment=good).state == "accepted"
    assert fast.run(experiment=bad).state == "reserved"
    with fast.database.read() as connection:
        said = connection.execute(audit.select().where(audit.c.action == "run.failed")).all()
    assert said[0].what == sick
    monkeypatch.undo()
    fast.go(NOW + 200)
    assert fast.run(experiment=bad).state == "skipped", "its time was over when it was tried again"


def test_a_plan_that_cannot_be_read_stops_nothing(fast):
    every = {"kind": "every", "start": int(NOW), "period": 600, "seconds": 9}
    broken, good = fast.submit(when=every), fast.submit(node="carol", when=every)
    fast.parties["alice"].makes_files = False
    with fast.database.write() as connection:
        which = experiments.update().where(experiments.c.id == broken)
        connection.execute(which.values(plan="{}"))
    fast.go(NOW + 3 * 3600)
    assert len(fast.runs(experiment=good)) > 18
    assert len(fast.runs(experiment=broken)) <= 7


def test_starts_that_nobody_was_there_for_are_noted(fast):
    fast.submit(when={"kind": "every", "start": int(NOW), "period": 600, "seconds": 9})
    fast.now += 86_400
    fast.settle()
    with fast.database.read() as connection:
        (said,) = connection.execute(audit.select().where(audit.c.action == "runs.missed")).all()
    assert said.detail.startswith("138 starts")


def test_a_database_whose_disk_is_full_says_so_and_goes_on_later(fast):
    with fast.database.engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()

    def full(connection, _) -> None:
        connection.execute(f"PRAGMA max_page_count = {pages}")

    event.listen(fast.database.engine, "connect", full)
    fast.database.engine.dispose()

    def fill() -> None:
        for number in range(200):
            fast.submit(when=once(NOW + 1000 + 100 * number))

    with pytest.raises(UnavailableError, match="full"):
        fill()
    there = len(fast.runs())
    event.remove(fast.database.engine, "connect", full)
    fast.database.engine.dispose()
    fast.submit(node="carol")
    assert len(fast.runs()) == there + 1


def test_two_keepers_on_one_database_order_each_run_once(url, tmp_path):
    databases = [Database(url), Database(url)]
    migrate(databases[0])
    world = World(databases[0], tmp_path)
    other = Keeper(databases[1], KEY)
    every = {"kind": "every", "start": int(NOW + 60), "period": 60, "seconds": 20}
    world.submit(when=every)
    with pytest.raises(ConflictError):
        other.submit(plan(when=every), "bob", NOW)
    for _ in range(20):
        other.tick(world.now)
        world.go(world.now + 30)
        other.tick(world.now)
    assert len(world.parties["alice"].begun) == len(set(world.parties["alice"].begun)) == 10
    for one in databases:
        one.close()


@pytest.mark.parametrize("seed", range(int(os.environ.get("SKYWEAVE_WEEKS", "3"))))
def test_a_week_of_plans_triggers_and_absences_ends_each_run_once(fast, seed):
    """Everything random: plans, firings, stops, who is away for how long, answers that get lost."""
    world, dice = fast, random.Random(seed)
    for party in world.parties.values():
        party.dice, party.repeats = dice, 0.3
    triggered = [
        world.submit(
            node=node, priority="normal",
            when={"kind": "trigger", "seconds": 30, "policy": policy},
        )
        for node in ("alice", "carol") for policy in ("skip", "wait", "pre-empt")
    ]  # fmt: skip
    end = NOW + 7 * 86_400
    while world.now < end:
        world.away = {name for name in world.parties if dice.random() < 0.2}
        for _ in range(dice.randrange(4)):
            _something(world, dice, triggered)
        world.go(world.now + dice.choice([300, 3600, 40_000]), step=7200)
    world.away = set()
    for experiment in triggered:
        world.keeper.end(experiment, "bob", world.now)
    world.go(world.now + 9 * 86_400, step=86_400)
    _check(world)


def _something(world, dice, triggered) -> None:
    node, server = dice.choice(["alice", "carol"]), dice.random() < 0.4
    more = {"server": "far", "services": ("iperf3",)} if server else {}
    priority = dice.choice(["background", "normal", "exclusive", "exclusive"])
    seconds = dice.choice([5, 60, 900])
    start = int(world.now) + dice.randrange(20_000)
    timed = [
        once(start, seconds),
        {"kind": "every", "start": start, "period": seconds * 7, "seconds": seconds,
         "until": start + seconds * 30},
        {"kind": "cron", "expression": "*/30 * * * *", "seconds": seconds, "start": start,
         "until": start + 7000},
    ]  # fmt: skip
    soon = {"kind": "soon", "seconds": seconds}
    when = soon if priority == "background" else dice.choice([soon, *timed])
    with contextlib.suppress(ConflictError):
        world.submit(node=node, priority=priority, when=when, **more)
    fired(world, dice.choice(triggered), node=node)
    if dice.random() < 0.3 and (there := world.runs()):
        world.keeper.stop(dice.choice(there).id, "bob", world.now)


def _check(world) -> None:
    rows = world.runs()
    assert len(rows) > 50
    assert {one.state for one in rows} <= machine.FINAL
    for one in rows:
        finals = [state for state in states(world, one.id) if state in machine.FINAL]
        assert finals == [one.state]
    by_id = {one.id: one for one in rows}
    for name in ("alice", "carol"):
        node = world.parties[name]
        assert len(node.begun) == len(set(node.begun)), "a run began twice"
        assert {one.id for one in rows if one.node == name and one.state == "done"} <= set(
            node.begun
        )
        alone = sorted(one for one in node.busy if by_id[one[2]].priority == "exclusive")
        for start, until, run in alone:
            for other_start, other_until, other in node.busy:
                if other != run and by_id[other].priority != "background":
                    assert other_until <= start or until <= other_start, "two at a time"
    assert world.parties["far"].serving == set()
    with world.database.read() as connection:
        assert connection.execute(select(reservations)).all() == []
