"""Ed25519 keys of nodes and of the orchestrator: made, kept in a file, said in base64."""

from __future__ import annotations

import base64
import os
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from skyweave.testbed.errors import TestbedError


class PrivateKey:
    """A key that signs; its text never leaves its file."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key

    @classmethod
    def make(cls) -> PrivateKey:
        """Return a new key."""
        return cls(Ed25519PrivateKey.generate())

    @property
    def public(self) -> str:
        """The public key in base64."""
        return base64.b64encode(self._key.public_key().public_bytes_raw()).decode()

    def sign(self, message: bytes) -> str:
        """Return the signature in base64."""
        return base64.b64encode(self._key.sign(message)).decode()

    def save(self, file: Path) -> None:
        """Write a new file that its owner alone can read; never over another one."""
        pem = self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        try:
            handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(handle, "wb") as out:
                out.write(pem)
                out.flush()
                os.fsync(out.fileno())
        except OSError as error:
            raise TestbedError(
                f"{file}: a key cannot be written there ({error.strerror})"
            ) from None

    @classmethod
    def load(cls, file: Path) -> PrivateKey:
        """Read a key; :class:`TestbedError` if others can read it, too, or it is none."""
        try:
            if file.stat().st_mode & 0o077:
                raise TestbedError(
                    f"{file}: others can read this key; chmod 600, or make a new one"
                )
            key = load_pem_private_key(file.read_bytes()[:10_000], None)
        except OSError as error:
            raise TestbedError(f"{file}: cannot be read ({error.strerror})") from None
        except (ValueError, TypeError):
            raise TestbedError(f"{file}: holds no key; restore it from a backup") from None
        if not isinstance(key, Ed25519PrivateKey):
            raise TestbedError(f"{file}: is no Ed25519 key")
        return cls(key)


def is_signed(public: str, message: bytes, signature: str) -> bool:
    """Tell whether the holder of a public key signed a message; False for anything malformed."""
    try:
        key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public, validate=True))
        key.verify(base64.b64decode(signature, validate=True), message)
    except (InvalidSignature, ValueError):
        return False
    return True
