"""Artefacts count once, by their weakest criterion; what stands behind values decides a grade."""

from __future__ import annotations

from typing import Any

import pytest
from fluid import options
from pydantic import ValidationError
from test_across import toml

from skyweave.report.criteria.artefacts import graded, tally, tally_words
from skyweave.report.criteria.evaluate import Outcome, evaluate
from skyweave.report.numbers.panel import Results
from skyweave.report.page.caveats import caveats_of
from skyweave.study.language.artefacts import Artefact
from skyweave.study.language.criteria import Published
from skyweave.study.run.session import run_study

STUDY = """
[study]
name = "put-in"
title = "Two links"
[[drives]]
name = "both"
seeds = 30
duration_s = 8
links.A = { downlink_mbps = 20, uplink_mbps = 20, rtt_ms = 40 }
[drives.links.B]
downlink_mbps = { times_s = [0, 4, 6], values = [10, 0, 10] }
uplink_mbps = 5
rtt_ms = 40
[[drives]]
name = "slow"
seeds = 30
duration_s = 8
links.A = { downlink_mbps = 2, uplink_mbps = 20, rtt_ms = 40 }
links.B = { downlink_mbps = 1, uplink_mbps = 5, rtt_ms = 40 }
[[drives]]
name = "few"
seeds = 29
duration_s = 8
links.A = { downlink_mbps = 20, uplink_mbps = 20, rtt_ms = 40 }
links.B = { downlink_mbps = 10, uplink_mbps = 5, rtt_ms = 40 }
[[drives]]
name = "hawaii"
preset = "hawaii"
seeds = 30
duration_s = 8
rename = { starlink = "A", verizon = "B", SL = "A", VZ = "B" }
[paths.A]
rtt_ms = "trace"
[paths.B]
rtt_ms = "trace"
[settings]
mode = "v0.96"
[report]
published = "p.toml"
bootstrap = 200
[[compare]]
paths = ["singles", "pairs"]
"""
PAIR_LEADS = {"kind": "ordering", "cells": ["A+B", "A"], "relations": [">"], "drives": "both"}
A_LEADS = PAIR_LEADS | {"cells": ["A", "B"]}
SILENT = {
    "kind": "window", "cells": ["A+B"], "path": "B", "measure": "delivered_mbps",
    "between_s": [4, 6], "relation": "<=", "limit": 0.1, "drives": "both",
}  # fmt: skip
BELOW = SILENT | {"path": None, "measure": "peak", "limit": 1.0}
FAST = {
    "kind": "bound", "cells": ["A"], "statistic": "mean", "relation": ">", "limit": 10,
    "drives": "both",
}  # fmt: skip
CRITERIA: dict[str, dict[str, Any]] = {
    "pair": PAIR_LEADS,
    "alone": A_LEADS,
    "alone-turned": A_LEADS | {"cells": ["B", "A"]},
    "silent": SILENT,
    "busy": SILENT | {"between_s": [0, 4], "limit": 50},
    "below": {key: value for key, value in BELOW.items() if value is not None},
    "lower": {key: value for key, value in BELOW.items() if value is not None} | {"limit": 0.99},
    "link": FAST | {"quantity": "capacity"},
    "slow-link": FAST | {"quantity": "capacity", "limit": 30},
    "few": PAIR_LEADS | {"drives": "few"},
    "few-turned": PAIR_LEADS | {"drives": "few", "cells": ["A", "A+B"]},
    "invented": PAIR_LEADS | {"drives": "hawaii"},
    "invented-B": FAST | {"drives": "hawaii", "cells": ["B"], "limit": 0},
    "known-A": FAST | {"drives": "hawaii", "limit": 0},
    "hangs": FAST | {"assumed": ["slow"]},
    "hangs-not": PAIR_LEADS | {"assumed": ["slow"]},
    "band-missed": {
        "kind": "ratio", "numerator": "A", "denominator": "B", "band": [5, 6], "published": 5.5,
        "drives": "both",
    },
    "band-met": {
        "kind": "ratio", "numerator": "A", "denominator": "B", "band": [1.5, 6], "published": 5.5,
        "drives": "both",
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("artefacts")
    whole = [{"id": name, "figure": "f", "text": "t"} | one for name, one in CRITERIA.items()]
    blocks = [
        "[[criteria]]\n" + "".join(f"{key} = {toml(value)}\n" for key, value in one.items())
        for one in whole
    ]
    (folder / "p.toml").write_text("\n".join(blocks))
    (folder / "study.toml").write_text(STUDY)
    run_study(folder / "study.toml", options(folder / "out"))
    return Results(folder / "out")


@pytest.fixture(scope="module")
def outcomes(results: Results) -> dict[str, Outcome]:
    criteria = Published.model_validate(results.frozen["published"]).criteria
    return {outcome.id: outcome for outcome in evaluate(criteria, results)}


def test_what_cannot_fail_is_no_result(outcomes: dict[str, Outcome]) -> None:
    identities = ("alone", "silent", "below", "link")
    assert {outcomes[name].grade for name in identities} == {"input or identity"}
    assert {outcomes[name].said for name in identities} == {"reproduced"}
    assert "A has at least the capacity of B" in outcomes["alone"].put_in
    assert "B has no capacity" in outcomes["silent"].put_in
    for name in ("pair", "busy", "lower", "band-met"):  # these could have failed
        assert outcomes[name].grade == "reproduced", name
    for name in ("alone-turned", "slow-link"):  # and what fails stays a failure
        assert outcomes[name].grade == "not reproduced", name


def test_a_direction_that_is_put_in_is_no_direction(outcomes: dict[str, Outcome]) -> None:
    assert outcomes["band-missed"].said == "direction only"
    assert outcomes["band-missed"].grade == "not reproduced"


def test_few_runs_are_preliminary_whatever_they_say(outcomes: dict[str, Outcome]) -> None:
    assert [outcomes[name].grade for name in ("few", "few-turned")] == ["preliminary"] * 2
    assert [outcomes[n].said for n in ("few", "few-turned")] == ["reproduced", "not reproduced"]


def test_what_holds_on_invented_rates_is_an_assumption(outcomes: dict[str, Outcome]) -> None:
    assert outcomes["invented-B"].grade == "assumption"
    assert "rates of B are assumed" in outcomes["invented-B"].put_in
    assert outcomes["known-A"].grade == "reproduced"
    assert outcomes["hangs"].grade == "assumption"
    assert "'slow' (not reproduced)" in outcomes["hangs"].put_in
    assert outcomes["hangs-not"].grade == "reproduced"


def test_an_artefact_is_as_good_as_its_weakest_criterion(outcomes: dict[str, Outcome]) -> None:
    artefacts = [
        Artefact(id="F1", text="all hold", criteria=("pair", "silent")),
        Artefact(id="F2", text="one fails", criteria=("busy", "alone-turned")),
        Artefact(id="F3", text="put in", criteria=("alone", "below")),
        Artefact(id="F4", text="few", criteria=("few*",)),
    ]
    found = graded(artefacts, list(outcomes.values()), {})
    assert [one.grade for one in found] == [
        "reproduced", "not reproduced", "input or identity", "preliminary",
    ]  # fmt: skip
    assert found[0].counts == {"reproduced": 1, "input or identity": 1}
    assert [one.runs for one in found] == [30, 30, 30, 29]
    assert found[3].said == "not reproduced"
    assert tally_words(tally(found)).startswith("1 reproduced, 1 not reproduced, 1 preliminary")
    (whole,) = graded([], list(outcomes.values()), {"f": "The figure"})
    assert (whole.id, whole.text, whole.grade) == ("f", "The figure", "not reproduced")


def test_caveats_say_what_the_report_stands_on(results: Results) -> None:
    panels = [results.panel(one) for one in _selections(results)]
    said = " ".join(caveats_of(results, panels))
    assert "All drives are synthetic" in said
    assert "29 drives where 30 are wanted" in said
    assert "never held against a kernel" in said


def _selections(results: Results) -> Any:
    from skyweave.report.page.summary import selections_of

    return selections_of(results)


@pytest.mark.parametrize(
    ("artefacts", "said"),
    [
        ([{"id": "F1", "text": "t", "criteria": ["nothing*"]}], "no criterion is called"),
        ([{"id": "F1", "text": "t", "criteria": ["b"]}] * 2, "stands there twice"),
        (
            [{"id": i, "text": "t", "criteria": ["b"]} for i in ("F1", "F2")],
            "belongs to several artefacts: F1, F2",
        ),
    ],
)
def test_artefacts_that_do_not_fit_are_refused(artefacts: list[Any], said: str) -> None:
    bound = FAST | {"id": "b", "figure": "f", "text": "t"}
    with pytest.raises(ValidationError, match=said):
        Published.model_validate({"criteria": [bound], "artefacts": artefacts})


def test_a_tie_does_not_lead() -> None:
    import numpy as np

    from skyweave.report.criteria.first_in_share import _leads

    assert not _leads(1.0)(np.array([[2.0], [2.0]]))[0]
    assert _leads(1.0)(np.array([[2.0], [1.0]]))[0]
    assert _leads(-1.0)(np.array([[1.0], [2.0]]))[0]
