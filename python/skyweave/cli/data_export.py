"""``skyweave data export``: drives in the formats of other programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from skyweave.data.writers import new_folder, safe_names, write_bytes, write_drives, write_mahimahi
from skyweave.errors import DataError
from skyweave.model.drive import Drive

Target = Literal["csv", "mahimahi", "parquet", "netem", "leoreplayer", "hypatia", "starrynet"]


def export_drives(drives: Sequence[Drive], to: Target, out: Path) -> list[Path]:
    """Write drives into a new folder, all of them or none, and return the files.

    ``csv``: plain CSV; ``parquet``: the table of :meth:`Drive.to_frame`; ``mahimahi``: for each
    drive a folder with ``<path>.down`` and ``<path>.up``; the others:
    :func:`skyweave.testbed.profiles.export_profile`, a folder for each drive.

    Raises :class:`DataError` if the folder exists
    and is not empty, or a drive has nothing that the format holds.
    """
    if to == "csv":
        return write_drives(out, drives)
    if to != "mahimahi" and to != "parquet":
        from skyweave.testbed.profiles import export_profile

        with new_folder(out) as draft:
            named = zip(safe_names(one.name for one in drives), drives, strict=True)
            files = [f for name, one in named for f in export_profile(one, to, draft / name)]
        return [out / file.relative_to(draft) for file in files]
    write = _mahimahi if to == "mahimahi" else _parquet
    with new_folder(out) as draft:
        written = [
            file
            for name, drive in zip(safe_names(one.name for one in drives), drives, strict=True)
            for file in write(draft, name, drive)
        ]
    return [out / file.relative_to(draft) for file in written]


def _parquet(folder: Path, name: str, drive: Drive) -> list[Path]:
    import io

    buffer = io.BytesIO()
    facts = {"name": drive.name, "origin": drive.origin}
    if drive.start is not None:
        facts["start"] = drive.start.isoformat()
    drive.to_frame().write_parquet(buffer, metadata=facts)
    write_bytes(folder / f"{name}.parquet", buffer.getvalue())
    return [folder / f"{name}.parquet"]


def _mahimahi(folder: Path, name: str, drive: Drive) -> list[Path]:
    files = []
    paths = safe_names(drive.paths)
    for path, trace in zip(paths, drive.paths.values(), strict=True):
        for rates, ending in ((trace.downlink_mbps, "down"), (trace.uplink_mbps, "up")):
            if rates is not None and (rates.values > 0).any():
                files.append(folder / name / f"{path}.{ending}")
                write_mahimahi(files[-1], rates)
    if not files:
        raise DataError(f"drive '{drive.name}' has no capacity; mahimahi holds nothing else")
    return files
