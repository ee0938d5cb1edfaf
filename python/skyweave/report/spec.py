"""What a study says about its report: figures, published values and the criteria to grade.

``[report]`` and ``[[figures]]`` stand in ``study.toml``; ``[[values]]`` and ``[[criteria]]`` in
the ``published.toml`` beside it. ``docs/studies.md`` describes both.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, field_validator, model_validator

from skyweave.study.model import StudyModel, complaint

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Setting = str | bool | float
Quantity = Literal["goodput", "bonded_minus_max", "sum_minus_bonded", "capacity"]
Direction = Literal["down", "up"]
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
    direction: Direction = "down"
    where: dict[str, Setting] = Field(default_factory=dict)


class FigureSpec(Selection):
    """One figure of the report."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_\-]*$")]
    title: str
    kind: Literal["boxes", "cdf", "outage", "timeline", "settings"] = "boxes"
    caption: str = ""
    study_class: str = ""
    y_max_mbps: Positive | None = None
    by: str | None = None

    @model_validator(mode="after")
    def _by_belongs(self) -> Self:
        if (self.kind == "settings") != (self.by is not None):
            raise complaint("kind", "kind 'settings' needs by = '<setting>', and only it takes by")
        return self


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


Criterion = Annotated[
    Ordering | RatioBand | Bound | CloseTo | RankCorrelation | Contrast | Identity,
    Field(discriminator="kind"),
]


class Published(StudyModel):
    """What a publication says: ``published.toml``."""

    title: str = ""
    citation: str = ""
    values: tuple[PublishedValue, ...] = ()
    criteria: tuple[Criterion, ...] = ()
