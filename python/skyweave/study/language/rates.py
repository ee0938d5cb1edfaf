"""What the player of an adaptive film knows of the rate ahead, as a study file says it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from skyweave.forecast.predictors import predictor
from skyweave.forecast.predictors.target import LONGEST_S
from skyweave.model.base import Ratio
from skyweave.model.validated import Name, Positive, StudyModel

_OF: dict[str, set[str]] = {
    "none": set(),
    "capacity": {"share", "error", "lasts_s"},
    "mean": {"share", "error", "lasts_s", "ahead_s"},
    "last": {"share"},
    "predictor": {"share", "predictor", "learn"},
}


class RateForecast(StudyModel):
    """What a player knows of the rate that the paths of a run carry down together.

    ``capacity``: what they will carry, second by second; ``mean``: one number, the mean of the next
    ``ahead_s`` seconds; ``last``: what they carried in the last second; ``predictor``: what a
    predictor says that has learned the drives of the group ``learn``.

    The player plans with ``share`` of it. ``capacity`` and ``mean`` are wrong by ``error`` (mean
    absolute relative error), one draw for ``lasts_s`` seconds.
    """

    kind: Literal["none", "capacity", "mean", "last", "predictor"] = "none"
    share: Annotated[float, Field(gt=0, le=1)] = 1.0
    error: Ratio = 0.0
    lasts_s: Positive = 1.0
    ahead_s: Annotated[int, Field(ge=1, le=LONGEST_S)] = 20
    predictor: str = "slot-linear"
    learn: Name | None = None

    @model_validator(mode="before")
    @classmethod
    def _word(cls, value: Any) -> Any:
        return {"kind": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _belongs(self) -> Self:
        told = self.model_fields_set - {"kind"}
        for key in sorted(told - _OF[self.kind]):
            raise ValueError(f"a rate forecast of kind '{self.kind}' has no {key}; leave it out")
        if self.kind == "predictor":
            if self.learn is None:
                raise ValueError("a predictor needs learn = the name of [[drives]] to learn from")
            predictor(self.predictor)
        return self

    def label(self) -> str:
        """The forecast in one word, with what differs from the defaults.

        >>> RateForecast(kind="capacity", error=0.2, lasts_s=15).label()
        'capacity(error=0.2, lasts_s=15)'
        """
        name = self.predictor if self.kind == "predictor" else self.kind
        told = {
            key: value
            for key, value in self.model_dump(exclude={"kind", "predictor", "learn"}).items()
            if value != type(self).model_fields[key].default
        }
        words = ", ".join(f"{key}={value:g}" for key, value in told.items())
        return f"{name}({words})" if words else name
