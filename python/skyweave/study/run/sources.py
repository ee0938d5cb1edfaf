"""Which Python files a program consists of: its own, and all that it imports, however far away.

Imports are read from the sources, not from the modules that happen to be loaded, so that imports
inside functions and processes started by name (``[python, "-m", "skyweave.…"]``) count as well.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[3]
"""The folder that holds the package."""


def sources(entries: Iterable[str], root: Path) -> dict[str, Path]:
    """Return the modules below ``root`` that ``entries`` and their imports are made of, by name."""
    found: dict[str, Path] = {}
    waiting = [part for entry in entries for part in _with_parents(entry)]
    while waiting:
        name = waiting.pop()
        file = _file(name, root)
        if file is None or name in found:
            continue
        found[name] = file
        tree = ast.parse(file.read_bytes())
        waiting += [part for used in _used(tree) for part in _with_parents(used)]
    return dict(sorted(found.items()))


def digest(entries: Iterable[str], root: Path) -> str:
    """Return a hash of the names and the contents of :func:`sources`."""
    found = hashlib.sha256()
    for name, file in sources(entries, root).items():
        found.update(name.encode() + b"\0" + file.read_bytes() + b"\0")
    return found.hexdigest()


def _file(name: str, root: Path) -> Path | None:
    """Return the file of a module below ``root``, if it has one in Python."""
    stem = root.joinpath(*name.split("."))
    files = (stem / "__init__.py", stem.with_suffix(".py"))
    return next((file for file in files if file.is_file()), None)


def _with_parents(name: str) -> list[str]:
    """Return a module and the packages it is in, which Python loads before it.

    >>> _with_parents("a.b.c")
    ['a', 'a.b', 'a.b.c']
    """
    parts = name.split(".")
    return [".".join(parts[: count + 1]) for count in range(len(parts))]


def _used(node: ast.AST) -> Iterator[str]:
    """Yield what a piece of code may import; names that are no modules among it do not matter."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.List):
        words = [_text(item) for item in node.elts]
        yield from (name for option, name in pairwise(words) if option == "-m")
    elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
        yield _text(node.args[0])
    for child in ast.iter_child_nodes(node):
        yield from _used(child)


def _text(node: ast.AST) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
