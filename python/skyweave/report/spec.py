"""What a study says about its report: figures, published values and the criteria to grade.

``[report]`` and ``[[figures]]`` stand in ``study.toml``; ``[[values]]`` and ``[[criteria]]`` in
the ``published.toml`` beside it. ``docs/studies.md`` describes both.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, field_validator, model_validator

from skyweave.study.model import StudyModel, complaint

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Setting = str | bool | float
Quantity = Literal[
    "goodput", "bonded_minus_max", "sum_minus_bonded", "capacity",
    "gain", "share_of_max", "srtt_ms", "flow_ratio",
]  # fmt: skip
Direction = Literal["down", "up"]
SPANNING = ("engines", "agreement")
"""Kinds that look at all drives and directions, unless they name some."""
Unit = Literal["bin", "drive"]
"""What one sample of a distribution is: a time bin, or the mean of a whole drive."""
_STATISTIC = re.compile(r"^(median|mean|min|max|zero_share|p\d{1,2})$")


def check_statistic(name: str) -> str:
    """Return ``name`` if it is a statistic: median, mean, min, max, zero_share or pNN."""
    if not _STATISTIC.match(name):
        raise ValueError(
            f"unknown statistic '{name}'; known are median, mean, min, max, zero_share, p5 to p95"
        )
    return name


class Selection(StudyModel):
    """Which runs are looked at: drives, direction, and settings where the plan varies them."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    drives: str
    direction: Direction | Literal["all"] = "down"
    where: dict[str, Setting] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _span(cls, value: Any) -> Any:
        if isinstance(value, dict) and value.get("kind") in SPANNING:
            return {"drives": "all", "direction": "all", **value}
        return value

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.direction == "all" and getattr(self, "kind", None) not in SPANNING:
            raise complaint("direction", "direction is 'down' or 'up' here; choose one")
        return self


class FigureSpec(Selection):
    """One figure of the report."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_\-]*$")]
    title: str
    kind: Literal[
        "boxes", "cdf", "outage", "timeline", "settings", "heatmap", "sweep", "distribution",
        "engines",
    ] = "boxes"  # fmt: skip
    caption: str = ""
    study_class: str = ""
    y_max_mbps: Positive | None = None
    by: str | None = None
    x: str | None = None
    y: str | None = None
    reference: str | None = None
    cells: tuple[str, ...] = ()
    quantity: Quantity | None = None
    statistic: str = "median"
    x_max: Positive | None = None
    beside: tuple[Selection, ...] = ()
    rtt_rise_below: Positive | None = None

    _statistic = field_validator("statistic")(check_statistic)

    @model_validator(mode="after")
    def _keys_belong(self) -> Self:
        for key, kinds in _KEYS.items():
            given = getattr(self, key) not in (None, ())
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
    "by": ("settings", "sweep", "distribution"),
    "x": ("heatmap", "sweep"),
    "y": ("heatmap",),
    "reference": ("heatmap",),
    "cells": ("heatmap", "sweep", "distribution", "engines"),
    "quantity": ("sweep", "distribution"),
    "x_max": ("distribution",),
    "beside": ("distribution",),
    "rtt_rise_below": ("heatmap",),
}
"""Which kinds of figures take a key."""
_NEEDED = {
    "settings": ("by",),
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
    bootstrap: Annotated[int, Field(ge=100)] = 1000
    auto_figures: bool = True
    assumptions: tuple[str, ...] = ()
    contradictions: tuple[str, ...] = ()


class PublishedValue(StudyModel):
    """One number of a publication, drawn as a mark over our box."""

    figure: str
    cell: str
    quantity: Quantity = "goodput"
    statistic: str
    value: float
    source: str = ""

    _statistic = field_validator("statistic")(check_statistic)


class _Criterion(Selection):
    """What each criterion has."""

    id: str
    figure: str
    text: str
    study_class: str = "SHAPE"
    source: str = ""
    note: str = ""


class Ordering(_Criterion):
    """Each cell's statistic stands in its relation to the next one's."""

    kind: Literal["ordering"]
    cells: tuple[str, ...] = Field(min_length=2)
    relations: tuple[Literal[">", ">="], ...]
    quantity: Quantity = "goodput"
    statistic: str = "median"
    published: tuple[float, ...] = ()

    _statistic = field_validator("statistic")(check_statistic)

    @model_validator(mode="after")
    def _lengths(self) -> Self:
        if len(self.relations) != len(self.cells) - 1:
            raise complaint("relations", "relations must be one fewer than cells")
        return self


class RatioBand(_Criterion):
    """The ratio of two cells' statistics lies on the published side of 1 and in a band."""

    kind: Literal["ratio"]
    numerator: str
    denominator: str
    statistic: str = "median"
    band: tuple[float, float]
    published: float

    _statistic = field_validator("statistic")(check_statistic)


