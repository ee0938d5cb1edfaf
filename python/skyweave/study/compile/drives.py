"""The drives of a plan: synthesised from presets, or loaded, renamed and cut into segments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from skyweave.data.window import window
from skyweave.errors import DataError
from skyweave.model import limits
from skyweave.model.drive import Drive, PathTrace, Series
from skyweave.model.parsing import shown
from skyweave.study.language.cells import cells_drive
from skyweave.study.language.described import described
from skyweave.study.language.orbits import OrbitDelay, missing_file
from skyweave.study.language.plan import DriveSource, Plan
from skyweave.synthesis.preset import Preset, load_preset

Synthesise = Callable[[str | Preset, int, float], Drive]
Load = Callable[[Path, str | None], list[Drive]]


_MOST_NOTES = 3
"""Seeds that begin at different moments have notes that differ in a number."""


@dataclass(frozen=True)
class DriveRun:
    """One drive under one seed, as a member of the group that the plan calls ``source``."""

    source: str
    drive: Drive
    seed: int
    uplinks_s: float | None = None
    """How long a run over networks of this machine lasts; their drive is empty, for nobody knows
    it. ``None``: the drive is one."""

    @property
    def duration_s(self) -> float:
        """Seconds that a run over it may last."""
        return self.drive.duration_s if self.uplinks_s is None else self.uplinks_s


@dataclass(frozen=True)
class Makers:
    """Where drives are made; tests put their own functions here."""

    synthesise: Synthesise
    load: Load


def default_makers() -> Makers:
    """Return the makers of ``skyweave.data``."""
    from skyweave.data import load
    from skyweave.synthesis import synthesise

    return Makers(synthesise=synthesise, load=load)


def gather(
    plan: Plan, data: Path | None, makers: Makers, folder: Path | None = None
) -> tuple[list[DriveRun], list[str]]:
    """Return all drives of the plan in its order, and a note on each source that is left out.

    Data files are looked for beside the study (``folder``), then below ``data``; without it the
    sources that need it are left out with a note. Orbital elements are looked for in both.
    Raises :class:`DataError` when the folder or a file is
    missing, or when nothing remains.
    """
    if data is not None and not data.is_dir():
        raise DataError(f"--data {data}: is not a folder; give the folder that holds the data sets")
    drives: list[DriveRun] = []
    notes: list[str] = []
    for source in plan.drives:
        if source.preset is not None:
            drives += _synthetic(source, makers.synthesise)
        elif source.radio is not None:
            drives += [
                DriveRun(source.name, _as_named(made, source), seed)
                for seed in source.seed_list
                for made in [cells_drive(source.name, source.radio, seed, source.duration_s or 0.0)]
            ]
        elif source.uplinks is not None:
            drives += _of_this_machine(source)
        elif source.links is not None:
            found, note = _described(source, [one for one in (folder, data) if one is not None])
            drives += found
            notes += note
        elif files := _matching([folder, data], source.data or ""):
            found, note = _measured(source, files, makers.load, tuple(plan.paths))
            drives += found
            notes += note
        elif data is None:
            notes.append(
                f"Drives '{source.name}' were left out: they need the files '{source.data}'; "
                "give their folder with --data."
            )
        else:
            raise DataError(
                f"{data}: holds nothing that matches '{source.data}' (drives '{source.name}'); "
                "check --data, or fetch the data set (skyweave data --help)"
            )
    if not drives:
        raise DataError("no drives: every source of the study needs files; give --data FOLDER")
    return drives, notes


def _synthetic(source: DriveSource, synthesise: Synthesise) -> list[DriveRun]:
    duration_s = source.duration_s or 0.0  # the plan checked that it is there
    preset: str | Preset = source.preset or ""
    if source.rtt_coupling is not None:
        preset = recoupled(load_preset(str(preset)), source.rtt_coupling)
    return [
        DriveRun(source.name, _as_named(synthesise(preset, seed, duration_s), source), seed)
        for seed in source.seed_list
    ]


def _of_this_machine(source: DriveSource) -> list[DriveRun]:
    """Return the drives of networks of this machine: a seed is one more time."""
    paths = {name: PathTrace() for name in source.uplinks or ()}
    drive = Drive(source.name, "networks of this machine", paths)
    return [DriveRun(source.name, drive, seed, source.duration_s) for seed in source.seed_list]


def _described(source: DriveSource, folders: list[Path]) -> tuple[list[DriveRun], list[str]]:
    """Make the drives of described links; without a file of orbital elements there are none."""
    links, duration_s = source.links or {}, source.duration_s or 0.0
    for path in links.values():
        if isinstance(path.rtt_ms, OrbitDelay) and (file := missing_file(path.rtt_ms, folders)):
            return [], [
                f"Drives '{source.name}' were left out: they need the orbital elements '{file}'; "
                "put that file beside the study, or give its folder with --data."
            ]
    drives: list[DriveRun] = []
    notes: dict[str, None] = {}
    for seed in source.seed_list:
        drive, said = described(source.name, links, seed, duration_s, folders)
        drives.append(DriveRun(source.name, drive, seed))
        notes |= dict.fromkeys(f"Drives '{source.name}': {note}" for note in said)
    return drives, list(notes)[:_MOST_NOTES]


def recoupled(preset: Preset, coupling: float) -> Preset:
    """Return a preset whose RTTs follow their downlinks by another correlation."""
    paths = {}
    for name, path in preset.paths.items():
        rtt_ms = path.rtt_ms.model_copy(update={"coupling": coupling})
        paths[name] = path.model_copy(update={"rtt_ms": rtt_ms})
    return preset.model_copy(update={"paths": paths})


def _measured(
    source: DriveSource, files: list[Path], load: Load, used: tuple[str, ...]
) -> tuple[list[DriveRun], list[str]]:
    """Load, rename, cut, filter and thin the drives of a data source."""
    drives = [_as_named(drive, source) for file in files for drive in load(file, source.format)]
    drives = _chosen([drive for drive in drives if set(source.require) <= set(drive.paths)], source)
    segments = [piece for drive in drives for piece in _cut(drive, source)]
    alive = [piece for piece in segments if _zero_share(piece, used) <= source.max_zero_share]
    notes = []
    if len(alive) < len(segments):
        notes.append(
            f"Drives '{source.name}': {len(segments) - len(alive)} of {len(segments)} segments "
            "were left out because a path is at zero for more than "
            f"{source.max_zero_share:.0%} of the time."
        )
    chosen = _spread(alive, source.max_segments)
    if not chosen:
        raise DataError(
            f"drives '{source.name}': no segment of '{source.data}' is left; "
            "shorten segment_s, raise max_zero_share or require fewer paths"
        )
    return [DriveRun(source.name, drive, s) for drive in chosen for s in source.seed_list], notes


def _chosen(drives: list[Drive], source: DriveSource) -> list[Drive]:
    """Return the drives whose names the study chooses; :class:`DataError` where one means none."""
    names = [drive.name for drive in drives]
    for key in ("only", "leave_out"):
        for pattern in getattr(source, key):
            if not any(fnmatchcase(name, pattern) for name in names):
                raise DataError(
                    f"drives '{source.name}': {key} has {shown(pattern)}, which means no drive; "
                    f"there are {', '.join(shown(name) for name in names[:20])}"
                )

    def is_meant(name: str) -> bool:
        left_out = any(fnmatchcase(name, pattern) for pattern in source.leave_out)
        only = not source.only or any(fnmatchcase(name, pattern) for pattern in source.only)
        return only and not left_out

    return [drive for drive in drives if is_meant(drive.name)]


def _matching(folders: Sequence[Path | None], pattern: str) -> list[Path]:
    """Return the files that a pattern means, sorted, below the first folder that has any.

    The first one is that of the study, which may lie above anything: ``**`` does not look there.
    """
    parts = Path(pattern).parts
    try:
        if Path(pattern).is_absolute() or ".." in parts:
            raise ValueError("it leads out of the folder")
        for number, folder in enumerate(folders):
            if folder is None or (number == 0 and "**" in parts):
                continue
            if files := sorted(folder.glob(pattern)):
                return files
    except (OSError, ValueError, NotImplementedError) as error:
        raise DataError(
            f"data = {shown(pattern)}: is no pattern of files below --data ({error}); correct it"
        ) from None
    return []


def _as_named(drive: Drive, source: DriveSource) -> Drive:
    """Return a drive with the study's names of its paths, its directions exchanged if wanted."""
    names = source.rename
    paths = {names.get(old, old): path for old, path in drive.paths.items()}
    if source.flip:
        paths = {
            name: replace(path, downlink_mbps=path.uplink_mbps, uplink_mbps=path.downlink_mbps)
            for name, path in paths.items()
        }
    if source.rate_scale != 1.0:
        paths = {name: _scaled(path, source.rate_scale) for name, path in paths.items()}
    return replace(drive, paths=paths)


