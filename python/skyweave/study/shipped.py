"""Studies that come with Skyweave, by their names: ``alaska-hawaii``, ``video-leo/live``."""

from __future__ import annotations

from pathlib import Path

from skyweave.errors import ConfigError, unknown_name

_PACKAGE = Path(__file__).parents[1]


def folder() -> Path:
    """Return where they are: in the package, or in the checkout that the package is part of."""
    inside = _PACKAGE / "studies"
    return inside if inside.is_dir() else _PACKAGE.parents[1] / "studies"


def names() -> list[str]:
    """Return their names: that of the folder, behind a slash that of a file beside study.toml."""
    home = folder()
    found = []
    for file in sorted(home.glob("*/*.toml")):
        if file.name == "study.toml":
            found.append(file.parent.name)
        elif not file.name.startswith("published"):
            found.append(f"{file.parent.name}/{file.stem}")
    return found


def find(study: Path) -> Path:
    """Return the file of a study: itself, that in a folder, or the shipped one of that name.

    What is there under that path goes first. Raises :class:`ConfigError` for a bare name that
    neither is there nor shipped; another path that is not there is returned as it is.
    """
    if study.is_dir():
        return study / "study.toml"
    name = study.as_posix()
    if study.exists() or study.suffix or study.is_absolute():
        return study
    known = names()
    if name in known:
        home, _, stem = name.partition("/")
        return folder() / home / f"{stem or 'study'}.toml"
    raise ConfigError(f"no file, no folder: {unknown_name('study', name, known)}")
