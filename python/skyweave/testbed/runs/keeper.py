"""The keeper of runs: takes news, from people, nodes and the clock, and does what follows.

Each turn is one transaction: what follows is decided, written and ordered together, or not at all.
There is nothing else to recover after a crash, and a second keeper on the same database waits its
turn and finds the work done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import func, select

from skyweave.testbed.access import note
from skyweave.testbed.runs import asking, hearing, machine, passing
from skyweave.testbed.runs.orders import Dispatch
from skyweave.testbed.runs.plan import Plan
from skyweave.testbed.runs.turn import Turn, situation
from skyweave.testbed.store import Database
from skyweave.testbed.store.tables import experiments, runs
from skyweave.testbed.wire import Events, PrivateKey


class Keeper:
    """What is done about runs. ``ring`` is told which nodes have new orders."""

    def __init__(
        self, database: Database, key: PrivateKey, ring: Callable[[str], None] = lambda _: None
    ) -> None:
        self.database = database
        self._key = key
        self._ring = ring

    @contextmanager
    def turn(self, now: float) -> Iterator[Turn]:
        """Yield a transaction; when it is through, the nodes that it has news for are woken."""
        with self.database.write() as connection:
            turn = Turn(connection, Dispatch(connection, self._key, now), now)
            yield turn
        for node in turn.dispatch.told:
            self._ring(node)

    def submit(self, plan: Plan, owner: str, now: float, name: str | None = None) -> str:
        """Take an experiment, or say what is in its way; return its id.

        Who gives an id of their own may ask again after a lost answer, and submits once.
        """
        with self.turn(now) as turn:
            return asking.submit(turn, plan, owner, name)

    def end(self, experiment: str, who: str, now: float) -> None:
        """End an experiment: what is reserved is given back, what runs is stopped."""
        with self.turn(now) as turn:
            asking.end(turn, experiment, who)

    def fire(self, experiment: str, trigger: str, context: str, now: float) -> str | None:
        """Start a run of an experiment that waits for a trigger, as if its node had said so.

        Returns its id, be it skipped or not; None if the experiment does not wait for one.
        """
        with self.turn(now) as turn:
            return asking.fire(turn, experiment, None, trigger, None, context)

    def stop(self, run: str, who: str, now: float) -> str:
        """Stop a run, or let it not begin; return the state it is in now."""
        with self.turn(now) as turn:
            row = turn.run(run)
            turn.take(row, machine.on_stop(situation(row), "cancelled", f"stopped by {who}"))
            note(turn.connection, now, who, "run.stop", run)
            return str(turn.run(run).state)

    def hear(self, node: str, told: Events, now: float) -> int:
        """Take what a node tells; return the number up to which its outbox is kept."""
        with self.turn(now) as turn:
            return hearing.hear(turn, node, told)

    def tick(self, now: float) -> float | None:
        """Do all that is due; return when something is due next, None if nothing is."""
        while True:
            with self.turn(now) as turn:
                more = passing.make_runs(turn) | passing.look_at_due(turn)
                passing.forget(turn)
            if not more:
                return self.next_due()

    def next_due(self) -> float | None:
        """Return when something is due next, None if nothing is."""
        with self.database.read() as connection:
            due = connection.execute(select(func.min(runs.c.due))).scalar_one_or_none()
            made = connection.execute(
                select(func.min(experiments.c.materialised)).where(experiments.c.ended.is_(None))
            ).scalar_one_or_none()
        moments = [] if due is None else [float(due)]
        if made is not None:
            moments.append(float(made) - passing.REFILL_S)
        return min(moments, default=None)
