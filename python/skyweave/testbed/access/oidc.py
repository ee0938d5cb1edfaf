"""Who somebody is at an OpenID provider: authorization code with PKCE, state and nonce.

OpenID Connect Core 1.0, RFC 7636 (PKCE), RFC 9207 (whose answer it is). Signatures and claims are
checked by ``joserfc``. Nothing is kept but keys, for an hour.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

import httpx2
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import JWKRegistry, KeySet
from joserfc.jwt import ClaimsOption

from skyweave.errors import ConfigError
from skyweave.testbed.errors import RefusedError
from skyweave.testbed.store import UnavailableError

ALGORITHMS = ("RS256", "PS256", "ES256", "ES384", "EdDSA")
"""Of asymmetric keys alone: neither 'none', nor a MAC under a key that others could know."""
KEPT_S = 3600.0
"""How long the provider's description and keys are good."""
ANEW_S = 60.0
"""How soon its keys may be asked for again, when it signs with one that is not known."""
LEEWAY_S = 60
PATIENCE_S = 10.0
MOST_BYTES = 1_000_000
MOST_SUBJECT = 255
MOST_AT_ONCE = 4
"""Requests to the provider: a slow one takes no more of the orchestrator's threads."""
KEYS = {"RSA", "EC", "OKP"}


class Client(NamedTuple):
    """What the provider knows this orchestrator by."""

    issuer: str
    name: str
    secret: str | None
    back: str
    """The address of the page that the provider leads back to."""


class Pending(NamedTuple):
    """What a browser was sent away with; the nonce and the verifier never leave this process."""

    browser: str
    nonce: str
    verifier: str
    to: str


class Described(NamedTuple):
    """What a provider says of itself."""

    authorize: str
    token: str
    keys: str
    names_itself: bool
    takes_basic: bool


def read_client(issuer: str, name: str | None, secret: Path | None, url: str) -> Client:
    """Return the settings of the command line; :class:`ConfigError` for what cannot be."""
    if name is None:
        raise ConfigError("--oidc-issuer: give --oidc-client, too: the name that it knows us by")
    if not _is_safe(issuer):
        raise ConfigError(f"--oidc-issuer {issuer[:100]}: is no address that begins with https://")
    found = None
    if secret is not None:
        try:
            found = secret.read_text(encoding="utf-8")[:1000].strip()
        except (OSError, ValueError) as error:
            raise ConfigError(f"--oidc-secret {secret}: cannot be read ({error})") from None
        if not found:
            raise ConfigError(f"--oidc-secret {secret}: is empty; put the secret into it")
    return Client(issuer, name, found, f"{url}/pages/sign-in/oidc/back")


