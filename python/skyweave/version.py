"""Which Skyweave this is."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
from pathlib import Path


def code_version() -> str:
    """Return the version of the package and a hash of its compiled engine.

    A rebuilt engine that differs in one byte gives new keys, so no record of an older engine
    can pass for one of the new.
    """
    try:
        version = importlib.metadata.version("skyweave")
    except importlib.metadata.PackageNotFoundError:
        version = "0"
    spec = importlib.util.find_spec("skyweave._skyweave")
    if spec is None:
        return version
    if spec.origin is None:
        return f"{version}+built-in"
    with Path(spec.origin).open("rb") as file:  # in pieces: it is larger than all else in memory
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return f"{version}+{digest[:8]}"
