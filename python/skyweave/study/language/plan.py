"""A study file as a checked plan: which drives, which paths, which settings, which comparisons.

The language is described in ``docs/studies.md``. Nothing here touches data or runs anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from skyweave.errors import suggest
from skyweave.model.base import Ratio
from skyweave.model.config import Loss, Queue
from skyweave.model.parsing import read_toml
from skyweave.model.validated import (
    Count,
    Misplaced,
    Name,
    Positive,
    Span,
    StudyModel,
    complaint,
    validate,
)
from skyweave.results.pathset import PathSet
from skyweave.results.selection import SPANNING
from skyweave.study.language.cells import Cells
from skyweave.study.language.choices import listed
from skyweave.study.language.criteria import Published
from skyweave.study.language.described import DescribedPath
from skyweave.study.language.figures import FigureSpec, ReportSpec
from skyweave.study.language.flows import FlowGroup
from skyweave.study.language.handovers import Handovers
from skyweave.study.language.settings import About, Settings
from skyweave.synthesis.preset import preset_names

Seed = Annotated[int, Field(ge=0, lt=2**63)]
Correlation = Annotated[float, Field(ge=-1, le=1)]
SET_WORDS = ("singles", "pairs", "triples", "all")
"""Path sets by rule: each path alone, each two, each three, all together."""


class StudyInfo(StudyModel):
    """What the study is called and what it asks."""

    name: Name
    title: str
    question: str = "What would bonding give my users compared with each network alone?"
    about: str = ""


class DriveSource(StudyModel):
    """Where drives come from: a preset, described links, cells, networks, or files."""

    name: Name
    label: str = ""
    preset: str | None = None
    rtt_coupling: Correlation | None = None
    links: dict[Name, DescribedPath] | None = Field(default=None, min_length=1)
    radio: Cells | None = None
    uplinks: tuple[Name, ...] | None = Field(default=None, min_length=1, max_length=8)
    """Networks of this machine, for engine ``field``: names of paths, and of devices."""
    duration_s: Span | None = None
    data: str | None = None
    format: str | None = None
    segment_s: Span | None = None
    max_segments: Count | None = None
    max_zero_share: Ratio = 1.0
    require: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()
    step_s: Span | None = None
    rename: dict[str, str] = Field(default_factory=dict)
    flip: bool = False
    rate_scale: Positive = 1.0
    seeds: Count | tuple[Seed, ...] = 1
    first_seed: Seed = 1

    @property
    def seed_list(self) -> Sequence[int]:
        """The seeds in order."""
        if isinstance(self.seeds, int):
            return range(self.first_seed, self.first_seed + self.seeds)
        return self.seeds

    @model_validator(mode="after")
    def _check(self) -> Self:
        kinds = ("preset", "data", "links", "radio", "uplinks")
        given = [key for key in kinds if getattr(self, key) is not None]
        if len(given) != 1:
            raise complaint(
                given[-1] if given else "name",
                f"drives '{self.name}' need one of preset, data, links, radio and uplinks",
            )
        if self.data is None:
            self._check_made(given[0])
        elif self.duration_s is not None:
            raise complaint("duration_s", "duration_s belongs to a preset; data take segment_s")
        if self.step_s is not None and self.segment_s is None:
            raise complaint("step_s", "step_s says how far apart pieces begin; give segment_s, too")
        if self.preset is None and self.rtt_coupling is not None:
            raise complaint("rtt_coupling", "rtt_coupling belongs to a preset")
        if isinstance(self.seeds, int) and self.first_seed + self.seeds > 2**63:
            raise complaint("first_seed", "first_seed + seeds goes beyond 2^63; lower one of them")
        if isinstance(self.seeds, tuple) and not 0 < len(set(self.seeds)) == len(self.seeds):
            raise complaint("seeds", "seeds must be a number or a list of different numbers")
        return self

    def _check_made(self, kind: str) -> None:
        """Check drives that are made here, from a preset or from described links."""
        presets = preset_names()
        if self.preset is not None and self.preset not in presets:
            hint = suggest(self.preset, presets)
            raise complaint("preset", f"unknown preset '{self.preset}': {hint}")
        what = {
            "preset": "a preset needs", "links": "links need", "radio": "cells need",
            "uplinks": "uplinks need",
        }  # fmt: skip
        if self.duration_s is None:
            raise complaint(kind, f"{what[kind]} duration_s: how long each drive lasts")
        for key in (
            "format",
            "segment_s",
            "step_s",
            "max_segments",
            "require",
            "only",
            "leave_out",
        ):
            if getattr(self, key):
                raise complaint(key, f"{key} belongs to data; {kind} has no files")


class PathSpec(StudyModel):
    """What a trace of rates does not say about a path: its delay, queue, loss and standing."""

    label: str = ""
    kind: Literal["satellite", "cellular", "wired", "other"] = "other"
    rtt_ms: Positive | Literal["trace", "handovers"]
    handovers: Handovers | None = None
    queue: Literal["infinite"] | Queue | None = None
    loss: Literal["none", "trace"] | Ratio | Loss = "none"
    loses: Literal["both", "data"] = "both"
    """Which directions have that loss: both, or the tested one alone."""
    backup: bool = False
    forecast_file: str | None = None
    """What the sender knows ahead by ``forecast = "file"``; beside the study or below --data."""
    source: str = ""

    @model_validator(mode="after")
    def _handovers_say_it(self) -> Self:
        if self.rtt_ms == "handovers" and (self.handovers is None or self.handovers.rtt_ms is None):
            raise complaint(
                "rtt_ms",
                'rtt_ms = "handovers" needs handovers = { every_s = ..., rtt_ms = [low, high] }',
            )
        return self


class Compare(Settings):
    """One block of the matrix: these path sets under these settings on these drives."""

    paths: Annotated[
        tuple[str, ...],
        About(
            "run",
            'only in `[[compare]]`: `"singles"`, `"pairs"`, `"triples"`, `"all"`, or names such as '
            '`"SL"` and `"SL+VZ"` (joined in that order)',
            default=("singles", "pairs"),
        ),
    ] = ("singles", "pairs")
    drives: Annotated[
        tuple[str, ...] | None,
        About("run", "only in `[[compare]]`: names of groups", shown="all"),
    ] = None
    flows: Annotated[
        Annotated[tuple[FlowGroup, ...], Field(min_length=1)] | None,
        About(
            "run",
            "only in `[[compare]]`: connections that compete on the same links, see below",
            shown="one",
            expands=False,
        ),
    ] = None

    @field_validator("paths", "drives", mode="before")
    @classmethod
    def _names(cls, value: Any) -> Any:
        return [PathSet.of(item) if isinstance(item, list) else item for item in listed(value)]

    @model_validator(mode="after")
    def _contradictions(self) -> Self:
        if self.flows and self.congestion:
            raise complaint("congestion", "flows name their own congestion; remove one of them")
        several = [s for s in self.paths if PathSet(s).is_bonded or s in SET_WORDS[1:]]
        if self.transport and "tcp" in self.transport:
            if several:
                raise complaint(
                    "transport",
                    f"transport 'tcp' uses one path, but paths asks for '{several[0]}'; "
                    "take 'mptcp', or 'auto' (tcp alone, mptcp together)",
                )
            if self.transport == ("tcp",) and self.scheduler:
                raise complaint(
                    "scheduler",
                    "a scheduler chooses between paths, and transport 'tcp' has one; remove it",
                )
        return self


class Plan(StudyModel):
    """A whole study file."""

    study: StudyInfo
    drives: tuple[DriveSource, ...] = Field(min_length=1)
    paths: dict[Name, PathSpec] = Field(min_length=1)
    settings: Settings = Settings()
    compare: tuple[Compare, ...] = (Compare(),)
    report: ReportSpec = ReportSpec()
    figures: tuple[FigureSpec, ...] = ()

    @model_validator(mode="after")
    def _names_exist(self) -> Self:
        sources = [source.name for source in self.drives]
        twice = next((name for name in sources if sources.count(name) > 1), None)
        if twice is not None:
            raise complaint("drives", f"two drives are called '{twice}'; names must differ")
        for number, block in enumerate(self.compare):
            self._check_block(number, block, sources)
        for number, figure in enumerate(self.figures):
            every = figure.kind in SPANNING and figure.drives == "all"
            if figure.drives not in sources and not every:
                hint = suggest(figure.drives, sources)
                raise Misplaced(
                    f"unknown drives '{figure.drives}': {hint}", "figures", number, "drives"
                )
        return self

    def _check_block(self, number: int, block: Compare, sources: list[str]) -> None:
        """Check the names that a block of the matrix uses."""
        for name in block.drives or ():
            if name not in sources:
                hint = suggest(name, sources)
                raise Misplaced(f"unknown drives '{name}': {hint}", "compare", number, "drives")
        for number_of, loss in enumerate(block.loss or ()):
            for name in loss if isinstance(loss, dict) else ():
                if name not in self.paths:
                    hint = suggest(name, self.paths)
                    raise Misplaced(
                        f"unknown path '{name}' in loss: {hint}",
                        "compare", number, "loss", number_of,
                    )  # fmt: skip
        for entry in block.paths:
            names = [] if entry in SET_WORDS else PathSet(entry).names
            for name in names:
                if name not in self.paths:
                    hint = suggest(name, [*self.paths, *SET_WORDS])
                    raise Misplaced(f"unknown path '{name}': {hint}", "compare", number, "paths")
            if len(set(names)) < len(names):
                raise Misplaced(f"'{entry}' names a path twice", "compare", number, "paths")


def load_plan(file: Path) -> Plan:
    """Read and check a study file; raise :class:`ConfigError` with file and line if it is wrong."""
    text, content = read_toml(file)
    return validate(Plan, file, text, content)


def load_published(file: Path, plan: Plan) -> Published:
    """Read the published values and criteria that the plan names; empty if it names none."""
    if plan.report.published is None:
        return Published()
    path = file.parent / plan.report.published
    text, content = read_toml(path)
    published = validate(Published, path, text, content)
    return published