class Bound(_Criterion):
    """A statistic of each cell stays on one side of a limit; the worst cell decides."""

    kind: Literal["bound"]
    cells: tuple[str, ...] = Field(min_length=1)
    quantity: Quantity = "goodput"
    statistic: str
    relation: Literal["<", "<=", ">", ">="]
    limit: float
    published: str = ""
    capacity_at_most_mbps: Positive | None = None
    otherwise_share_of_sum: Positive | None = None

    _statistic = field_validator("statistic")(check_statistic)

    @model_validator(mode="after")
    def _both(self) -> Self:
        if (self.capacity_at_most_mbps is None) != (self.otherwise_share_of_sum is None):
            raise complaint(
                "limit", "capacity_at_most_mbps and otherwise_share_of_sum belong together"
            )
        return self


class CloseTo(_Criterion):
    """A cell's statistic equals a published value within a relative tolerance."""

    kind: Literal["value"]
    cell: str
    quantity: Quantity = "goodput"
    statistic: str = "median"
    published: float
    tolerance: Positive = 0.1

    _statistic = field_validator("statistic")(check_statistic)


class RankCorrelation(_Criterion):
    """Over the pairs, a statistic rises with how different the two paths are (Spearman > 0).

    Difference = |ln(mean goodput of one path alone ÷ mean goodput of the other alone)|.
    """

    kind: Literal["rank-correlation"]
    quantity: Quantity = "sum_minus_bonded"
    statistic: str = "mean"
    published: str = ""

    _statistic = field_validator("statistic")(check_statistic)


class Contrast(_Criterion):
    """A statistic over all pairs is larger on these drives than on ``than``."""

    kind: Literal["contrast"]
    than: str
    quantity: Quantity = "sum_minus_bonded"
    statistic: str = "mean"
    published: str = ""

    _statistic = field_validator("statistic")(check_statistic)


class Identity(_Criterion):
    """Something that holds for every sample by arithmetic."""

    kind: Literal["identity"]
    identity: Literal["max<=sum", "oracle<=sum", "concurrent<=each"]
    published: str = "exact"


class Agreement(_Criterion):
    """Simulated and live runs agree: a statistic of |goodput simulated ÷ live - 1| over cases.

    ``median`` of it, or the share of cases ``within`` (0 to 1); intervals are drawn over cases.
    """

    kind: Literal["agreement"]
    measure: Literal["median", "share_within"] = "median"
    within: Positive = 0.1
    relation: Literal["<", "<=", ">", ">="]
    limit: float
    cells: tuple[str, ...] = ()
    published: str = ""


class _Across(_Criterion):
    """A criterion that compares runs under different settings; intervals are paired by drive."""

    quantity: Quantity = "goodput"
    statistic: str = "median"
    cells: tuple[str, ...] = ()
    """Path sets; empty: the bonded ones, or all if none is bonded."""
    published: str = ""

    _statistic = field_validator("statistic")(check_statistic)


class FirstInShare(_Across):
    """``winner`` leads all values of ``by`` in at least ``share`` of the cells.

    A cell is one path set under one combination of the other settings.
    """

    kind: Literal["first-in-share"]
    by: str
    winner: Setting
    share: Annotated[float, Field(gt=0, le=1)]


class Spread(_Across):
    """Values of ``by`` differ less than values of ``than``.

    Spread = (largest - smallest) / mean, averaged over the combinations of the other settings.
    """

    kind: Literal["spread"]
    by: str
    than: str


class Trend(_Across):
    """A statistic rises (or falls) along a parameter of the congestion control: Kendall's tau.

    Pairs of cells that differ in nothing but this parameter, of all path sets.
    """

    kind: Literal["trend"]
    along: str
    direction_of_trend: Literal["rises", "falls"] = "rises"


class BestUnder(_Across):
    """The best cell of a grid, among those whose RTT rises little, has a parameter in its place.

    Best: highest mean goodput; RTT: p95 of the senders' srtt samples, against ``reference``.
    """

    kind: Literal["best-under"]
    reference: str
    rtt_rise_below: Positive
    parameter: str
    at_least: float
    band: tuple[float, float]
    """Published band of the gain: mean goodput of the best cell over the reference's, minus 1."""


class Between(_Across):
    """A cell under one value of a setting against the same cell under others; the worst decides.

    Settings that still vary (say, loss) each have to hold. ``ratio``: first / second;
    ``difference``: first - second.
    """

    kind: Literal["between"]
    by: str
    first: Setting
    second: tuple[Setting, ...] = Field(min_length=1)
    measure: Literal["ratio", "difference"] = "ratio"
    relation: Literal["<", "<=", ">", ">="]
    limit: float
    band: tuple[float, float] | None = None
    """Published band: an interval that misses it is direction only."""
    where_any: dict[str, tuple[Setting, ...]] = Field(default_factory=dict)
    """Settings that may vary, and the values that count."""


Across = FirstInShare | Spread | Trend | BestUnder | Between
Criterion = Annotated[
    Ordering
    | RatioBand
    | Bound
    | CloseTo
    | RankCorrelation
    | Contrast
    | Identity
    | Agreement
    | Across,
    Field(discriminator="kind"),
]


class Published(StudyModel):
    """What a publication says: ``published.toml``."""

    title: str = ""
    citation: str = ""
    values: tuple[PublishedValue, ...] = ()
    criteria: tuple[Criterion, ...] = ()
