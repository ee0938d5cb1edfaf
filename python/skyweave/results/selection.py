"""Which runs a figure or a criterion looks at, and which statistic of them."""

from __future__ import annotations

import re
from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from skyweave.model.validated import StudyModel, complaint

Setting = str | bool | float
Direction = Literal["down", "up"]
SPANNING = ("engines", "agreement")
"""Kinds that look at all drives and directions, unless they name some."""
Unit = Literal["bin", "drive"]
"""What one sample of a distribution is: a time bin, or the mean of a whole drive."""
_STATISTIC = re.compile(r"^(median|mean|min|max|zero_share|p\d{1,2}|over_\d+(\.\d+)?)$")


def check_statistic(name: str) -> str:
    """Return ``name`` if it is a statistic: median, mean, min, max, zero_share, pNN or over_X."""
    if not _STATISTIC.match(name):
        raise ValueError(
            f"unknown statistic '{name}'; known are median, mean, min, max, zero_share, "
            "p5 to p95, and over_X: the share of samples above X"
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
