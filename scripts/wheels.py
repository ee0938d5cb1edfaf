"""Wheels of this checkout and of other commits, for scripts that measure them."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYTHON = ROOT / ".venv/bin/python"
"""Has what the package depends on."""


def git(*words: str) -> str:
    """Return what git says; end the script with its complaint where it refuses."""
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stderr.strip(), file=sys.stderr)
        sys.exit(2)
    return done.stdout.strip()


def built(tree: Path, folder: Path) -> Path:
    """Return a wheel of a checkout, made by its own script."""
    subprocess.run([tree / "scripts/wheel", folder], check=True)
    return next(folder.glob("*.whl"))


def built_at(commit: str, folder: Path) -> Path:
    """Return a wheel of a commit, built in a worktree."""
    tree = ROOT / "target" / "before"
    git("worktree", "add", "--force", "--detach", str(tree), commit)
    try:
        (tree / ".venv").symlink_to(ROOT / ".venv")
        return built(tree, folder)
    finally:
        git("worktree", "remove", "--force", str(tree))


def unpack(wheel: Path, folder: Path) -> None:
    """Put the package of a wheel where PYTHONPATH can name it."""
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder)
