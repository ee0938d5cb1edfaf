"""Every kind of criterion and figure that a study can name is in the report, by its own file."""

from __future__ import annotations

from typing import get_args

import skyweave.report.criteria as criteria
import skyweave.report.figures as figures
from skyweave.report.criteria.kinds import KINDS as CRITERIA
from skyweave.report.figures.kinds import KINDS as FIGURES
from skyweave.study.language.criteria import Criterion
from skyweave.study.language.figures import FigureSpec


def test_every_kind_of_criterion_is_evaluated_in_a_file_of_its_own() -> None:
    known = get_args(get_args(Criterion)[0])
    assert set(CRITERIA) == set(known)
    assert len(criteria.__all__) == len(known)


def test_every_kind_of_figure_is_drawn_in_a_file_of_its_own() -> None:
    known = get_args(FigureSpec.model_fields["kind"].annotation)
    assert set(FIGURES) == set(known) == set(figures.__all__)
