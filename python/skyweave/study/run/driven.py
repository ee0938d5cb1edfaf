"""Runs over real networks leave drives beside their records: what they met can be met again."""

from __future__ import annotations

from skyweave.data.writers import drive_text
from skyweave.errors import ResultsError, SkyweaveError
from skyweave.field.beside import UPLINKS, drive
from skyweave.model.files import write_whole
from skyweave.model.record import Record
from skyweave.results.store import Store

FOLDER = "drives"


def keep_with_drive(store: Store, key: str, record: Record) -> None:
    """Keep a record, and write its drive into the folder ``drives`` from its table of uplinks."""
    store.keep(key, record)
    if UPLINKS not in record.application:
        return
    paths = list(record.provenance["uplinks"])
    name = _name(record, paths, key)
    origin = f"run {key} of study {record.provenance['study']} over {', '.join(paths)}"
    found = drive(record, name, origin)
    if found is None:
        return
    try:
        text = drive_text(found)
    except SkyweaveError:
        return  # nothing was carried: there is nothing to replay
    folder = store.out / FOLDER
    try:
        folder.mkdir(exist_ok=True)
        write_whole(folder / f"{name}.csv", text)
    except OSError as error:
        raise ResultsError(
            f"{folder}: cannot be written ({error.strerror}); make it writable and repeat"
        ) from error


def _name(record: Record, paths: list[str], key: str) -> str:
    """Return what a drive is called: its paths, what ran over them, which round it was."""
    (only, *_) = record.totals["connections"]
    words = ("+".join(paths), only["transport"], only["direction"], record.provenance["seed"])
    return "-".join(map(str, (*words, key[:6])))
