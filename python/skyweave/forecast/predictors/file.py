"""Trained predictors in files: plain JSON, numbers alone, nothing that executes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, ValidationError, model_validator

from skyweave.data.importers.base import as_text, read_bytes
from skyweave.data.writers import write_text
from skyweave.errors import DataError
from skyweave.forecast.measurement import Kind
from skyweave.forecast.predictors import predictor
from skyweave.forecast.predictors.band import KEPT, Spread
from skyweave.forecast.predictors.history import LENGTH_S
from skyweave.forecast.predictors.online import JUDGED, Forecaster, Trained
from skyweave.forecast.predictors.point import Walk
from skyweave.forecast.predictors.seconds import Seconds
from skyweave.forecast.predictors.target import Target
from skyweave.model.base import Model
from skyweave.model.parsing import parse_json

SCHEMA: Literal[1] = 1
MOST_TARGETS = 64
REMEDY = "make one with 'skyweave forecast train'"

Finite = Annotated[float, Field(allow_inf_nan=False)]
Above = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class SpreadFacts(Model):
    """How far forecasts were off in training (:class:`~.band.Spread`)."""

    scales: Annotated[tuple[Above, ...], Field(max_length=LENGTH_S)]
    residuals: Annotated[tuple[Finite, ...], Field(max_length=KEPT)]

    @classmethod
    def of(cls, known: Spread) -> Self:
        """Return the facts of a spread."""
        return cls(scales=tuple(known.scales.tolist()), residuals=known.residuals)

    def spread(self) -> Spread:
        """Return the spread."""
        return Spread(np.array(self.scales), self.residuals)


class TargetFacts(Model):
    """What was learned of one target."""

    target: str
    state: dict[str, Any]
    spread: SpreadFacts
    spread_of_last: SpreadFacts
    judged: Annotated[tuple[tuple[Finite, Finite], ...], Field(max_length=JUDGED)] = ()


class Learned(Model):
    """What was learned from: whose seconds, when, and how many."""

    name: str
    sha256: str
    from_unix_s: int
    until_unix_s: int
    seconds: int


class PredictorFile(Model):
    """A predictor that has learned the targets of one series."""

    kind: Literal["skyweave-predictor"] = "skyweave-predictor"
    schema_version: Literal[1] = SCHEMA
    predictor: str
    quantity: Kind
    period_s: Annotated[int, Field(ge=1, le=LENGTH_S // 2)]
    edge_s: Annotated[int, Field(ge=0, lt=LENGTH_S // 2)]
    learned: Learned
    targets: Annotated[tuple[TargetFacts, ...], Field(min_length=1, max_length=MOST_TARGETS)]

    @model_validator(mode="after")
    def _in_shape(self) -> Self:
        for one in self.targets:
            for known in (one.spread, one.spread_of_last):
                if len(known.scales) != self.period_s:
                    raise ValueError(f"'{one.target}': give {self.period_s} scales, one a second")
        return self

    def trained(self) -> list[Trained]:
        """Return the models; :class:`DataError` if a state is not one of its predictor."""
        known = predictor(self.predictor)
        found = []
        for one in self.targets:
            target = Target.parse(one.target)
            try:
                model = known.read(one.state, self.period_s)
            except (KeyError, TypeError, ValueError, IndexError) as error:
                raise DataError(
                    f"the state of '{one.target}' is none of '{self.predictor}' ({error}); {REMEDY}"
                ) from None
            found.append(
                Trained(target, model, one.spread.spread(), one.spread_of_last.spread(), one.judged)
            )
        return found

    def forecaster(self) -> Forecaster:
        """Return a forecaster that knows nothing of the series yet."""
        return Forecaster(self.trained(), self.period_s, self.edge_s)

    def write(self, path: Path) -> None:
        """Write the JSON file, whole or not at all; :class:`DataError` if that fails."""
        write_text(path, json.dumps(self.model_dump(mode="json")) + "\n")


def to_file(name: str, rows: Walk, edge_s: int, trained: list[Trained]) -> PredictorFile:
    """Return the file of models that :func:`~.train.train_all` made from ``rows``."""
    return PredictorFile(
        predictor=name,
        quantity=rows.series.kind,
        period_s=rows.period_s,
        edge_s=edge_s,
        learned=_learned(rows.series),
        targets=tuple(
            TargetFacts(
                target=str(one.target),
                state=one.model.state(),
                spread=SpreadFacts.of(one.spread),
                spread_of_last=SpreadFacts.of(one.spread_of_last),
                judged=one.judged,
            )
            for one in trained
        ),
    )


def _learned(series: Seconds) -> Learned:
    digest = hashlib.sha256(series.seconds.tobytes())
    digest.update(series.values.tobytes())
    return Learned(
        name=series.name,
        sha256=digest.hexdigest(),
        from_unix_s=int(series.seconds[0]),
        until_unix_s=int(series.seconds[-1]) + 1,
        seconds=len(series),
    )


def read_predictor(path: Path) -> PredictorFile:
    """Read a predictor; :class:`DataError` says what is wrong with the file."""
    facts = parse_json(as_text(str(path), read_bytes(path)), REMEDY)
    if not isinstance(facts, dict) or facts.get("kind") != "skyweave-predictor":
        raise DataError(f"{path}: is no trained predictor; {REMEDY}")
    if facts.get("schema_version") != SCHEMA:
        raise DataError(
            f"{path}: has schema {facts.get('schema_version')!r}, and {SCHEMA} is read; {REMEDY}"
        )
    try:
        found = PredictorFile.model_validate(facts)
    except ValidationError as error:
        first = error.errors()[0]
        said = first["msg"].removeprefix("Value error, ")
        where = ".".join(str(part) for part in first["loc"]) or "the predictor"
        raise DataError(f"{path}: {where}: {said}; {REMEDY}") from None
    try:
        found.trained()
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    return found
