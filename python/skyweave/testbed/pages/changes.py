"""What tells a page that it is out of date: server-sent events that say of what, and no more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse
from sqlalchemy import func, select
from starlette.concurrency import run_in_threadpool

from skyweave.testbed.errors import RefusedError, TestbedError
from skyweave.testbed.pages.guards import sees, visitor_of
from skyweave.testbed.store import Database, UnavailableError
from skyweave.testbed.store.tables import audit, nodes, runs

router = APIRouter()
LOOK_S = 1.0
"""How often the database is looked at, once for everybody who watches."""
MOST_WATCHING = 500
QUIET_S = 15.0
"""After so long without news a line is sent, and who watches is looked at anew."""


class Look(NamedTuple):
    """What was there: two looks differ if a page would."""

    nodes: int
    runs: int


class Watch:
    """Looks at the database while somebody watches, and tells all of them what has changed."""

    def __init__(self, database: Database, look_s: float = LOOK_S) -> None:
        self._database, self._look_s = database, look_s
        self._watching: set[asyncio.Queue[str]] = set()
        self._task: asyncio.Task[None] | None = None
        self._before: Look | None = None

    @property
    def is_full(self) -> bool:
        """Whether nobody else can watch."""
        return len(self._watching) >= MOST_WATCHING

    def look(self) -> Look:
        """Look once: at nodes, at runs that are not over, and at the last line of the audit log."""
        with self._database.read() as connection:
            seen = connection.execute(
                select(nodes.c.name, nodes.c.seen, nodes.c.paused, nodes.c.revoked)
            ).all()
            going = connection.execute(
                select(runs.c.id, runs.c.state).where(runs.c.due.is_not(None))
            ).all()
            last = connection.execute(select(func.max(audit.c.id))).scalar_one()
        return Look(hash(frozenset(map(tuple, seen))),
                    hash((frozenset(map(tuple, going)), last)))  # fmt: skip

    async def follow(self) -> AsyncIterator[str | None]:
        """Yield what changed, ``nodes`` or ``runs``; None after a while in which nothing did.

        Both come at once: a page was made before anybody watched for it.
        """
        news: asyncio.Queue[str] = asyncio.Queue(maxsize=len(Look._fields))
        self._watching.add(news)
        try:
            if self._task is None or self._task.done():
                self._before = await run_in_threadpool(self.look)
                self._task = asyncio.create_task(self._run())
            for name in Look._fields:
                yield name
            while True:
                try:
                    yield await asyncio.wait_for(news.get(), QUIET_S)
                except TimeoutError:
                    yield None
        finally:
            self._watching.discard(news)

    async def _run(self) -> None:
        while self._watching:
            await asyncio.sleep(self._look_s)
            try:
                after = await run_in_threadpool(self.look)
            except TestbedError:  # the database is away: what it then says is news
                continue
            for name, old, new in zip(Look._fields, self._before or after, after, strict=True):
                if old != new:
                    self._tell(name)
            self._before = after

    def _tell(self, name: str) -> None:
        for news in self._watching:
            if not news.full():  # who is behind will look at all of it anyway
                news.put_nowait(name)


@router.get("/changes", response_class=StreamingResponse, dependencies=[sees("self")])
async def changes(request: Request) -> StreamingResponse:
    """Say what changes, until the session ends."""
    watch: Watch = request.app.state.watch
    if watch.is_full:
        raise UnavailableError("too many people watch; reload the page to see what is new")
    return StreamingResponse(_events(request, watch), media_type="text/event-stream")


async def _events(request: Request, watch: Watch) -> AsyncIterator[str]:
    yield "retry: 3000\n\n"
    async for name in watch.follow():
        try:
            await run_in_threadpool(visitor_of, request, "self", [])
        except RefusedError:
            return
        yield f"event: {name}\ndata: {name}\n\n" if name else ": nothing new\n\n"
