"""Passkeys (WebAuthn level 2): made by who is signed in, and good to sign in with, until revoked.

The cryptography is ``webauthn``'s. What is kept of a passkey is its public key. Section numbers
are those of https://www.w3.org/TR/webauthn-2/.
"""

from __future__ import annotations

import ipaddress
import json
import secrets
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

import webauthn
from sqlalchemy import Connection, Row, func, select
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url
from webauthn.helpers.cose import COSEAlgorithmIdentifier
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from skyweave.testbed.access.secrets import new_id
from skyweave.testbed.errors import ConflictError, RefusedError, TestbedError
from skyweave.testbed.store.tables import passkeys, tokens

MOST_PASSKEYS = 20
"""Of a person, good ones."""
MOST_LABEL = 100
MOST_CREDENTIAL = 1366
"""Characters of a credential's id: 1023 bytes (section 4)."""
CHALLENGE_S = 300.0
ALGORITHMS = [
    COSEAlgorithmIdentifier.EDDSA, COSEAlgorithmIdentifier.ECDSA_SHA_256,
    COSEAlgorithmIdentifier.RSASSA_PKCS1_v1_5_SHA_256,
]  # fmt: skip
NOT_GOOD = "that passkey is not good here; sign in with a token or a one-time code"
Answer = TypeVar("Answer")


class Site(NamedTuple):
    """Where passkeys of this orchestrator are good: their RP ID, and the origin of its pages."""

    host: str
    origin: str


class Wish(NamedTuple):
    """Whose passkey is to be made, in which session, under which handle."""

    person: str
    csrf: str
    handle: str


class BadPasskeyError(RefusedError):
    """A passkey that is somebody's, and not good: whose, and why, are for the audit log alone."""

    def __init__(self, person: str, passkey: str, why: str) -> None:
        super().__init__(NOT_GOOD)
        self.person, self.passkey, self.why = person, passkey, why


def site_of(url: str) -> Site | None:
    """Return where passkeys are good; None at an address, which can have none (section 5.1.2).

    >>> site_of("https://Testbed.example:8440")
    Site(host='testbed.example', origin='https://testbed.example:8440')
    >>> site_of("https://127.0.0.1:8440") is site_of("http://testbed.example") is None
    True
    """
    parts = urlsplit(url.lower())
    host = parts.hostname or ""
    if not host or (parts.scheme != "https" and host != "localhost"):
        return None
    try:
        ipaddress.ip_address(host)
    except ValueError:
        usual = {"https": 443, "http": 80}[parts.scheme]
        port = "" if parts.port in (None, usual) else f":{parts.port}"
        return Site(host, f"{parts.scheme}://{host}{port}")
    return None


def to_make(
    connection: Connection, site: Site, person: str, handle: str, challenge: str
) -> dict[str, Any]:
    """Return the options of ``navigator.credentials.create``, as JSON."""
    mine = _good(connection, person)
    if len(mine) >= MOST_PASSKEYS:
        raise ConflictError(f"{person} has {MOST_PASSKEYS} passkeys; revoke some")
    options = webauthn.generate_registration_options(
        rp_id=site.host, rp_name="Skyweave testbed", user_name=person,
        user_id=base64url_to_bytes(handle), challenge=base64url_to_bytes(challenge),
        supported_pub_key_algs=ALGORITHMS,
        timeout=int(1e3 * CHALLENGE_S),
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED,
            user_verification=UserVerificationRequirement.REQUIRED,
        ),
        exclude_credentials=[
            PublicKeyCredentialDescriptor(id=base64url_to_bytes(one.credential)) for one in mine
        ],
    )  # fmt: skip
    found: dict[str, Any] = json.loads(webauthn.options_to_json(options))
    return found


