"""How large a study is, before anything of it is made: a short file can ask for very much."""

from __future__ import annotations

import math
from collections.abc import Iterable

from skyweave.errors import ConfigError, suggest
from skyweave.model import config
from skyweave.model.limits import MOST_VALUES
from skyweave.study.compile.drives import DriveRun
from skyweave.study.compile.product import how_many, merged
from skyweave.study.language.plan import SET_WORDS, Compare, Plan

PIECES = {"singles": 1, "pairs": 2, "triples": 3}


def check_runs(plan: Plan, most: int) -> None:
    """Raise :class:`ConfigError` if a plan may ask for more than ``most`` runs or drives.

    Counted are drives of one segment with all paths, and every transport with all settings.
    """
    seeds = {source.name: len(source.seed_list) for source in plan.drives}
    drives = sum(seeds.values())
    refuse(drives, most, "drives")
    runs = sum(
        sum(seeds[name] for name in block.drives or seeds)
        * _sets(block, len(plan.paths))
        * how_many(merged(plan.settings, block), plan.settings, block)
        for block in plan.compare
    )
    refuse(runs, most, "runs")


def check_paths(plan: Plan, drives: Iterable[DriveRun]) -> None:
    """Raise :class:`ConfigError` for a declared path that no drive has.

    Where a group of drives was left out, its paths may be those.
    """
    members = list(drives)
    if {member.source for member in members} != {source.name for source in plan.drives}:
        return
    known = {name for member in members for name in member.drive.paths}
    for name in plan.paths:
        if name not in known:
            raise ConfigError(
                f"[paths.{name}]: no drive has this path; correct or remove it, or give the drives "
                f'rename = {{ <theirs> = "{name}" }}: {suggest(name, known)}'
            )


def refuse(count: int, most: int, what: str) -> None:
    """Raise :class:`ConfigError` if there are more than ``most``."""
    if count > most:
        raise ConfigError(
            f"the study asks for up to {count:,} {what}, and {most:,} may be; "
            "lower seeds or shorten lists, or give a larger --max-runs"
        )


def check_run(run: config.Run, bin_s: float) -> None:
    """Raise :class:`ConfigError` for a run whose samples or bins would take all memory."""
    rows = sum(1 + len(one.paths) for one in run.connections)
    samples = run.stop_after_s * 1000 / run.sample_interval_ms * rows
    for count, setting in ((samples, "sample_interval_ms"), (run.stop_after_s / bin_s, "bin_s")):
        if count > MOST_VALUES:
            raise ConfigError(
                f"a run of {run.stop_after_s:g} s has {count:,.0f} values, and {MOST_VALUES:,} may "
                f"be; raise {setting}, or lower duration_s"
            )


def _sets(block: Compare, paths: int) -> int:
    """Return how many path sets the words of a block mean, at the most."""
    return sum(
        math.comb(paths, PIECES[word]) if word in SET_WORDS and word in PIECES else 1
        for word in block.paths
    )
