"""How often somebody may fail to sign in: by address and by account, in bounded memory."""

from __future__ import annotations

import ipaddress
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import Request

from skyweave.testbed.api.allowance import TooManyError
from skyweave.testbed.errors import RefusedError

MOST_AT_ONCE = 20
EACH_S = 30.0
"""How often one more is allowed after that."""
MOST_NAMES = 10_000
"""Addresses, or accounts, that are remembered: a number each. The longest unseen goes first."""
MOST_GOOD = 10_000
SITE_BITS = 64
"""An IPv6 site has 2^64 addresses of its own: they count as one."""


class Pace:
    """A burst for a name, then one each ``each_s`` seconds (GCRA: one moment is kept)."""

    def __init__(
        self, most: int = MOST_AT_ONCE, each_s: float = EACH_S, names: int = MOST_NAMES
    ) -> None:
        self._most, self._each_s, self._names = most, each_s, names
        self._free_at: OrderedDict[str, float] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._free_at)

    def take(self, name: str, now: float) -> float:
        """Take one, and return 0; else how many seconds later there is one."""
        with self._lock:
            free_at = max(self._free_at.get(name, now), now)
            if free_at > now + self._most * self._each_s:  # the clock was put back
                free_at = now
            wait_s = free_at + self._each_s - now - self._most * self._each_s
            if wait_s > 0:
                return wait_s
            self._free_at[name] = free_at + self._each_s
            self._free_at.move_to_end(name)
            while len(self._free_at) > self._names:
                self._free_at.popitem(last=False)
        return 0.0

    def give_back(self, name: str, now: float) -> None:
        """Give back what was taken: it was none of what is counted."""
        with self._lock:
            if name in self._free_at:
                self._free_at[name] -= self._each_s
                if self._free_at[name] <= now:
                    del self._free_at[name]


class Attempts:
    """Counts what is refused of an address, and each time that somebody signs in to an account.

    Tokens that were good here lately are not kept waiting: a neighbour behind the same address
    who fails does not stop a program that works.
    """

    def __init__(self) -> None:
        self.addresses, self.accounts = Pace(), Pace()
        self._good: OrderedDict[str, None] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def of(self, address: str, now: float, secret: str | None = None) -> Iterator[None]:
        """Try something that may be refused; :class:`TooManyError` before, if too much was.

        ``secret`` is the hash of a token, known by it if it comes again.
        """
        with self._lock:
            is_known = secret in self._good
        if is_known:
            yield
            return
        if wait_s := self.addresses.take(address, now):
            raise too_many("your address was refused too often", wait_s)
        try:
            yield
        except RefusedError as error:
            if isinstance(error, TooManyError):  # of an account: not what this counts
                self.addresses.give_back(address, now)
            raise
        except BaseException:
            self.addresses.give_back(address, now)
            raise
        self.addresses.give_back(address, now)
        if secret is not None:
            self._keep(secret)

    def _keep(self, secret: str) -> None:
        with self._lock:
            self._good[secret] = None
            while len(self._good) > MOST_GOOD:
                self._good.popitem(last=False)

    def into(self, account: str, now: float) -> None:
        """Count that somebody wants into an account; :class:`TooManyError` if that is too often."""
        if wait_s := self.accounts.take(account, now):
            raise too_many(f"too many want to sign in as {account}", wait_s)


def too_many(what: str, wait_s: float) -> TooManyError:
    """Return the error that says when to try again."""
    seconds = max(1, int(wait_s + 0.999))
    error = TooManyError(f"{what}; try again in {seconds} s")
    error.wait_s = seconds
    return error


def address_of(request: Request) -> str:
    """Return whose request it is: an IPv4 address, or the site of an IPv6 one.

    Behind a proxy it is what the proxy added last to ``X-Forwarded-For``; what others wrote there
    before it is not believed.
    """
    found = request.client.host if request.client else ""
    if request.app.state.office.behind_proxy:
        said = request.headers.getlist("x-forwarded-for") or [found]
        found = said[-1].rpartition(",")[2].strip()
    try:
        address = ipaddress.ip_address(found)
    except ValueError:
        return found[:64]
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, SITE_BITS), strict=False))
    return str(address)
