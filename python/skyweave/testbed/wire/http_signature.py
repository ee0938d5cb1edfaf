"""Requests signed as RFC 9421 says, by one profile: Ed25519, and always the same components.

What is signed: ``@method``, ``@path``, ``@query``, and ``content-digest`` (RFC 9530, SHA-256),
with ``created``, ``nonce``, ``keyid`` and the tag ``skyweave``. Method, path, query and body are
all that the orchestrator acts on. The authority is left out: a proxy may change it, and a node's
key is known to one orchestrator alone.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from skyweave.testbed.errors import RefusedError
from skyweave.testbed.wire.keys import PrivateKey, is_signed

COMPONENTS = ("@method", "@path", "@query", "content-digest")
TAG = "skyweave"
WINDOW_S = 60.0
"""How far ``created`` may be from the receiver's clock."""
MOST_NONCES = 200_000
_INPUT = re.compile(
    r'skyweave=(?P<params>\("@method" "@path" "@query" "content-digest"\);'
    r"created=(?P<created>\d{1,12});"
    r'nonce="(?P<nonce>[0-9a-f]{32})";keyid="(?P<keyid>[A-Za-z0-9+/=-]{1,64})";alg="ed25519";'
    r'tag="skyweave")'
)
_SIGNATURE = re.compile(r"skyweave=:([A-Za-z0-9+/]{86}==):")


class WrongClockError(RefusedError):
    """A signature whose ``created`` is too far from now: the sender corrects its clock."""


class Request(NamedTuple):
    """What of a request is signed."""

    method: str
    path: str
    """As it is sent, percent-encoded."""
    query: str
    """Without its question mark; empty if there is none."""
    body: bytes


def content_digest(body: bytes) -> str:
    """Return the value of ``Content-Digest``."""
    return f"sha-256=:{base64.b64encode(hashlib.sha256(body).digest()).decode()}:"


def signature_base(components: Mapping[str, str], parameters: str) -> bytes:
    """Return the bytes to sign (RFC 9421, section 2.5): a line a component, then the parameters."""
    lines = [f'"{name}": {value}' for name, value in components.items()]
    return "\n".join([*lines, f'"@signature-params": {parameters}']).encode()


def _base(request: Request, parameters: str) -> bytes:
    values = (
        request.method.upper(), request.path, f"?{request.query}", content_digest(request.body)
    )  # fmt: skip
    return signature_base(dict(zip(COMPONENTS, values, strict=True)), parameters)


def sign(request: Request, key: PrivateKey, key_id: str, now_unix_s: float) -> dict[str, str]:
    """Return the headers that sign a request; ``key_id`` is the node's name."""
    covered = " ".join(f'"{name}"' for name in COMPONENTS)
    parameters = (
        f'({covered});created={int(now_unix_s)};nonce="{secrets.token_hex(16)}";'
        f'keyid="{key_id}";alg="ed25519";tag="{TAG}"'
    )
    return {
        "Content-Digest": content_digest(request.body),
        "Signature-Input": f"skyweave={parameters}",
        "Signature": f"skyweave=:{key.sign(_base(request, parameters))}:",
    }


@dataclass(frozen=True)
class Claim:
    """Who a request says that it is from; nothing of it is true before :meth:`Nonces.check`."""

    key_id: str
    created_unix_s: int
    nonce: str
    parameters: str
    signature: str


def claim_of(headers: Mapping[str, str]) -> Claim:
    """Read the headers of a request; :class:`RefusedError` if it is not signed in this profile."""
    found = _INPUT.fullmatch(headers.get("signature-input", ""))
    signature = _SIGNATURE.fullmatch(headers.get("signature", ""))
    if not found or not signature:
        raise RefusedError("the request is not signed as docs/testbed.md says")
    return Claim(
        found["keyid"], int(found["created"]), found["nonce"], found["params"], signature[1]
    )


class Nonces:
    """Which nonces were seen of late: a signature is good once.

    They are kept in memory. What a restart forgets can be replayed for :data:`WINDOW_S`, and every
    request of a node may be repeated without harm.
    """

    def __init__(self) -> None:
        self._seen: dict[str, float] = {}

    def check(
        self, claim: Claim, request: Request, headers: Mapping[str, str],
        key_of: Callable[[str], str | None], now_unix_s: float,
    ) -> None:  # fmt: skip
        """Raise :class:`RefusedError` unless the holder of the key signed just this request, now.

        ``key_of`` returns the public key of a key id, None if there is none.
        """
        key = key_of(claim.key_id)
        given = headers.get("content-digest", "")
        if not hmac.compare_digest(given.encode(), content_digest(request.body).encode()):
            raise RefusedError("Content-Digest does not fit the body")
        if key is None or not is_signed(key, _base(request, claim.parameters), claim.signature):
            raise RefusedError(f"the signature is not that of '{claim.key_id}'")
        if abs(now_unix_s - claim.created_unix_s) > WINDOW_S:
            raise WrongClockError(
                f"the request was signed at {claim.created_unix_s}, and it is {now_unix_s:.0f}; "
                "correct the clock"
            )
        self._note(f"{claim.key_id} {claim.nonce}", now_unix_s)

    def _note(self, nonce: str, now_unix_s: float) -> None:
        if nonce in self._seen:
            raise RefusedError("the request was made before, with the same nonce")
        while self._seen:  # in the order of time: the oldest are first
            oldest = next(iter(self._seen))
            if self._seen[oldest] > now_unix_s - 2 * WINDOW_S - 1:
                break
            del self._seen[oldest]
        if len(self._seen) >= MOST_NONCES:
            raise RefusedError("too many requests; try again in a minute")
        self._seen[nonce] = now_unix_s
