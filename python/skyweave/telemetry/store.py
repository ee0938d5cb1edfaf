"""Rows of each hour in a Parquet file of their own, whole or not at all, within a quota.

The name of a file says what it holds and which hour: ``status-20260501T17.parquet``. The hour under
way is written anew every few minutes, so a crash loses no more than these. Files of other names are
never touched.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from skyweave.errors import DataError
from skyweave.model.files import MOST_BYTES, read_regular, sync_folder, write_durable

HOUR_S = 3600
FLUSH_S = 300.0
"""How often the hour under way is written."""
QUOTA_BYTES = 2 * 10**9
"""What a folder may hold unless told otherwise: two weeks and more of everything."""
LEAST_QUOTA_BYTES = 10**6
MOST_ROWS = 1_000_000
"""Rows in memory while nothing can be written; later ones are counted and lost."""
_NAME = re.compile(r"([a-z][a-z0-9-]{0,40})-(\d{8}T\d{2})\.parquet")
Row = dict[str, Any]


@dataclass
class _Hour:
    """Rows of one kind in one hour: those of the file, and those that are not in it yet."""

    kept: pl.DataFrame
    written_s: float
    rows: list[Row] = field(default_factory=list)


class Store:
    """A folder of hours; not for two writers at a time."""

    def __init__(self, folder: Path, quota_bytes: int = QUOTA_BYTES) -> None:
        """Raises :class:`DataError` if the folder cannot be made, or the quota is too small."""
        if quota_bytes < LEAST_QUOTA_BYTES:
            raise DataError(f"a quota of {quota_bytes:,} bytes holds nothing; give 1 MB or more")
        self.folder = folder
        self.quota_bytes = quota_bytes
        self.lost_rows = 0
        """Rows beyond :data:`MOST_ROWS` that could not be written."""
        self._open: dict[tuple[str, int], _Hour] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for draft in folder.glob(".*.parquet.draft-*"):
                draft.unlink(missing_ok=True)
        except OSError as error:
            raise DataError(
                f"{folder}: cannot be made ({error.strerror}); choose another --out"
            ) from None

    def add(self, kind: str, schema: dict[str, Any], rows: Sequence[Row]) -> None:
        """Keep rows by their ``time_unix_s``; what is due is written.

        Raises :class:`DataError` if that cannot be done; the rows stay for the next time.
        """
        held = sum(len(one.rows) for one in self._open.values())
        for row in rows[: MOST_ROWS - held]:
            time_s = float(row["time_unix_s"])
            hour = int(time_s // HOUR_S)
            if (kind, hour) not in self._open:
                self._open[kind, hour] = _Hour(self._read(kind, hour, schema), time_s)
            self._open[kind, hour].rows.append(row)
        self.lost_rows += max(0, len(rows) - (MOST_ROWS - held))
        if rows:
            newest_s = float(rows[-1]["time_unix_s"])
            if any(self._due(one, newest_s) for one in self._open.items() if one[0][0] == kind):
                self.flush(kind)

    def _due(self, one: tuple[tuple[str, int], _Hour], newest_s: float) -> bool:
        (_, hour), there = one
        return hour < newest_s // HOUR_S or abs(newest_s - there.written_s) >= FLUSH_S

    def flush(self, kind: str | None = None) -> None:
        """Write what is in memory, of one kind or of all; see :meth:`add`."""
        for name, hour in sorted(self._open):
            there = self._open[name, hour]
            if kind not in (None, name):
                continue
            if not there.rows:
                self._close(name, hour)
                continue
            fresh = pl.DataFrame(there.rows, schema=there.kept.schema, strict=False)
            there.written_s = float(there.rows[-1]["time_unix_s"])
            whole = pl.concat([there.kept, fresh])
            self._write(self._file(name, hour), whole)
            there.kept, there.rows = whole, []
            self._close(name, hour)
        self._keep_quota()

    def _close(self, kind: str, hour: int) -> None:
        """Forget an hour that is written, if a later one has begun."""
        if hour < max(other for same, other in self._open if same == kind):
            del self._open[kind, hour]

    def _file(self, kind: str, hour: int) -> Path:
        stamp = datetime.fromtimestamp(hour * HOUR_S, UTC)
        return self.folder / f"{kind}-{stamp:%Y%m%dT%H}.parquet"

    def _read(self, kind: str, hour: int, schema: dict[str, Any]) -> pl.DataFrame:
        """Return what an earlier recorder wrote of this hour; what is damaged is set aside."""
        file = self._file(kind, hour)
        empty = pl.DataFrame(schema=schema)
        if not file.exists():
            return empty
        try:
            return pl.concat([empty, _parquet(file)], how="diagonal_relaxed").select(*schema)
        except DataError:
            aside = file.with_suffix(f".damaged-{os.getpid()}")
            file.replace(aside)
            return empty

    def _write(self, file: Path, frame: pl.DataFrame) -> None:
        content = parquet_bytes(frame)
        draft = file.with_name(f".{file.name}.draft-{os.getpid()}")
        try:
            write_durable(draft, content)
            draft.replace(file)
            sync_folder(self.folder)
        except OSError as error:
            draft.unlink(missing_ok=True)
            raise DataError(
                f"{file}: cannot be written ({error.strerror}); make room, or choose another --out"
            ) from None

    def _keep_quota(self) -> None:
        """Remove the oldest hours of all kinds until the folder is within the quota.

        The hour under way stays, whatever it takes.
        """
        now = {self._file(kind, hour) for kind, hour in self._open}
        files = sorted(hours(self.folder), key=lambda one: (_hour(one), one.name))
        sizes = {file: file.stat().st_size for file in files}
        total = sum(sizes.values())
        for file in files:
            if total <= self.quota_bytes:
                return
            if file not in now:
                file.unlink(missing_ok=True)
                total -= sizes[file]


def hours(folder: Path, kind: str | None = None) -> list[Path]:
    """Return the files of a folder, of one kind or of all, by name."""
    found = []
    for file in folder.iterdir():
        name = _NAME.fullmatch(file.name)
        if name and file.is_file() and kind in (None, name[1]):
            found.append(file)
    return sorted(found)


def read(folder: Path, kind: str, schema: dict[str, Any]) -> pl.DataFrame:
    """Return all rows of a kind, in the order of time.

    Columns that a file lacks are null, columns that are not in the schema are left out. Raises
    :class:`DataError` for a folder without such files, and for a damaged one.
    """
    try:
        files = hours(folder, kind)
    except OSError as error:
        raise DataError(f"{folder}: cannot be read ({error.strerror}); name a folder") from None
    if not files:
        raise DataError(
            f"{folder}: holds no {kind} rows; name a folder of 'skyweave dish record' or "
            "'skyweave probe run'"
        )
    frames = [pl.DataFrame(schema=schema), *(_parquet(file) for file in files)]
    try:
        joined = pl.concat(frames, how="diagonal_relaxed")
        return joined.select(pl.col(name).cast(kind) for name, kind in schema.items()).sort(
            "time_unix_s", maintain_order=True
        )
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{folder}: {kind} files have other columns ({_short(error)})") from None


def parquet_bytes(frame: pl.DataFrame) -> bytes:
    """Return rows as a Parquet file."""
    content = io.BytesIO()
    frame.write_parquet(content, compression="zstd")
    return content.getvalue()


def _parquet(file: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(io.BytesIO(read_regular(file, MOST_BYTES)))
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(f"{file}: is no whole Parquet file ({_short(error)}); remove it") from None


def _short(error: Exception) -> str:
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__


def _hour(file: Path) -> str:
    found = _NAME.fullmatch(file.name)
    return found[2] if found else ""
