"""Algorithms in Python that a plan names, with the hashes of their sources."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skyweave.algorithms.catalogue import Choice
from skyweave.algorithms.own import KINDS, is_own, resolved
from skyweave.errors import ConfigError
from skyweave.study.language.plan import Plan


def with_own(plan: Plan, folder: Path) -> Plan:
    """Return the plan with the hash of each source file, which is read and not imported.

    Raises :class:`ConfigError` for a file or a class that is not there, and for two classes of one
    name: labels in reports are the names of the classes.
    """
    plan = plan.model_copy(
        update={
            "settings": _resolved(plan.settings, folder),
            "compare": tuple(_resolved(block, folder) for block in plan.compare),
        }
    )
    seen: dict[str, dict[str, Any]] = {}
    for one in own_algorithms(plan):
        if seen.setdefault(one["name"], one) != one:
            files = f"{seen[one['name']]['python']} and {one['python']}"
            raise ConfigError(f"{files} both have an algorithm '{one['name']}'; rename one")
    return plan


def own_algorithms(plan: Plan) -> list[dict[str, Any]]:
    """Return the algorithms in Python that a plan names, each once: name, file, hash."""
    found: list[dict[str, Any]] = []
    for settings in (plan.settings, *plan.compare):
        for choice in (*(settings.scheduler or ()), *(settings.abr or ())):
            if isinstance(choice, dict) and is_own(choice) and choice not in found:
                found.append(choice)
    return found


def _resolved(settings: Any, folder: Path) -> Any:
    update: dict[str, tuple[Choice, ...]] = {}
    for kind in KINDS:
        given: tuple[Choice, ...] = getattr(settings, kind) or ()
        if any(map(is_own, given)):
            update[kind] = tuple(resolved(one, folder) if is_own(one) else one for one in given)
    return settings.model_copy(update=update) if update else settings


def words(own: list[dict[str, Any]]) -> str:
    """Return the code of a study in a sentence, for its plan and for ``--dry-run``."""
    several = ", ".join(
        f"{one['python']}:{one['name']} (sha256 {one['sha256'][:12]})" for one in own
    )
    return f"The study runs Python code of its own: {several}."


def check_own(study: Path, plan: Plan, cluster: str | None, no_code: bool) -> list[str]:
    """Return what a plan says of its code; raise :class:`ConfigError` where that may not run."""
    own = own_algorithms(plan)
    if not own:
        return []
    first = f"{own[0]['python']}:{own[0]['name']}"
    if no_code:
        raise ConfigError(
            f"{study}: names Python code ({first}), and --no-code refuses to run any; "
            "leave the option out if you trust it, or take it out"
        )
    if cluster is not None:
        raise ConfigError(
            f"{study}: its algorithm {first} is Python code, which runs on this machine alone; "
            "leave out --cluster"
        )
    return [words(own)]
