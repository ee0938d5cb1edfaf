"""An authenticator without a device: it makes and signs what WebAuthn says, or what it must not."""

from __future__ import annotations

import hashlib
import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40


def plain(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()


def read(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Authenticator:
    """One passkey. ``origin`` and ``host`` are what its browser would say."""

    def __init__(self, origin: str = "https://testserver", host: str = "testserver") -> None:
        self.origin, self.host = origin, host
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.id = secrets.token_bytes(32)
        self.handle, self.uses = "", 0

    def make(self, options: dict, **changed) -> str:
        """Answer ``navigator.credentials.create``."""
        self.handle = options["user"]["id"]
        numbers = self.key.public_key().public_numbers()
        public = cbor2.dumps(
            {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"),
             -3: numbers.y.to_bytes(32, "big")}
        )  # fmt: skip
        attested = bytes(16) + len(self.id).to_bytes(2, "big") + self.id + public
        data = self._data(changed, ATTESTED) + attested
        statement = {"fmt": "none", "attStmt": {}, "authData": data}
        return self._said(
            {"clientDataJSON": plain(self._client("webauthn.create", options, changed)),
             "attestationObject": plain(cbor2.dumps(statement))}
        )  # fmt: skip

    def sign(self, options: dict, **changed) -> str:
        """Answer ``navigator.credentials.get``."""
        self.uses += 1
        client, data = self._client("webauthn.get", options, changed), self._data(changed)
        key = changed.get("key", self.key)
        signed = key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        return self._said(
            {"clientDataJSON": plain(client), "authenticatorData": plain(data),
             "signature": plain(signed), "userHandle": changed.get("handle", self.handle)}
        )  # fmt: skip

    def _data(self, changed: dict, more: int = 0) -> bytes:
        host = hashlib.sha256(changed.get("host", self.host).encode()).digest()
        flags = changed.get("flags", PRESENT | VERIFIED) | more
        return host + bytes([flags]) + changed.get("uses", self.uses).to_bytes(4, "big")

    def _client(self, kind: str, options: dict, changed: dict) -> bytes:
        return json.dumps(
            {"type": changed.get("type", kind), "origin": changed.get("origin", self.origin),
             "challenge": changed.get("challenge", options["challenge"])}
        ).encode()  # fmt: skip

    def _said(self, response: dict) -> str:
        return json.dumps(
            {"id": plain(self.id), "rawId": plain(self.id), "type": "public-key",
             "response": response}
        )  # fmt: skip
