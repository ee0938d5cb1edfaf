"""The criteria that a study is graded by: ``[[criteria]]`` of ``published.toml``."""

from __future__ import annotations

import math
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from skyweave.model.validated import Positive, StudyModel, complaint
from skyweave.results.pathset import PathSet
from skyweave.results.quantities import BIN_S, Compared, Measured
from skyweave.results.selection import Selection, Setting, check_statistic
from skyweave.study.language.artefacts import Artefact, check_artefacts
from skyweave.study.language.figures import PublishedValue


class _Criterion(Selection):
    """What each criterion has."""

    id: str
    figure: str
    text: str
    study_class: str = "SHAPE"
    source: str = ""
    note: str = ""
    assumed: tuple[str, ...] = ()
    """Groups of drives that differ from ``drives`` in what is assumed.

    A grade that is not the same on all of them is the assumption's.
    """


class Ordering(_Criterion):
    """Each cell's statistic stands in its relation to the next one's."""

    kind: Literal["ordering"]
    cells: tuple[PathSet, ...] = Field(min_length=2)
    relations: tuple[Literal[">", ">="], ...]
    quantity: Measured = "goodput"
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
    quantity: Measured = "goodput"
    numerator: PathSet
    denominator: PathSet
    statistic: str = "median"
    band: tuple[float, float]
    published: float

    _statistic = field_validator("statistic")(check_statistic)


class Bound(_Criterion):
    """A statistic of each cell stays on one side of a limit; the worst cell decides."""

    kind: Literal["bound"]
    cells: tuple[PathSet, ...] = Field(min_length=1)
    quantity: Measured = "goodput"
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
    """A cell's statistic equals a published value within a relative tolerance.

    With ``minus`` it is the statistic of that cell minus the one of ``cell``: what is gained.
    """

    kind: Literal["value"]
    cell: PathSet
    minus: PathSet | None = None
    quantity: Measured = "goodput"
    statistic: str = "median"
    published: float
    tolerance: Positive = 0.1

    _statistic = field_validator("statistic")(check_statistic)


class Window(_Criterion):
    """A measure of a stretch of time stays on one side of a limit, in the mean over drives.

    ``utilisation``: goodput of the application over the capacity of the set; ``peak``: the largest
    share of its capacity that any bin of a quarter of a second carried; ``delivered_mbps``: what
    the path delivered; ``resumed_after_s``: from the beginning of the stretch until the path
    delivers something. All of the first connection of a run.
    """

    kind: Literal["window"]
    cells: tuple[PathSet, ...] = Field(min_length=1, max_length=1)
    path: str | None = None
    measure: Literal["utilisation", "peak", "delivered_mbps", "resumed_after_s"] = "utilisation"
    between_s: tuple[float, float]
    relation: Literal["<", "<=", ">", ">="]
    limit: float
    published: str = ""

    @model_validator(mode="after")
    def _rising(self) -> Self:
        start_s, end_s = self.between_s
        if not 0 <= start_s < end_s < math.inf:
            raise complaint("between_s", "between_s is [from, to] in seconds, from before to")
        in_bins = self.measure != "resumed_after_s"
        if in_bins and any(math.fmod(edge, BIN_S) for edge in self.between_s):
            said = f"'{self.measure}' is measured in whole quarters of a second"
            raise complaint("between_s", said)
        of_path = self.measure in ("delivered_mbps", "resumed_after_s")
        if of_path and self.path is None:
            raise complaint("measure", f"'{self.measure}' is of one path: add path = '<name>'")
        if self.path is not None and not of_path:
            raise complaint("path", f"'{self.measure}' is of the whole set: remove path")
        return self


class RankCorrelation(_Criterion):
    """Over the pairs, a statistic rises with how different the two paths are (Spearman > 0).

    Difference = |ln(mean goodput of one path alone ÷ mean goodput of the other alone)|.
    """

    kind: Literal["rank-correlation"]
    quantity: Measured = "sum_minus_bonded"
    statistic: str = "mean"
    published: str = ""

    _statistic = field_validator("statistic")(check_statistic)


