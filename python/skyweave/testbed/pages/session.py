"""Who is signed in: a random cookie for 12 hours, in memory alone."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from typing import NamedTuple

from starlette.responses import Response

from skyweave.testbed.access.secrets import hashed

COOKIE = "__Host-skyweave"
"""The prefix binds it to this host: browsers take it over TLS, for all paths, from nobody else."""
SESSION_S = 12 * 3600.0
MOST_SESSIONS = 10_000


def set_session(answer: Response, cookie: str) -> None:
    """Give a session to a browser: for this host over TLS, for no script, sent by no other site."""
    answer.set_cookie(
        COOKIE, cookie, max_age=int(SESSION_S), secure=True, httponly=True, samesite="strict"
    )


class Session(NamedTuple):
    """Somebody's browser. Each request looks at the token anew, so it ends with the token."""

    token: str
    csrf: str
    """What each form brings, and no other site knows."""
    expires: float
    owns_token: bool
    """The token was made for this session, not typed in: it is revoked when the session ends."""


class Sessions:
    """All of one process; a restart signs everybody out. The oldest go when there are too many."""

    def __init__(self, most: int = MOST_SESSIONS) -> None:
        self._kept: OrderedDict[str, Session] = OrderedDict()
        self._most, self._lock = most, threading.Lock()

    def begin(self, token: str, now: float, *, owns_token: bool = False) -> str:
        """Return the cookie of a new session."""
        cookie = secrets.token_urlsafe(32)
        made = Session(token, secrets.token_urlsafe(32), now + SESSION_S, owns_token)
        with self._lock:
            self._kept[hashed(cookie)] = made
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return cookie

    def find(self, cookie: str | None, now: float) -> Session | None:
        """Return the session of a cookie that is still good."""
        with self._lock:
            found = self._kept.get(hashed(cookie)) if cookie else None
        return found if found and now < found.expires else None

    def end(self, cookie: str) -> None:
        """Forget a session."""
        with self._lock:
            self._kept.pop(hashed(cookie), None)
