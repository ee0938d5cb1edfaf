"""Schedulers and ABR algorithms in Python that a study file names: ``"python:mine.py:Mine"``.

Everything here but :func:`load` only reads the file: planning, reports and readers of records know
the class and the hash of the source, and run none of it. In a run such an algorithm is a table::

    {"name": "FastestFirst", "python": "mine.py", "sha256": "3a7b…"}
"""

from __future__ import annotations

import ast
import hashlib
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

from skyweave.algorithms.catalogue import Choice, Kind, names
from skyweave.errors import ConfigError
from skyweave.model.files import read_regular

PREFIX = "python:"
MOST_BYTES = 1_000_000
"""A source file may be this long."""
KEYS = {"name", "python", "sha256"}
KINDS: tuple[Kind, ...] = ("scheduler", "abr")
"""What may be Python code."""
_LOADING = threading.Lock()


def is_own(choice: Choice) -> bool:
    """Tell whether a choice is Python code of the user's, as written or as resolved."""
    return "python" in choice if isinstance(choice, dict) else choice.startswith(PREFIX)


def parts(choice: Choice) -> tuple[str, str]:
    """Return file and class of a choice; raise :class:`ConfigError` if it does not name both."""
    if isinstance(choice, dict):
        if set(choice) != KEYS or not all(isinstance(value, str) for value in choice.values()):
            raise ConfigError(f"an algorithm in Python has {', '.join(sorted(KEYS))}: not {choice}")
        return str(choice["python"]), str(choice["name"])
    file, colon, name = choice.removeprefix(PREFIX).rpartition(":")
    if not colon or not file.endswith(".py") or not name.isidentifier():
        raise ConfigError(
            f"'{choice}' names no algorithm in Python; write \"python:FILE.py:CLASS\", "
            "the file relative to the study file"
        )
    return file, name


def resolved(choice: Choice, folder: Path) -> Choice:
    """Return a choice with the hash of its source, read below ``folder``.

    Raises :class:`ConfigError` for a file that cannot be read, that has no such class, or that is
    not the one whose hash the choice has, and for a class with the name of a known scheduler.
    """
    file, _ = parts(choice)
    return dict(_check(choice, folder, _read(folder, file)))


def load(choice: Choice, folder: Path) -> Any:
    """Import the file and return a new object of the class; **runs the user's code**.

    What is run is what was hashed, imported once for each content, whatever threads ask for it.
    Raises :class:`ConfigError` if the file has changed since it was planned.
    """
    file, name = parts(choice)
    source = _read(folder, file)
    _check(choice, folder, source)
    module_name = f"skyweave_own_{hashlib.sha256(source).hexdigest()}"
    with _LOADING:
        module = sys.modules.get(module_name)
        if module is None:
            module = ModuleType(module_name)
            module.__file__ = str(folder / file)
            sys.modules[module_name] = module
            try:
                exec(compile(source, module.__file__, "exec"), module.__dict__)
            except BaseException:
                del sys.modules[module_name]
                raise
    return getattr(module, name)()


def _check(choice: Choice, folder: Path, source: bytes) -> dict[str, str]:
    """Return the choice as :func:`resolved` does, from the source that was read."""
    file, name = parts(choice)
    found = {"name": name, "python": file, "sha256": hashlib.sha256(source).hexdigest()}
    if isinstance(choice, dict) and choice != found:
        raise ConfigError(f"{folder / file}: is not the file that the study was planned with")
    if any(name in names(kind) for kind in KINDS):
        raise ConfigError(f"{folder / file}: an algorithm is called '{name}' already; rename it")
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ConfigError(f"{folder / file}: is no Python: {error}") from None
    if not any(isinstance(one, ast.ClassDef) and one.name == name for one in tree.body):
        raise ConfigError(f"{folder / file}: has no class '{name}'")
    return found


def _read(folder: Path, file: str) -> bytes:
    path = folder / file
    if Path(file).is_absolute():
        raise ConfigError(f"{file}: is an absolute path; name it relative to the study file")
    try:
        return read_regular(path, MOST_BYTES)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:  # a name with a null character
        raise ConfigError(f"{str(path)!r}: is no name of a file: {error}") from None
