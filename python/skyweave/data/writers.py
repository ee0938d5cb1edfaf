"""Writing traces in the formats that emulators and spreadsheets read; whole or not at all."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt

from skyweave import _skyweave
from skyweave.data.importers.plain_csv import QUANTITIES, TIME
from skyweave.data.metrics import on_grid
from skyweave.data.traces import DELAY_SPACING_MS, refused
from skyweave.errors import DataError
from skyweave.model.drive import Drive, Series, Values


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all; :class:`DataError` if the place cannot be written."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file beside its place and move it there; :class:`DataError` if that fails."""
    draft = path.with_name(f".{path.name}.draft-{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(content)
        draft.replace(path)
    except OSError as error:
        if draft.is_file():
            draft.unlink()
        reason = error.strerror or str(error)
        raise DataError(f"{path}: cannot be written ({reason}); choose another place") from None


def write_opportunities(path: Path, times_ms: npt.NDArray[np.int64]) -> None:
    """Write delivery opportunities in ms as a mahimahi trace; they must never fall."""
    rising = np.asarray(times_ms, dtype=np.uint64)
    write_text(path, refused(lambda: _skyweave.format_mahimahi(rising), str(path)))


def opportunities(capacity_mbps: Series) -> npt.NDArray[np.int64]:
    """The mahimahi opportunities of a capacity series: one each time 1,500 bytes are full.

    They carry the integral of the capacity to within a packet at any time; not logged counts as 0.
    A mahimahi trace loops at its last opportunity, so that one stands at the series' end.
    """
    mbps = np.nan_to_num(capacity_mbps.values)
    span_s = math.ceil(capacity_mbps.duration_s * 1e3 - 1e-6) / 1e3  # whole milliseconds
    times_ms = refused(
        lambda: _skyweave.rates_to_opportunities(capacity_mbps.times_s, mbps, span_s), "capacity"
    )
    return times_ms.astype(np.int64)


def write_mahimahi(path: Path, capacity_mbps: Series) -> None:
    """Write a capacity series (Mbit/s) as a mahimahi trace; see :func:`opportunities`."""
    write_opportunities(path, opportunities(capacity_mbps))


def write_time_value(path: Path, series: Series, value: str = "value") -> None:
    """Write one series as a two-column CSV ``time_s,<value>``; not logged is an empty cell."""
    pairs = zip(series.times_s.tolist(), series.values.tolist(), strict=True)
    rows = [f"{time!r},{'' if math.isnan(v) else repr(v)}" for time, v in pairs]
    write_text(path, "\n".join([f"{TIME},{value}", *rows]) + "\n")


def write_one_way_delay(path: Path, rtt_ms: Series) -> None:
    """Write half the round trip as LeoReplayer reads it: ms, one line per 10 ms.

    Sampled by holding; :class:`DataError` if a value was not logged, for the format cannot say so.
    """
    step_s = DELAY_SPACING_MS / 1e3
    count = max(1, round(rtt_ms.duration_s / step_s))
    values: Values = on_grid(rtt_ms, step_s, count) / 2
    if np.isnan(values).any():
        raise DataError(f"{path}: the round trip has unlogged stretches; fill or cut them first")
    times_s = np.arange(count, dtype=np.float64) * step_s
    text = _skyweave.format_one_way_delays(times_s, values, DELAY_SPACING_MS)
    write_text(path, text)


def write_drive(path: Path, drive: Drive) -> None:
    """Write a drive as a plain CSV that :func:`skyweave.data.load` reads back unchanged."""
    write_text(path, drive_text(drive))


def drive_text(drive: Drive) -> str:
    """The plain CSV of a drive; ``# sparse: true`` where its series have different times.

    A series in which nothing was ever logged is left out.
    """
    columns = {
        f"{path}.{quantity}": series
        for path, trace in drive.paths.items()
        for quantity in QUANTITIES
        if (series := getattr(trace, quantity)) is not None and not np.isnan(series.values).all()
    }
    if not columns:
        raise DataError(f"drive '{drive.name}' has no values; there is nothing to write")
    axes = [series.times_s for series in columns.values()]
    sparse = any(not np.array_equal(axes[0], axis) for axis in axes[1:])
    head = [f"# name: {_line(drive.name)}", f"# origin: {_line(drive.origin)}"]
    if drive.start is not None:
        head.append(f"# start: {drive.start.isoformat()}")
    if drive.synthetic:
        head.append("# synthetic: true")
    if sparse:
        head.append("# sparse: true")
    times_s = np.unique(np.concatenate(axes))
    cells = [_cells(series, times_s, sparse) for series in columns.values()]
    rows = [
        ",".join(row) for row in zip((_short(t) for t in times_s.tolist()), *cells, strict=True)
    ]
    return "\n".join([*head, ",".join([TIME, *columns]), *rows]) + "\n"


def write_drives(folder: Path, drives: Sequence[Drive]) -> list[Path]:
    """Write each drive as ``<name>.csv`` into a new folder, all of them or none.

    Raises :class:`DataError` if the folder exists and is not empty, or cannot be written.
    """
    names = [f"{name}.csv" for name in safe_names(drive.name for drive in drives)]
    with new_folder(folder) as draft:
        for name, drive in zip(names, drives, strict=True):
            write_drive(draft / name, drive)
    return [folder / name for name in names]


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Give a draft of a folder, which appears in its place when all is written, or not at all.

    Raises :class:`DataError` if the folder exists and is not empty, or cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(f"{folder}: exists and is not an empty folder; choose another --out")
    draft = folder.with_name(f".{folder.name}.draft-{os.getpid()}")
    try:
        draft.mkdir(parents=True)
        yield draft
        if folder.is_dir():
            folder.rmdir()
        draft.rename(folder)
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataError(f"{folder}: cannot be written ({reason}); choose another --out") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def safe_names(names: Iterable[str]) -> list[str]:
    """Names of files, all different, from any text."""
    seen: dict[str, int] = {}
    result = []
    for name in names:
        safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in name).strip(".") or "drive"
        seen[safe] = seen.get(safe, 0) + 1
        result.append(safe if seen[safe] == 1 else f"{safe}-{seen[safe]}")
    return result


def _cells(series: Series, times_s: Values, sparse: bool) -> list[str]:
    """The column of a series on the rows ``times_s``, which hold all its times."""
    cells = [""] * len(times_s)
    missing = "nan" if sparse else ""
    where = np.searchsorted(times_s, series.times_s)
    for row, value in zip(where.tolist(), series.values.tolist(), strict=True):
        cells[row] = missing if math.isnan(value) else _short(value)
    return cells


def _short(value: float) -> str:
    """The shortest text that reads back as the same number, without a trailing ``.0``."""
    return repr(value).removesuffix(".0")


def _line(text: str) -> str:
    return " ".join(text.split())
