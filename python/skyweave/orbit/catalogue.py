"""Files that an orbit is made from: element sets and gateways."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from skyweave._skyweave import Constellation, shell_names
from skyweave.errors import ConfigError, DataError, suggest
from skyweave.model.parsing import MOST_SHOWN
from skyweave.model.textfile import Text, read_text
from skyweave.orbit.places import Place

BUILT_IN_EPOCH = datetime(2025, 1, 1, tzinfo=UTC)
"""When the elements of built-in constellations hold."""
_FORMATS = {".tle": "tle", ".txt": "tle", ".json": "json", ".csv": "csv"}
_GREEN = "558B2F"  # colour of a live gateway in the icons of the crowd-sourced map


def load_constellation(name: str, folders: Sequence[Path] = ()) -> Constellation:
    """Return a built-in constellation, or the one of a file below one of the folders.

    Raises :class:`ConfigError` for a name that is neither, :class:`DataError` for a bad file.
    """
    if name in shell_names():
        return Constellation.built_in(name, BUILT_IN_EPOCH.timestamp())
    kind = _FORMATS.get(Path(name.removesuffix(".gz")).suffix)
    if kind is None:
        raise ConfigError(
            f"no constellation is called '{name}'; {suggest(name, shell_names())} "
            f"(or give a file of elements: {', '.join(_FORMATS)}, each also .gz)"
        )
    file = find(name, folders)
    text = read_text(file)
    try:
        return Constellation.parse(text.body, str(file), kind)
    except ValueError as error:
        raise DataError(str(error)) from None


def find(name: str, folders: Sequence[Path]) -> Path:
    """Return the first file of that name: in the folders in order, then in the working folder."""
    places = [Path(folder) for folder in folders]
    for folder in (*places, Path()):
        try:
            if (folder / name).is_file():
                return folder / name
        except OSError as error:  # a name that is too long
            raise DataError(f"{name[:MOST_SHOWN]}: {error.strerror}; check the name") from None
    looked = ", ".join(str(place) for place in (*places, Path("the working folder")))
    raise DataError(
        f"{name[:MOST_SHOWN]}: no such file in {looked}; check the name, or give its folder"
    )


def load_gateways(name: str, folders: Sequence[Path] = ()) -> tuple[Place, ...]:
    """Return the places of a CSV file with the columns name, lat and lon.

    If it has a column ``style`` it comes from the crowd-sourced map of Starlink's gateways: only
    those that are live (green) count. Raises :class:`DataError` with file and line.
    """
    text = read_text(find(name, folders))
    rows = text.rows()
    _, names = next(rows, (1, []))
    missing = {"lat", "lon"} - set(names)
    if missing:
        raise text.bad(1, f"no column '{min(missing)}'", "name the columns name, lat and lon")
    places = [
        _place(text, line, row)
        for line, cells in rows
        for row in [dict(zip(names, cells, strict=False))]
        if _GREEN in (row.get("style") or _GREEN)
    ]
    if not places:
        raise text.bad(1, "there is no live gateway in it", "give at least one")
    return tuple(places)


def _place(text: Text, line: int, row: dict[str, str]) -> Place:
    try:
        return Place.model_validate(
            {"lat": row.get("lat"), "lon": row.get("lon"), "name": row.get("name") or ""}
        )
    except ValidationError as error:
        what = error.errors()[0]
        where, said = ".".join(map(str, what["loc"])), what["msg"]
        raise text.bad(line, f"{where}: {said}", "correct the coordinates in degrees") from None
