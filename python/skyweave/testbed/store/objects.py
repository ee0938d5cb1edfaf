"""Files that are written once: in a folder, or in a store that obstore knows (S3, GCS, Azure)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import LocalStore, ObjectStore, from_url

from skyweave.errors import ConfigError
from skyweave.testbed.errors import ConflictError, MissingError
from skyweave.testbed.store.database import UnavailableError

if TYPE_CHECKING:
    from obstore import GetOptions, GetResult
    from obstore.store import ClientConfig, RetryConfig

RETRY: RetryConfig = {"max_retries": 4, "retry_timeout": timedelta(seconds=15)}
"""A store that is away for longer is said to be away: whoever asked comes again by themselves."""
PATIENCE: ClientConfig = {
    "connect_timeout": timedelta(seconds=5), "read_timeout": timedelta(seconds=30),
    "timeout": timedelta(hours=1),
}  # fmt: skip
WHOLE_BYTES = 64 * 2**20
"""Up to this a file is written in one request, which the store refuses if there is one; larger
ones are asked for first and sent in parts."""


class Objects:
    """A store of files by path; none of them ever changes."""

    def __init__(self, place: str | Path) -> None:
        """Open a folder, made if need be, or a URL such as ``s3://bucket/prefix``."""
        try:
            if isinstance(place, Path) or "://" not in place:
                Path(place).mkdir(parents=True, exist_ok=True)
                self._store: ObjectStore = LocalStore(Path(place))
            else:
                self._store = from_url(place, client_options=_client(), retry_config=RETRY)
        except (BaseError, OSError, ValueError) as error:
            raise ConfigError(f"--artefacts: {place} cannot be used ({_short(error)})") from None

    def put(self, path: str, file: Path) -> None:
        """Keep a file; :class:`ConflictError` if there is one of that path already."""
        try:
            if file.stat().st_size <= WHOLE_BYTES:
                obstore.put(self._store, path, file.read_bytes(), mode="create")
                return
            if self.size(path) is not None:
                raise ConflictError(f"{path} is there already, and is never overwritten")
            obstore.put(self._store, path, file)
        except AlreadyExistsError:
            raise ConflictError(f"{path} is there already, and is never overwritten") from None
        except (BaseError, OSError) as error:
            raise UnavailableError(f"{path}: cannot be kept ({_short(error)}); try again") from None

    def size(self, path: str) -> int | None:
        """Return how many bytes a file has; None if there is none."""
        try:
            return int(obstore.head(self._store, path)["size"])
        except FileNotFoundError:
            return None
        except BaseError as error:
            raise UnavailableError(f"{path}: cannot be looked at ({_short(error)})") from None

    def read(
        self, path: str, begin: int = 0, end: int | None = None, chunk: int = 2**20
    ) -> Iterator[bytes]:
        """Yield a file, or what is of it from ``begin`` to before ``end``, in pieces.

        Raises :class:`MissingError` at once if there is none, and :class:`UnavailableError`, then
        or later, when the store does not answer.
        """
        options: GetOptions = {}
        if end is not None:
            options = {"range": (begin, end)}
        elif begin:
            options = {"range": {"offset": begin}}
        try:
            found = obstore.get(self._store, path, options=options)
        except FileNotFoundError:
            raise MissingError(f"{path} is not in the store") from None
        except BaseError as error:
            raise UnavailableError(f"{path}: cannot be read ({_short(error)})") from None
        return self._pieces(path, found, chunk)

    def _pieces(self, path: str, found: GetResult, chunk: int) -> Iterator[bytes]:
        try:
            for piece in found.stream(min_chunk_size=chunk):
                yield bytes(piece)
        except (BaseError, OSError) as error:
            raise UnavailableError(f"{path}: broke off ({_short(error)}); try again") from None

    def paths(self) -> Iterator[str]:
        """Yield the paths of all files."""
        try:
            for batch in obstore.list(self._store):
                for one in batch:
                    yield one["path"]
        except (BaseError, OSError) as error:
            raise UnavailableError(f"the store does not answer ({_short(error)})") from None


def _client() -> ClientConfig:
    """Return how the store is asked: these options take the place of all of the environment's."""
    said = [os.environ.get(f"{one}_ALLOW_HTTP", "") for one in ("AWS", "AZURE", "GOOGLE")]
    if any(one.lower() in ("1", "true", "yes") for one in said):
        return {**PATIENCE, "allow_http": True}
    return PATIENCE


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:160] or type(error).__name__