class Contrast(_Criterion):
    """A statistic over all pairs is larger on these drives than on ``than``.

    ``than_quantity`` is what is looked at there, where the paths have other names.
    """

    kind: Literal["contrast"]
    than: str
    than_quantity: Measured | None = None
    quantity: Measured = "sum_minus_bonded"
    statistic: str = "mean"
    published: str = ""

    _statistic = field_validator("statistic")(check_statistic)


class Identity(_Criterion):
    """Something that holds for every sample by arithmetic."""

    kind: Literal["identity"]
    identity: Literal["max<=sum", "oracle<=sum", "concurrent<=each"]
    published: str = "exact"


class Agreement(_Criterion):
    """Simulated and live runs agree: a statistic of |simulated ÷ live - 1| over cases.

    ``median`` of it, or the share of cases ``within`` (0 to 1); intervals are drawn over cases.
    """

    kind: Literal["agreement"]
    quantity: Compared = "goodput"
    measure: Literal["median", "share_within"] = "median"
    within: Positive = 0.1
    relation: Literal["<", "<=", ">", ">="]
    limit: float
    cells: tuple[PathSet, ...] = ()
    published: str = ""


class _Across(_Criterion):
    """A criterion that compares runs under different settings; intervals are paired by drive."""

    quantity: Measured = "goodput"
    statistic: str = "median"
    cells: tuple[PathSet, ...] = ()
    """Path sets; empty: the bonded ones, or all if none is bonded."""
    published: str = ""

    _statistic = field_validator("statistic")(check_statistic)


class FirstInShare(_Across):
    """``winner`` leads all values of ``by`` in at least ``share`` of the cells.

    A cell is one path set under one combination of the other settings. ``least``: the smallest
    value leads (a time, say).
    """

    kind: Literal["first-in-share"]
    by: str
    winner: Setting
    least: bool = False
    share: Annotated[float, Field(gt=0, le=1)]
    where_any: dict[str, tuple[Setting, ...]] = Field(default_factory=dict)
    """Settings that may vary, and the values that count."""


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


class Overlap(_Across):
    """Under two values of a setting a statistic lies in each other's intervals; the worst decides.

    Intervals that meet, with a value outside of one, are direction only.
    """

    kind: Literal["overlap"]
    by: str
    first: Setting
    second: Setting
    where_any: dict[str, tuple[Setting, ...]] = Field(default_factory=dict)
    """Settings that may vary, and the values that count."""


class GainShare(_Across):
    """``first`` gains at least ``share`` of what ``best`` gains, both over ``base``."""

    kind: Literal["gain-share"]
    by: str
    first: Setting
    base: Setting
    best: Setting
    share: Annotated[float, Field(gt=0, le=1)]


class NeverWorse(_Across):
    """Over several paths no run is worse than over the best of them alone on the same drive.

    Every remaining setting has to hold. A film that never began is worse than one that did.
    """

    kind: Literal["never-worse"]
    least: bool = False
    """The smallest value is the best, as of a stall."""
    margin: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """What does not count as worse, in the unit of the quantity."""
    where_any: dict[str, tuple[Setting, ...]] = Field(default_factory=dict)
    """Settings that may vary, and the values that count."""


class Every(_Across):
    """A statistic stays on one side of a limit under every remaining setting; the worst decides."""

    kind: Literal["every"]
    relation: Literal["<", "<=", ">", ">="]
    limit: float
    where_any: dict[str, tuple[Setting, ...]] = Field(default_factory=dict)
    """Settings that may vary, and the values that count."""


class Covers(_Across):
    """Published values of the figure lie within [p5, p95] of ours, in at least ``share`` of cases.

    Only values with an ``of``, under the settings that their ``where`` says.
    """

    kind: Literal["covers"]
    by: str
    share: Annotated[float, Field(gt=0, le=1)]


Across = (
    FirstInShare
    | Spread
    | Trend
    | BestUnder
    | Between
    | Overlap
    | GainShare
    | NeverWorse
    | Every
    | Covers
)
Criterion = Annotated[
    Ordering
    | RatioBand
    | Bound
    | CloseTo
    | Window
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
    artefacts: tuple[Artefact, ...] = ()
    """Without them each figure that has criteria is one."""
    criteria: tuple[Criterion, ...] = ()

    @model_validator(mode="after")
    def _belong(self) -> Self:
        check_artefacts(self.artefacts, [criterion.id for criterion in self.criteria])
        return self
