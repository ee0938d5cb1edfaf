"""Drives whose paths are the interfaces of a device at cells: ``radio = {...}`` of a study file."""

from __future__ import annotations

import math
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from skyweave.model.drive import Drive
from skyweave.model.validated import StudyModel, complaint
from skyweave.radio.cases import WAIT_S, Case
from skyweave.radio.delay import DelayRule
from skyweave.radio.loaded import MEMORY_S, Heard, loaded_offer
from skyweave.radio.offer import Offer, offer
from skyweave.radio.paths import PathsOf
from skyweave.radio.stays import GAP_S, Handover, Rules, stays_drive
from skyweave.radio.synthetic import synthetic_cells
from skyweave.study.language.choices import listed

ALL_CASES: tuple[Case, ...] = ("sp", "1", "2", "3", "4")


class Cells(StudyModel):
    """Made-up cells of two operators and which interfaces hold them (:mod:`skyweave.radio`).

    ``cells`` are ``loaded`` (MPQUIC-LTE, Tables 4 and 5) or ``empty`` (Tables 2 and 3). Each of
    ``cases`` adds its interfaces as paths: ``sp``, ``c1``, ``c2a``, ``c2b`` …; ``operators`` adds a
    path for each operator, ``OP1`` and ``OP2``. A loaded carrier is served by its next cell after
    ``cell_s`` seconds in the mean (never, if that is not given), and ``heard`` says whether the
    weak ones are heard throughout or as often as the paper counts cells (Figure 2, Table 2). With
    ``handover = "link"`` the paths of case k are the links to the carriers, ``lka`` …, and
    neither end is notified when one is down.
    """

    cells: Literal["loaded", "empty"] = "loaded"
    place: Literal["whole", "residential", "road"] = "residential"
    cases: tuple[PathsOf, ...] = Field(default=ALL_CASES, min_length=1)
    delay: DelayRule = "power"
    wait_s: Annotated[int, Field(ge=0)] = WAIT_S
    gap_s: Annotated[float, Field(ge=0, allow_inf_nan=False)] = GAP_S
    memory_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    cell_s: Annotated[float, Field(ge=1, allow_inf_nan=False)] | None = None
    heard: Heard = "always"
    handover: Handover = "interface"

    @field_validator("cases", mode="before")
    @classmethod
    def _lists(cls, value: object) -> object:
        return listed(value)

    @model_validator(mode="after")
    def _belongs(self) -> Self:
        if self.cells == "loaded" and self.place == "whole":
            raise complaint("place", "loaded cells are 'residential' or 'road'; 'whole' is empty")
        if self.cells == "empty" and self.memory_s is not None:
            raise complaint("memory_s", "memory_s belongs to loaded cells; remove it")
        if self.cells == "empty" and (self.cell_s is not None or self.heard != "always"):
            key = "heard" if self.cell_s is None else "cell_s"
            raise complaint(key, f"{key} belongs to loaded cells; remove it")
        return self


def cells_drive(name: str, cells: Cells, seed: int, duration_s: float) -> Drive:
    """Return a drive of whole seconds, at least ``duration_s`` long."""
    offered = _offer(cells, seed, math.ceil(duration_s))
    origin = f"{cells.cells} cells, {cells.place}, made up with seed {seed}"
    rules = Rules(cells.delay, cells.wait_s, cells.gap_s, cells.handover)
    return stays_drive(offered, f"{name}-{seed}", origin, cells.cases, rules)


def _offer(cells: Cells, seed: int, duration_s: int) -> Offer:
    if cells.place == "whole" or cells.cells == "empty":
        return offer(synthetic_cells(seed, duration_s, cells.place))
    served = (cells.cell_s, cells.heard)
    return loaded_offer(seed, duration_s, cells.place, cells.memory_s or MEMORY_S, served)
