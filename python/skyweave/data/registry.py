"""Public data sets: where each comes from, under which licence, and how to get it.

A set is taken from a local folder (``--data`` or the environment variable ``SKYWEAVE_DATA``, which
holds one folder per set) or fetched from its repository at the pinned commit, every file checked
against its sha256. Nothing is fetched that was not asked for.
"""

from __future__ import annotations

import hashlib
import logging
import os
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import pooch  # type: ignore[import-untyped]
import requests
from pydantic import BaseModel, ConfigDict, Field

from skyweave.data.importers import load
from skyweave.data.importers.base import read_bytes, read_packed
from skyweave.errors import DataError, suggest
from skyweave.model.drive import Drive

ENVIRONMENT = "SKYWEAVE_DATA"
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
TIMEOUT_S = 30


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class File(_Model):
    """A file of the origin: its path there, sha256, and the name that it gets here."""

    path: str
    sha256: Sha256
    name: str = ""
    lfs: bool = False

    @property
    def local_name(self) -> str:
        """The name in the set's folder."""
        return self.name or Path(self.path).name


class Derived(_Model):
    """A local file that exists nowhere upstream, and how it came about."""

    name: str
    sha256: Sha256
    how: str


class DataSet(_Model):
    """One public set; ``repository`` is owner/name on GitHub."""

    name: str
    title: str
    repository: str
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
    licence: str
    citation: str
    note: str
    files: tuple[File, ...]
    derived: tuple[Derived, ...] = ()

    @property
    def origin(self) -> str:
        """The address of the repository at the pinned commit."""
        return f"https://github.com/{self.repository}/tree/{self.commit}"

    def url(self, file: File) -> str:
        """The address of a file's bytes; LFS objects come from GitHub's media server."""
        host = "media.githubusercontent.com/media" if file.lfs else "raw.githubusercontent.com"
        return f"https://{host}/{self.repository}/{self.commit}/{quote(file.path)}"


@cache
def data_sets() -> dict[str, DataSet]:
    """All known sets by name."""
    with (Path(__file__).parent / "registry.toml").open("rb") as file:
        sets: dict[str, dict[str, Any]] = tomllib.load(file)["sets"]
    return {name: DataSet(name=name, **fields) for name, fields in sets.items()}


def data_set(name: str) -> DataSet:
    """A set by name; :class:`DataError` with the nearest name if there is none."""
    if name not in data_sets():
        raise DataError(f"data set '{name}' is unknown; {suggest(name, data_sets())}")
    return data_sets()[name]


def local_folder(name: str, data: Path | None = None) -> Path | None:
    """The folder of a set below ``data`` or ``$SKYWEAVE_DATA``, if it is there."""
    root = data or (Path(os.environ[ENVIRONMENT]) if os.environ.get(ENVIRONMENT) else None)
    if root is None:
        return None
    if not root.is_dir():
        raise DataError(f"{root}: no such folder; correct --data or {ENVIRONMENT}")
    return next((place for place in (root / name, root) if _holds(place, data_set(name))), None)


def cache_folder(name: str) -> Path:
    """Where :func:`fetch` puts the files of a set."""
    known = data_set(name)
    return Path(pooch.os_cache("skyweave")) / name / known.commit[:12]


def find(name: str, data: Path | None = None) -> Path:
    """The folder of a set that is already on this machine; :class:`DataError` if it is not."""
    local = local_folder(name, data)
    if local is not None:
        return local
    cached = cache_folder(name)
    if all((cached / file.local_name).is_file() for file in data_set(name).files):
        return cached
    raise DataError(
        f"data set '{name}' is not on this machine; run 'skyweave data fetch {name}', "
        f"or name a folder that holds it with --data or {ENVIRONMENT}"
    )


def fetch(
    name: str,
    data: Path | None = None,
    progress: Callable[[File], Any] | None = None,
) -> Path:
    """The folder of a set, checked: the local one if there is one, else fetched from its origin.

    ``progress`` gives a pooch progress bar for a file. Raises :class:`DataError` without network
    (one sentence), on a wrong sha256 and if the cache cannot be written.
    """
    known = data_set(name)
    local = local_folder(name, data)
    if local is not None:
        check(known, local)
        return local
    folder = cache_folder(name)
    for file in known.files:
        _retrieve(known, file, folder, progress(file) if progress else None)
    return folder


def check(known: DataSet, folder: Path) -> list[str]:
    """Names of the files in ``folder`` that match the registry (plain, or as .gz of it).

    Raises :class:`DataError` for a file that bears a registered name but has other content.
    """
    wanted = {file.local_name: file.sha256 for file in known.files}
    good = []
    for name, digest in wanted.items():
        found = next((p for p in (folder / name, folder / f"{name}.gz") if p.is_file()), None)
        if found is None:
            continue
        _compare(
            found,
            read_bytes(found)
            if found.suffix == ".gz" and not name.endswith(".gz")
            else read_packed(found),
            digest,
        )
        good.append(found.name)
    for made in known.derived:
        if (folder / made.name).is_file():
            _compare(folder / made.name, read_packed(folder / made.name), made.sha256)
            good.append(made.name)
    return good


def load_set(name: str, data: Path | None = None) -> list[Drive]:
    """The drives of a set that is on this machine; see :func:`find`."""
    return load(find(name, data))


def _holds(folder: Path, known: DataSet) -> bool:
    """Whether a folder has at least one file of the set (a .gz of it counts)."""
    names = [file.local_name for file in known.files] + [made.name for made in known.derived]
    return any((folder / n).is_file() or (folder / f"{n}.gz").is_file() for n in names)


def _compare(path: Path, content: bytes, wanted: str) -> None:
    digest = hashlib.sha256(content).hexdigest()
    if digest != wanted:
        raise DataError(
            f"{path}: sha256 {digest[:12]}… is not the registered {wanted[:12]}…; "
            "replace it by the original, or give it another name"
        )


def _retrieve(known: DataSet, file: File, folder: Path, bar: Any) -> None:
    logging.getLogger("pooch").setLevel(logging.WARNING)
    pooch.get_logger().setLevel(logging.WARNING)
    downloader = pooch.HTTPDownloader(progressbar=bar or False, timeout=TIMEOUT_S)
    try:
        pooch.retrieve(
            known.url(file),
            known_hash=f"sha256:{file.sha256}",
            fname=file.local_name,
            path=folder,
            downloader=downloader,
        )
    except requests.HTTPError as error:
        status = error.response.status_code if error.response is not None else "an error"
        raise DataError(f"{known.url(file)}: the server answered {status}; try later") from None
    except requests.RequestException:
        raise DataError(
            f"{known.name}: github.com cannot be reached from here; go online, or name a folder "
            f"that holds the set with --data or {ENVIRONMENT}"
        ) from None
    except ValueError:
        raise DataError(
            f"{known.url(file)}: its sha256 is not {file.sha256[:12]}…; "
            "the origin or the connection changed it: do not use it"
        ) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataError(f"{folder}: cannot be written ({reason}); make room or rights") from None