def to_sign_in(site: Site, challenge: str) -> dict[str, Any]:
    """Return the options of ``navigator.credentials.get``, as JSON: of any passkey of the site."""
    options = webauthn.generate_authentication_options(
        rp_id=site.host, challenge=base64url_to_bytes(challenge), timeout=int(1e3 * CHALLENGE_S),
        user_verification=UserVerificationRequirement.REQUIRED,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(webauthn.options_to_json(options))
    return found


def challenge_of(credential: str) -> str:
    """Return the challenge that a browser says it answers; '' if it says none."""
    try:
        said = json.loads(credential)["response"]["clientDataJSON"]
        found = json.loads(base64url_to_bytes(said))["challenge"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return found if isinstance(found, str) and len(found) < 100 else ""


def keep(
    connection: Connection, site: Site, wish: Wish, credential: str, challenge: str, label: str,
    now: float,
) -> str:  # fmt: skip
    """Keep the passkey that a browser made, and return its id."""
    person = wish.person
    if not 0 < len(label) <= MOST_LABEL:
        raise TestbedError(f"a passkey's label has 1 to {MOST_LABEL} characters")
    made, why = _tried(
        lambda: webauthn.verify_registration_response(
            credential=credential, expected_challenge=base64url_to_bytes(challenge),
            expected_rp_id=site.host, expected_origin=site.origin, require_user_verification=True,
            supported_pub_key_algs=ALGORITHMS,
        )
    )  # fmt: skip
    if made is None:
        raise RefusedError(f"that passkey cannot be kept ({why}); make it again")
    name = bytes_to_base64url(made.credential_id)
    if len(name) > MOST_CREDENTIAL:
        raise RefusedError("that passkey's id is longer than 1,023 bytes; use another device")
    if len(_good(connection, person)) >= MOST_PASSKEYS:
        raise ConflictError(f"{person} has {MOST_PASSKEYS} passkeys; revoke some")
    if connection.execute(select(passkeys.c.id).where(passkeys.c.credential == name)).first():
        raise ConflictError("that passkey is somebody's already; make another")
    passkey = new_id()
    connection.execute(
        passkeys.insert().values(
            id=passkey, person=person, credential=name, created=now, label=label,
            public_key=bytes_to_base64url(made.credential_public_key),
            handle=wish.handle, uses=made.sign_count,
        )
    )  # fmt: skip
    return passkey


def whose(
    connection: Connection, site: Site, credential: str, challenge: str, now: float
) -> Row[Any]:
    """Return the row of the passkey that signed a challenge; :class:`RefusedError` for no good one.

    Whether the challenge was ours, and new, the caller has to know.
    """
    try:
        said = json.loads(credential)
        name, handle = said["id"], said["response"].get("userHandle")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise RefusedError(NOT_GOOD) from None
    if not isinstance(name, str) or len(name) > MOST_CREDENTIAL or "\0" in name:
        raise RefusedError(NOT_GOOD)
    row = connection.execute(select(passkeys).where(passkeys.c.credential == name)).first()
    if row is None:
        raise RefusedError(NOT_GOOD)
    if row.revoked is not None:
        raise BadPasskeyError(row.person, row.id, "it is revoked")
    if handle != row.handle:
        raise BadPasskeyError(row.person, row.id, "it was given out as somebody else's")
    seen, why = _tried(
        lambda: webauthn.verify_authentication_response(
            credential=credential, expected_challenge=base64url_to_bytes(challenge),
            expected_rp_id=site.host, expected_origin=site.origin,
            credential_public_key=base64url_to_bytes(row.public_key),
            credential_current_sign_count=row.uses, require_user_verification=True,
        )
    )  # fmt: skip
    if seen is None:
        raise BadPasskeyError(row.person, row.id, why)
    connection.execute(
        passkeys.update()
        .where(passkeys.c.id == row.id)
        .values(uses=seen.new_sign_count, used=now)
    )  # fmt: skip
    return row


def revoke_passkeys(
    connection: Connection, person: str, now: float, passkey: str | None = None
) -> int:
    """Revoke a person's passkey, or all, and end the sessions they began; return how many."""
    good = [one.id for one in _good(connection, person) if passkey in (None, one.id)]
    connection.execute(passkeys.update().where(passkeys.c.id.in_(good)).values(revoked=now))
    connection.execute(
        tokens.update()
        .where(tokens.c.began_by.in_(good), tokens.c.revoked.is_(None))
        .values(revoked=now)
    )
    return len(good)


def _good(connection: Connection, person: str) -> list[Row[Any]]:
    query = select(passkeys).where(passkeys.c.person == person, passkeys.c.revoked.is_(None))
    return list(connection.execute(query))


def handle_of(connection: Connection, person: str) -> str:
    """Return what authenticators know a person by: random, the same for all of their passkeys."""
    kept = connection.execute(
        select(func.min(passkeys.c.handle)).where(passkeys.c.person == person)
    ).scalar_one()
    return str(kept) if kept else secrets.token_urlsafe(48)


def _tried(verify: Callable[[], Answer]) -> tuple[Answer | None, str]:
    """Return what the library made of hostile input; None, and why, for whatever it raises."""
    try:
        return verify(), ""
    except Exception as error:  # CBOR, ASN.1, JSON: each with errors of its own
        return None, " ".join(str(error).split())[:200] or type(error).__name__