def _scaled(path: PathTrace, factor: float) -> PathTrace:
    def scaled(series: Series | None) -> Series | None:
        return None if series is None else replace(series, values=series.values * factor)

    return replace(
        path, downlink_mbps=scaled(path.downlink_mbps), uplink_mbps=scaled(path.uplink_mbps)
    )


def _spread(drives: list[Drive], most: int | None) -> list[Drive]:
    """Return at most ``most`` of the drives, evenly spread over the list."""
    if most is None or len(drives) <= most:
        return drives
    return [drives[index * len(drives) // most] for index in range(most)]


def _cut(drive: Drive, source: DriveSource) -> list[Drive]:
    """Cut a drive into whole segments; the rest at its end is left out."""
    if source.segment_s is None:
        return [drive]
    segment_s, step_s = source.segment_s, source.step_s or source.segment_s
    count = max(int((drive.duration_s - segment_s) // step_s) + 1, 0)
    limits.checked(count, f"segments of {segment_s:g} s", limits.MOST_RUNS)
    return [
        replace(
            drive,
            name=f"{drive.name}#{number + 1}",
            start=drive.start and drive.start + timedelta(seconds=number * step_s),
            paths={
                name: window(path, number * step_s, number * step_s + segment_s)
                for name, path in drive.paths.items()
            },
        )
        for number in range(count)
    ]


def _zero_share(drive: Drive, used: tuple[str, ...]) -> float:
    """Return the largest share of downlink samples at zero (or not logged) of the used paths."""
    shares = [
        float(np.mean(np.nan_to_num(path.downlink_mbps.values) <= 0))
        for name, path in drive.paths.items()
        if name in used and path.downlink_mbps is not None
    ]
    return max(shares, default=0.0)
