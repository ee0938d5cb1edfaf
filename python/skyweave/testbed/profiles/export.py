"""A drive in the format of another emulator, whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from skyweave.data.writers import new_folder, safe_names
from skyweave.errors import DataError
from skyweave.model.drive import Drive, PathTrace
from skyweave.testbed.profiles.hypatia import write_hypatia
from skyweave.testbed.profiles.leoreplayer import write_leoreplayer
from skyweave.testbed.profiles.netem import write_netem
from skyweave.testbed.profiles.starrynet import write_starrynet
from skyweave.testbed.profiles.timeline import timeline

Format = Literal["netem", "leoreplayer", "hypatia", "starrynet"]
FORMATS: tuple[Format, ...] = get_args(Format)


def export_profile(drive: Drive, to: Format, out: Path) -> list[Path]:
    """Write each path of a drive into a folder of its own below a new folder; return the files.

    Raises :class:`DataError` if the folder exists and is not empty, or the format needs what was
    not measured.
    """
    names = safe_names(drive.paths)
    if not names:
        raise DataError(f"drive '{drive.name}' has no paths; there is nothing to write")
    with new_folder(out) as draft:
        written = [
            file
            for name, trace in zip(names, drive.paths.values(), strict=True)
            for file in _one(draft / name, f"{drive.name} {name}", name, trace, to)
        ]
    return [out / file.relative_to(draft) for file in written]


def _one(folder: Path, title: str, name: str, trace: PathTrace, to: Format) -> list[Path]:
    if to == "leoreplayer":
        return write_leoreplayer(folder, name, trace)
    moments = timeline(trace)
    if to == "netem":
        return write_netem(folder, title, moments)
    return write_hypatia(folder, moments) if to == "hypatia" else write_starrynet(
        folder, name, moments
    )  # fmt: skip
