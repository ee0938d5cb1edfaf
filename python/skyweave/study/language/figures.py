"""What a study says about its report: what is selected, figures, published values.

``[report]`` and ``[[figures]]`` stand in ``study.toml``; ``[[values]]`` in the ``published.toml``
beside it, with the criteria of ``criteria.py``; ``docs/studies.md`` describes all.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from skyweave.model.validated import Positive, StudyModel, complaint
from skyweave.results.pathset import PathSet
from skyweave.results.quantities import Measured
from skyweave.results.selection import Selection, Setting, Unit, check_statistic

OF_CAPACITY = ("outage", "timeline", "paths", "ping", "playback")
"""Kinds of figures that show what links could carry, or the round trips of idle ones."""

SCROLLED = ("topology",)
"""Kinds of figures that no narrow screen has room for: they are scrolled."""


class FigureSpec(Selection):
    """One figure of the report."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_\-]*$")]
    title: str
    kind: Literal[
        "boxes", "cdf", "outage", "timeline", "settings", "heatmap", "sweep", "distribution",
        "engines", "compare", "ping", "paths", "playback", "windows", "reorder",
        "topology",
    ] = "boxes"  # fmt: skip
    caption: str = ""
    study_class: str = ""
    y_max_mbps: Positive | None = None
    by: str | None = None
    x: str | None = None
    y: str | None = None
    reference: str | None = None
    cells: tuple[PathSet, ...] = ()
    quantity: Measured | None = None
    statistic: str = "median"
    x_max: Positive | None = None
    beside: tuple[Selection, ...] = ()
    where_any: dict[str, tuple[Setting, ...]] = Field(default_factory=dict)
    """Values that count of settings that vary, here and beside."""
    rtt_rise_below: Positive | None = None

    _statistic = field_validator("statistic")(check_statistic)

    @model_validator(mode="after")
    def _keys_belong(self) -> Self:
        for key, kinds in _KEYS.items():
            given = getattr(self, key) not in (None, (), {})
            if given and self.kind not in kinds:
                theirs = ", ".join(f"'{kind}'" for kind in kinds)
                raise complaint(
                    key, f"{key} belongs to kind {theirs}, not to '{self.kind}'; remove it"
                )
        for key in _NEEDED.get(self.kind, ()):
            if getattr(self, key) is None:
                raise complaint("kind", f"kind '{self.kind}' needs {key}; {_MEANING[key]}")
        return self

    @property
    def varies(self) -> set[str]:
        """The settings that may differ among the runs of this figure."""
        if self.kind == "heatmap":
            return {"congestion"}
        return {key for key in (self.by, self.x) if key is not None}


_KEYS = {
    "by": ("settings", "sweep", "distribution", "compare", "playback", "windows", "reorder"),
    "x": ("heatmap", "sweep", "compare"),
    "y": ("heatmap",),
    "reference": ("heatmap",),
    "cells": (
        "heatmap",
        "sweep",
        "distribution",
        "engines",
        "compare",
        "paths",
        "playback",
        "windows",
        "reorder",
        "topology",
    ),
    "quantity": ("sweep", "distribution", "compare"),
    "x_max": ("distribution",),
    "where_any": ("sweep", "distribution", "compare"),
    "beside": ("distribution", "compare"),
    "rtt_rise_below": ("heatmap",),
}
"""Which kinds of figures take a key."""
_NEEDED = {
    "settings": ("by",),
    "compare": ("by",),
    "distribution": ("by",),
    "sweep": ("x",),
    "heatmap": ("x", "y", "reference"),
}
_MEANING = {
    "by": "by = '<setting>': a line or mark for each value of it",
    "x": "x = '<setting>' (heatmap: '<parameter>'): what the horizontal axis shows",
    "y": "y = '<parameter>': what the vertical axis shows",
    "reference": "reference = '<algorithm>': what the cells are compared with",
}


class ReportSpec(StudyModel):
    """How records are reduced."""

    published: str | None = None
    bin_s: Positive = 1.0
    unit: Unit = "bin"
    rtt_window_s: Positive = 15.0
    bootstrap: Annotated[int, Field(ge=100, le=100_000)] = 1000
    auto_figures: bool = True
    answer: str = ""
    """What the study found, in a sentence or two, for who reads no further."""
    assumptions: tuple[str, ...] = ()
    contradictions: tuple[str, ...] = ()


class PublishedValue(StudyModel):
    """One number of a publication, drawn as a mark over our box.

    ``of`` is the value of the figure's ``by`` that it belongs to; ``where`` the other settings.
    """

    figure: str
    cell: PathSet
    of: Setting | None = None
    where: dict[str, Setting] = Field(default_factory=dict)
    quantity: Measured = "goodput"
    statistic: str
    value: float
    source: str = ""

    _statistic = field_validator("statistic")(check_statistic)
