"""One transaction of the keeper: the steps of runs, and all that goes with each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, func, select

from skyweave.testbed.access import note
from skyweave.testbed.errors import MissingError
from skyweave.testbed.runs import booking, forward, machine
from skyweave.testbed.runs.booking import Place
from skyweave.testbed.runs.orders import Dispatch, plan_of
from skyweave.testbed.runs.plan import Plan, Soon
from skyweave.testbed.store import UnavailableError
from skyweave.testbed.store.database import said
from skyweave.testbed.store.tables import experiments, nodes, reservations, runs

AGAIN_AFTER_S = 30.0
"""How long after a run made room, or came too late, it is placed anew."""
MOST_AGAIN = 20
"""How often that is done for an experiment."""


@dataclass
class Went:
    """Whether something went well."""

    well: bool = True


class Turn:
    """One transaction: rows are read and written, orders are written, nothing else happens."""

    def __init__(self, connection: Connection, dispatch: Dispatch, now: float) -> None:
        self.connection = connection
        self.dispatch = dispatch
        self.now = now

    def run(self, run: str) -> Row[Any]:
        """Return the row of a run."""
        row = self.connection.execute(select(runs).where(runs.c.id == run)).first()
        if row is None:
            raise MissingError(f"there is no run {run}")
        return row

    @contextmanager
    def apart(self, action: str, what: str, who: str = "orchestrator") -> Iterator[Went]:
        """Do something that may fail without keeping all else from its turn; note it if it does."""
        went = Went()
        try:
            with self.connection.begin_nested(), said():
                yield went
        except UnavailableError:
            raise
        except Exception as error:  # whatever it is, the runs of others go on
            went.well = False
            note(self.connection, self.now, who, action, what, f"{type(error).__name__}: {error}")

    def take(self, row: Row[Any], step: machine.Step | None) -> None:
        """Take a step: write it, order what follows, give back what is not needed any more."""
        if step is None:
            return
        values: dict[str, Any] = {"state": step.state, "due": step.due}
        if step.why:
            values["why"] = step.why[:500]
        if step.outcome is not None:
            values["outcome"] = step.outcome
        if step.is_final:
            values["ended"] = self.now
        self.connection.execute(runs.update().where(runs.c.id == row.id).values(**values))
        booking.note_state(self.connection, row.id, step, self.now)
        if "start" in step.do or "serve" in step.do:
            self._make_room(row)
        for what in step.do:
            self.dispatch.send(what, self.run(row.id))
        if step.is_final or step.state == "collecting":
            self.connection.execute(reservations.delete().where(reservations.c.run == row.id))
        made_room = step.state == "preempted" and row.priority == "background"
        if made_room or (step.late and self._is_first(row)):
            self._place_anew(row)
        if step.is_final or step.state == "collecting":
            forward.move_up(self, [one for one in (row.node, row.server) if one])

    def add(self, experiment: str, owner: str, plan: Plan, place: Place) -> str:
        """Add a run, and order it if it is due."""
        run = booking.add_run(self.connection, experiment, owner, plan, place, self.now)
        self.on_time(self.run(run))
        return run

    def on_time(self, row: Row[Any]) -> bool:
        """Take the step that the time brings to a run; return False if there is none."""
        step = machine.on_time(situation(row), self.now)
        if step is not None and {"start", "serve"} & set(step.do) and self.is_paused(row.node):
            step = machine.Step("skipped", why="its node is paused by its owner")
        self.take(row, step)
        return step is not None

    def close(self, experiment: str) -> None:
        """Note that all runs of an experiment are made."""
        self.connection.execute(
            experiments.update().where(experiments.c.id == experiment).values(ended=self.now)
        )

    def going(self, which: Any) -> list[Row[Any]]:
        """Return the runs that are not over, of those."""
        found = select(runs).where(which, runs.c.state.not_in(machine.FINAL))
        return list(self.connection.execute(found).all())

    def is_paused(self, node: str) -> bool:
        """Tell whether the owner of a node lets nothing begin there for now."""
        paused = select(nodes.c.paused).where(nodes.c.name == node)
        return bool(self.connection.execute(paused).scalar_one())

    def _make_room(self, row: Row[Any]) -> None:
        """Stop what is in the background where an exclusive run is about to begin."""
        if row.priority != "exclusive":
            return
        taken = [one for one in (row.node, row.server) if one]
        there = self.going(
            (runs.c.priority == "background")
            & (runs.c.node.in_(taken) | runs.c.server.in_(taken))
            & (runs.c.start < row.latest + row.seconds)
        )
        for one in there:
            if one.id != row.id and one.latest + one.seconds > row.start:
                self.take(
                    one, machine.on_stop(situation(one), "preempted", f"made room for {row.id}")
                )

    def _place_anew(self, row: Row[Any]) -> None:
        """Give a run another place: what made room in the background, and what came too late.

        What came too late has one more try, and only if its plan takes any gap.
        """
        if row.priority == "background" and self._times_again(row) >= MOST_AGAIN:
            return
        plan = plan_of(self.connection, row.experiment)
        before = plan.when.before if isinstance(plan.when, Soon) else None
        start = booking.nearest(self.connection, plan, self.now + AGAIN_AFTER_S, before)
        if start is not None:
            place = Place(start, row.trigger, row.context, again_of=row.id)
            self.add(row.experiment, row.owner, plan, place)

    def _is_first(self, row: Row[Any]) -> bool:
        """Tell whether a run of a plan that takes any gap has not been placed anew before."""
        plan = plan_of(self.connection, row.experiment)
        return isinstance(plan.when, Soon) and not row.again_of

    def _times_again(self, row: Row[Any]) -> int:
        count = select(func.count()).where(
            runs.c.experiment == row.experiment, runs.c.again_of != ""
        )
        return self.connection.execute(count).scalar_one()


def situation(row: Row[Any]) -> machine.Situation:
    """Return what of a run decides."""
    return machine.Situation(
        state=row.state, start=row.start, latest=row.latest, seconds=row.seconds,
        has_server=row.server is not None, outcome=row.outcome,
    )  # fmt: skip
