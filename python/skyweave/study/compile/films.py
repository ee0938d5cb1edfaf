"""Films in files that a plan names: ``film = { file = "film.csv" }`` of a workload ``video``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skyweave.errors import ConfigError
from skyweave.model import config
from skyweave.model.files import read_regular
from skyweave.study.language.plan import Plan

MOST_BYTES = 256 * 2**20
"""A frame table beyond this is no table of a film of a day."""


def with_films(plan: Plan, folder: Path) -> Plan:
    """Return the plan with the frame tables that it names, so that a run needs no file.

    Raises :class:`ConfigError` for a file that cannot be read.
    """
    return plan.model_copy(
        update={
            "settings": _read(plan.settings, folder),
            "compare": tuple(_read(block, folder) for block in plan.compare),
        }
    )


def _read(settings: Any, folder: Path) -> Any:
    if settings.workload is None or not any(map(_is_file, settings.workload)):
        return settings
    workloads = tuple(
        one.model_copy(update={"film": _film(one, folder)}) if _is_file(one) else one
        for one in settings.workload
    )
    return settings.model_copy(update={"workload": workloads})


def _is_file(workload: str | config.Workload) -> bool:
    film = getattr(workload, "film", None)
    return isinstance(film, dict) and "file" in film


def _film(workload: config.Workload, folder: Path) -> dict[str, str]:
    film: dict[str, Any] = getattr(workload, "film")  # noqa: B009 (a field of this kind alone)
    name = film["file"]
    if not isinstance(name, str) or set(film) != {"file"}:
        raise ConfigError('film = { file = "..." } takes the name of a frame table alone')
    return frame_table(folder / name)


def frame_table(file: Path) -> dict[str, str]:
    """Return the frame table of a file as a workload has it.

    Raises :class:`ConfigError` for a file that cannot be read.
    """
    try:
        text = read_regular(file, MOST_BYTES).decode("ascii")
    except OSError as error:
        raise ConfigError(
            f"film {file}: cannot be read ({error.strerror}); make it with 'skyweave video file'"
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"film {file}: is no frame table; make one with 'skyweave video file'"
        ) from error
    return {"name": file.stem, "csv": text}