def _is_safe(url: str) -> bool:
    """Tell whether a URL is one of TLS, or of this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    near = parts.scheme == "http" and host in ("localhost", "127.0.0.1", "::1")
    return bool(host) and (parts.scheme == "https" or near) and not parts.fragment


class Provider:
    """An OpenID provider, as its client."""

    def __init__(self, client: Client, now: Callable[[], float]) -> None:
        self.client, self._now = client, now
        self._described: tuple[Described, float] | None = None
        self._keys: tuple[KeySet, float] | None = None
        self._lock = threading.Lock()
        self._busy = threading.BoundedSemaphore(MOST_AT_ONCE)

    @property
    def host(self) -> str:
        """Whose it is, for people."""
        return urlsplit(self.client.issuer).netloc

    def begin(self, browser: str, to: str) -> Pending:
        """Return what to keep while somebody is away."""
        return Pending(browser, secrets.token_urlsafe(32), secrets.token_urlsafe(48), to)

    def address(self, pending: Pending, state: str) -> str:
        """Return where the browser goes."""
        said = self._description()
        digest = hashlib.sha256(pending.verifier.encode()).digest()
        asked = {
            "response_type": "code", "client_id": self.client.name, "scope": "openid",
            "redirect_uri": self.client.back, "state": state, "nonce": pending.nonce,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }  # fmt: skip
        return f"{said.authorize}{'&' if '?' in said.authorize else '?'}{urlencode(asked)}"

    def subject(self, pending: Pending, code: str, issuer: str | None) -> str:
        """Return who came back with ``code``; :class:`RefusedError` unless all of it fits.

        ``issuer`` is what the answer says it is from (RFC 9207).
        """
        said = self._description()
        if issuer != self.client.issuer and (said.names_itself or issuer is not None):
            raise RefusedError("that answer is from another provider; begin again")
        asked = {
            "grant_type": "authorization_code", "code": code, "redirect_uri": self.client.back,
            "code_verifier": pending.verifier,
        }  # fmt: skip
        headers = {}
        name, secret = self.client.name, self.client.secret
        if secret is not None and said.takes_basic:
            pair = f"{quote(name, safe='')}:{quote(secret, safe='')}"  # RFC 6749, section 2.3.1
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        else:
            asked |= {"client_id": name} | ({"client_secret": secret} if secret else {})
        status, answer = self._ask("POST", said.token, asked, headers)
        if status != 200:
            raise RefusedError("the provider did not take that code; begin again")
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise RefusedError("the provider did not say who that is; begin again")
        return self._checked(token, pending.nonce)

    def _checked(self, token: str, nonce: str) -> str:
        """Return the subject of an ID token (OpenID Connect Core, section 3.1.3.7)."""
        claims = self._signed(token)
        client: ClaimsOption = {"essential": True, "value": self.client.name}
        issuer: ClaimsOption = {"essential": True, "value": self.client.issuer}
        there: ClaimsOption = {"essential": True}
        registry = jwt.JWTClaimsRegistry(
            now=int(self._now()), leeway=LEEWAY_S, iss=issuer, aud=client, sub=there, exp=there,
            iat=there,
        )  # fmt: skip
        try:
            registry.validate(claims)
        except JoseError as error:
            raise RefusedError(
                f"what the provider says is not for us, or not now ({error})"
            ) from None
        audience, party = claims["aud"], claims.get("azp")
        if party not in (None, self.client.name) or (
            isinstance(audience, list) and len(audience) > 1 and party is None
        ):
            raise RefusedError("what the provider says is for another one as well; begin again")
        said = claims.get("nonce")
        if not isinstance(said, str) or not hmac.compare_digest(said.encode(), nonce.encode()):
            raise RefusedError("what the provider says answers another request; begin again")
        subject: str = claims["sub"]
        if not 0 < len(subject) <= MOST_SUBJECT or "\0" in subject:
            raise RefusedError("the provider's name for that account is too long")
        return subject

    def _signed(self, token: str) -> dict[str, Any]:
        """Return the claims of a token that one of the provider's keys signed."""
        try:
            try:
                return jwt.decode(token, self._key_set(), algorithms=ALGORITHMS).claims
            except (JoseError, ValueError):
                if not self._forget_keys():
                    raise
                return jwt.decode(token, self._key_set(), algorithms=ALGORITHMS).claims
        except (JoseError, ValueError, TypeError, KeyError, RecursionError):
            raise RefusedError("the provider's signature is not good; begin again") from None

    def _key_set(self) -> KeySet:
        with self._lock:
            kept = self._keys
        if kept and self._now() < kept[1] + KEPT_S:
            return kept[0]
        status, answer = self._ask("GET", self._description().keys)
        listed = answer.get("keys") if status == 200 else None
        if not isinstance(listed, list):
            raise UnavailableError("the provider shows no keys; try again")
        keys = []
        for one in listed[:100]:
            if isinstance(one, dict) and one.get("kty") in KEYS and one.get("use") in (None, "sig"):
                try:
                    keys.append(JWKRegistry.import_key(one))
                except (JoseError, ValueError, TypeError, KeyError):
                    continue  # one of a kind that is not known here signs nothing for us
        found = KeySet(keys)
        with self._lock:
            self._keys = found, self._now()
        return found

    def _forget_keys(self) -> bool:
        """Let the keys be asked for again, if they are not from just now."""
        with self._lock:
            if self._keys and self._now() < self._keys[1] + ANEW_S:
                return False
            self._keys = None
        return True

    def _description(self) -> Described:
        with self._lock:
            kept = self._described
        if kept and self._now() < kept[1] + KEPT_S:
            return kept[0]
        where = f"{self.client.issuer.rstrip('/')}/.well-known/openid-configuration"
        status, said = self._ask("GET", where)
        if status != 200 or said.get("issuer") != self.client.issuer:
            raise UnavailableError(f"{self.host} does not describe itself as {self.client.issuer}")
        places = [said.get(f"{one}") for one in
                  ("authorization_endpoint", "token_endpoint", "jwks_uri")]  # fmt: skip
        if not all(isinstance(one, str) and _is_safe(one) for one in places):
            raise UnavailableError(f"{self.host} does not say where to ask; its TLS addresses lack")
        ways = said.get("token_endpoint_auth_methods_supported")
        basic = not isinstance(ways, list) or "client_secret_basic" in ways
        named = said.get("authorization_response_iss_parameter_supported") is True
        found = Described(str(places[0]), str(places[1]), str(places[2]), named, basic)
        with self._lock:
            self._described = found, self._now()
        return found

    def _ask(
        self, method: str, url: str, form: dict[str, str] | None = None,
        headers: dict[str, str] | None = None,
    ) -> tuple[int, dict[str, Any]]:  # fmt: skip
        """Return the status and the JSON object of an answer; redirects are not followed."""
        away = UnavailableError(f"{self.host} does not answer; try again, or sign in with a token")
        if not self._busy.acquire(timeout=PATIENCE_S):
            raise away
        try:
            with (
                httpx2.Client(timeout=PATIENCE_S) as client,
                client.stream(method, url, data=form, headers=headers) as answer,
            ):
                body = bytearray()
                for piece in answer.iter_bytes():
                    body += piece
                    if len(body) > MOST_BYTES:
                        raise away
                status = answer.status_code
            found = json.loads(body) if body else {}
        except (httpx2.HTTPError, ValueError, RecursionError):
            raise away from None
        finally:
            self._busy.release()
        return status, found if isinstance(found, dict) else {}
