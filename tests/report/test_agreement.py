"""Simulated runs are paired with live ones, and what they differ by is reported exactly."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import made_up
import polars as pl
import pytest
from fluid import tree
from made_up import FIGURE, STUDY

from skyweave.errors import ConfigError
from skyweave.model.record import EVENT_SCHEMA, SAMPLE_SCHEMA, Record
from skyweave.report.criteria.agreement import case_words
from skyweave.report.numbers.engines import (
    Case,
    Measured,
    compare,
    deviations,
    mean_of,
    measured,
)
from skyweave.report.page.render import Rendered, render_report
from skyweave.results.pathset import PathSet
from skyweave.study.language.labels import pairs_of


@pytest.fixture(autouse=True, scope="module")
def _fake_check() -> Any:
    """Stand in for ``skyweave.live.check``, which refuses nothing here."""
    package, check = ModuleType("skyweave.live"), ModuleType("skyweave.live.check")
    package.__path__ = []  # type: ignore[attr-defined]
    check.refusal = lambda run: None  # type: ignore[attr-defined]
    with pytest.MonkeyPatch.context() as patch:
        for module in (package, check):
            patch.setitem(sys.modules, module.__name__, module)
        yield


def record(rows: list[dict[str, Any]], duration_s: float = 1.0) -> Record:
    full = [dict.fromkeys(SAMPLE_SCHEMA) | {"connection": 0, "path": ""} | row for row in rows]
    samples = pl.DataFrame(full, schema=SAMPLE_SCHEMA)
    provenance = {"run": {"stop_after_s": duration_s, "sample_interval_ms": 100}}
    return Record(samples, pl.DataFrame(schema=EVENT_SCHEMA), {}, provenance)


def test_one_record_by_hand() -> None:
    rates = [0.0, 8.0, 0.0, 0.0, 0.0, 8.0, 8.0, None, 0.0, 4.0]
    rows = [{"time_s": (n + 1) / 10, "goodput_mbps": rate} for n, rate in enumerate(rates)]
    for n, srtt in enumerate((10.0, 20.0, 30.0, None)):
        rows += [
            {"time_s": n / 4, "path": "A", "srtt_ms": srtt, "delivered_bytes": 100.0 * n,
             "retransmitted_packets": float(n)},
            {"time_s": n / 4, "path": "B", "srtt_ms": None, "delivered_bytes": 50.0 if n else None},
        ]  # fmt: skip
    found = measured(record(rows))
    assert found.goodput_mbps == pytest.approx(2.8)
    assert found.shares == {"A": pytest.approx(300 / 350), "B": pytest.approx(50 / 350)}
    assert found.retransmitted_packets == 3
    assert found.stall_s == pytest.approx(0.3)
    assert (found.rtt_p50_ms, found.rtt_p95_ms) == (20, 29)


def test_a_record_that_tells_little() -> None:
    found = measured(record([{"time_s": n / 10, "goodput_mbps": 0.0} for n in range(1, 11)]))
    assert found == Measured(0.0, None, None, 1.0, None, None)


def test_the_stall_at_the_end_counts_and_that_before_the_first_delivery_does_not() -> None:
    rates = [0.0] * 5 + [1.0, 0.0, 0.0]
    rows = [{"time_s": (n + 1) / 10, "goodput_mbps": rate} for n, rate in enumerate(rates)]
    assert measured(record(rows)).stall_s == pytest.approx(0.2)
    other = [row | {"connection": 1, "goodput_mbps": 1.0} for row in rows[-1:]]
    assert measured(record(rows + other)).stall_s == pytest.approx(0.1)


def test_means_over_what_is_told() -> None:
    one = Measured(10.0, {"A": 1.0}, None, 1.0, 20.0, None)
    two = Measured(20.0, {"A": 0.5, "B": 0.5}, 6.0, 2.0, 40.0, None)
    assert mean_of([one, two]) == Measured(15.0, {"A": 0.75, "B": 0.25}, 6.0, 1.5, 30.0, None)


def test_pairs() -> None:
    def labels(engine: str, **more: Any) -> dict[str, Any]:
        return {"engine": engine, "drive": "d", "seed": 1, **more}

    runs = [
        ("a", labels("sim")), ("b", labels("live")), ("c", labels("sim", seed=2)),
        ("d", labels("live", loss=0.1)), ("e", labels("sim")), ("f", labels("live")),
    ]  # fmt: skip
    pairs, alone = pairs_of(runs)
    assert [(sim, live) for sim, live, _ in pairs] == [("a", "b"), ("e", "f")]
    assert alone == 2
    assert pairs[0][2] == {"drive": "d", "seed": 1}


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_up.run(tmp_path_factory.mktemp("two"), STUDY + FIGURE).store.out


@pytest.fixture(scope="module")
def rendered(out: Path) -> Rendered:
    return render_report(out)


@pytest.fixture(scope="module")
def summary(rendered: Rendered) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads((rendered.page.parent / "summary.json").read_text())
    return facts


def test_cases_in_file_order_with_exact_numbers(summary: dict[str, Any]) -> None:
    found = summary["engines"]
    assert (found["n_cases"], found["n_pairs"], found["unpaired_runs"]) == (12, 24, 0)
    cases = found["cases"]
    assert [case["drives"] for case in cases] == ["steady"] * 6 + ["gap"] * 6
    assert [(c["paths"], c["settings"]["congestion"]) for c in cases[:6]] == [
        (paths, control) for paths in ("SL", "VZ", "SL+VZ") for control in ("cubic", "bbr")
    ]
    ratios = [case["goodput_ratio"] for case in cases[:6]]
    assert ratios == pytest.approx([1 / r for r in (0.98, 1.02, 0.98, 1.02, 1.25, 0.8)])
    pair = cases[4]
    assert pair["sim"]["shares"] == {"SL": pytest.approx(0.8), "VZ": pytest.approx(0.2)}
    assert pair["live"]["shares"]["VZ"] == pytest.approx(20 / 60)
    assert pair["sim"]["retransmitted_packets"] == 10
    assert pair["live"]["retransmitted_packets"] == 40
    assert (pair["sim"]["rtt_p50_ms"], pair["sim"]["rtt_p95_ms"]) == (50, 100)
    assert (pair["live"]["rtt_p50_ms"], pair["live"]["rtt_p95_ms"]) == (25, 50)
    assert "engine" not in pair["settings"]
    off = sorted(2 * [abs(1 / r - 1) for r in (0.98, 1.02, 0.98, 1.02, 1.25, 0.8)])
    assert found["median_abs_deviation"] == pytest.approx((off[5] + off[6]) / 2)
    assert found["share_within_10_percent"] == pytest.approx(8 / 12)
    low, high = found["share_within_10_percent_interval"]
    assert low < 8 / 12 < high


def test_late_runs_are_flagged_and_kept(summary: dict[str, Any], rendered: Rendered) -> None:
    flagged = summary["flagged_runs"]
    assert len(flagged) == 12
    assert {run["seed"] for run in flagged} == {2}
    assert {run["lateness_p99_ms"] for run in flagged} == {3.0}
    assert (summary["live_runs"], summary["kernels"]) == (24, ["6.18.5"])
    assert (summary["engines_used"], summary["live_sources"]) == (["sim", "live"], ["own"])
    assert [case["flagged"] for case in summary["engines"]["cases"]] == [1] * 12
    page = rendered.page.read_text()
    assert "<b>12 of 24 live runs are flagged.</b>" in page
    assert "SL down on steady-2, seed 2 (tcp, cubic): p99 3.0 ms late" in page


def test_the_page_tells(rendered: Rendered) -> None:
    page = rendered.page.read_text()
    assert "Simulator against Linux" in page
    assert "24 pairs in\n12 cases" in page
    assert "simulator (virtual time), live (Linux, real time)" in page
    assert "6.18.5" in page
    assert "SL 80 / 67<br>VZ 20 / 33" in page
    assert 'aria-label="Sim &amp; live"' in page
    assert len(rendered.panels) == 2 * 2 * 2


def test_the_report_again_is_byte_identical(out: Path, rendered: Rendered) -> None:
    before = tree(out)
    assert {"figures/agree.svg", "figures/agree.png"} <= set(before)
    assert "goodput, simulated ÷ live" in before["figures/agree.svg"].decode()
    render_report(out)
    assert tree(out) == before


def test_case_words() -> None:
    one = Measured(1.0, None, None, 0.0, None, None)
    settings = {
        "congestion": "bbr", "send_buffer_mb": 4.0, "receive_buffer_mb": 4.0, "queue": "infinite",
        "loss": "path", "flows": "one",
    }  # fmt: skip
    case = Case("d", "down", PathSet("SL"), "tcp", settings, (("x", 1),), one, one, 0)
    both = replace(case, paths=PathSet("SL+VZ"), transport="mptcp")
    big = replace(case, settings=settings | {"send_buffer_mb": 8.0, "receive_buffer_mb": 8.0})
    assert case_words([case, both]) == ["SL", "SL+VZ"]
    assert case_words([case, big]) == ["SL, buffer 4 MB", "SL, buffer 8 MB"]
    lossy = replace(both, settings=settings | {"loss": 0.01, "congestion": "cubic"})
    assert case_words([both, lossy]) == ["SL+VZ, bbr, loss path", "SL+VZ, cubic, loss 0.01"]
    assert case.ratio == 1
    silent = replace(case, live=replace(one, goodput_mbps=0.0))
    assert silent.ratio == 1000
    assert replace(silent, sim=silent.live).ratio == 1


CRITERION = '[[criteria]]\nid = "{id}"\nfigure = "agree"\nkind = "agreement"\ntext = "t"\n{more}\n'


def graded(folder: Path, *more: str, **changed: Any) -> list[Any]:
    blocks = [CRITERION.format(id=f"c{n}", more=one) for n, one in enumerate(more)]
    folder.mkdir(exist_ok=True)
    (folder / "p.toml").write_text("\n".join(blocks))
    study = STUDY + '\n[report]\npublished = "p.toml"\nbootstrap = 200\n' + FIGURE
    made_up.run(folder, study, **changed)
    return render_report(folder / "out").outcomes


def test_agreement_is_graded(tmp_path: Path) -> None:
    yes, loose, no, share, few, one = graded(
        tmp_path,
        'measure = "median"\nrelation = "<="\nlimit = 0.3',
        'measure = "median"\nrelation = "<="\nlimit = 0.03',
        'relation = "<="\nlimit = 0.01',
        'measure = "share_within"\nwithin = 0.1\nrelation = ">="\nlimit = 0.2',
        'measure = "share_within"\nwithin = 0.021\nrelation = ">="\nlimit = 0.9',
        'drives = "gap"\ncells = ["SL"]\nwhere = { congestion = "bbr" }\n'
        'relation = "<="\nlimit = 1',
    )
    assert yes.said == "reproduced"
    assert loose.said == "direction only"  # the interval over cases reaches 20 %
    assert no.said == "not reproduced"
    assert yes.ours.startswith("median |sim ÷ live \N{MINUS SIGN} 1|: 2 % [")
    assert yes.ours.endswith("over 12 cases")
    assert (share.said, few.said) == ("reproduced", "not reproduced")
    assert share.values["cases within ±10.0 %"][0] == pytest.approx(8 / 12)
    assert (yes.samples, yes.drives, yes.seeds) == (24, 4, "seeds 1 to 2")
    assert "12 of its live runs are flagged" in yes.note
    assert one.ours == "median |sim ÷ live \N{MINUS SIGN} 1|: 2 % over 1 cases"
    assert one.said == "direction only"  # one case has no interval


def test_retransmissions_and_stalls_are_graded_by_themselves(tmp_path: Path) -> None:
    """Made up: 10 packets retransmitted in the simulator, 40 live."""
    again, stalls = graded(
        tmp_path,
        'quantity = "retransmissions"\ncells = ["SL+VZ"]\nrelation = "<="\nlimit = 0.1',
        'quantity = "longest_stall_s"\nrelation = "<="\nlimit = 0.1',
    )
    assert again.ours.startswith(
        "median |sim ÷ live \N{MINUS SIGN} 1| of packets sent again: 75.0 %"
    )
    assert again.ours.endswith("over 4 cases")
    assert again.said == "not reproduced"
    assert "of longest wait of the application (s): " in stalls.ours


def test_what_little_is_worth() -> None:
    """A few packets, or two samples, are no deviation; what is not recorded is none at all."""
    sim = Measured(1.0, None, 8.0, 0.1, None, None)
    live = Measured(1.0, None, 10.0, 0.0, None, None)
    case = Case("d", "down", "SL", "tcp", {}, (("x", 1),), sim, live, 0)
    assert case.apart("retransmissions") == pytest.approx(2 / 20)
    assert case.apart("longest_stall_s") == pytest.approx(0.1 / 0.5)
    assert case.apart("goodput") == 0
    unknown = replace(case, live=replace(live, retransmitted_packets=None))
    assert unknown.apart("retransmissions") is None
    assert deviations([case, unknown], "retransmissions") == [pytest.approx(0.1)]


def test_one_engine_alone_leaves_it_untested_and_says_so(tmp_path: Path) -> None:
    (found,) = graded(tmp_path, 'relation = "<="\nlimit = 0.3', engine_name="sim")
    assert found.said == "not attempted"
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Figure &#39;agree&#39; was left out: it compares engines" in page
    assert "Simulator against Linux" not in page
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["engines"] is None


def test_live_alone_is_an_ordinary_study(tmp_path: Path) -> None:
    text = STUDY.replace("seeds = 2", "seeds = 1").replace('["sim", "live"]', '"live"')
    text = text.replace('["cubic", "bbr"]', '"bbr"')
    result = made_up.run(tmp_path, text)
    assert compare(result).cases == []
    assert compare(result).unpaired == 6
    assert render_report(tmp_path / "out").answers


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('where = { engine = "live" }', "unknown setting 'engine'"),
        ('where = { mode = "v0.96" }\ncells = ["SL+VZ"]', "no simulated run has a live one"),
        ('cells = ["SX"]', "no run of path set 'SX'"),
        ('drives = "gapp"', "unknown drives 'gapp': did you mean 'gap'"),
        ('by = "congestion"', "by belongs to kind"),
        ('direction = "sideways"', "'down' or 'up'"),
    ],
)
def test_bad_figures(tmp_path: Path, more: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        made_up.run(tmp_path, STUDY + FIGURE + more + "\n")
    assert said in str(caught.value)


def test_other_kinds_have_one_direction(tmp_path: Path) -> None:
    figure = FIGURE.replace('"engines"', '"boxes"\ndrives = "gap"\ndirection = "all"')
    with pytest.raises(ConfigError, match=r"study.toml:\d+: direction is 'down' or 'up' here"):
        made_up.run(tmp_path, STUDY + figure)


def test_every_figure_and_criterion_by_engine(tmp_path: Path) -> None:
    figures = "".join(
        f'\n[[figures]]\nid = "f{n}"\ntitle = "t"\ndrives = "gap"\nkind = {more}\n'
        for n, more in enumerate(
            (
                '"settings"\nby = "engine"\nwhere = { congestion = "bbr" }',
                '"distribution"\nquantity = "srtt_ms"\nby = "engine"\n'
                'where = { congestion = "bbr" }',
                '"boxes"\nwhere = { congestion = "bbr", engine = "live" }',
                '"cdf"\nwhere = { congestion = "bbr", engine = "live" }',
                '"outage"\nwhere = { congestion = "bbr", engine = "live" }',
                '"timeline"\nwhere = { congestion = "bbr", engine = "live" }',
            )
        )
    )
    made_up.run(tmp_path, STUDY + figures)
    render_report(tmp_path / "out")
    svg = (tmp_path / "out" / "figures" / "f0.svg").read_text()
    assert ">sim<" in svg
    assert ">live<" in svg


def test_a_live_run_that_does_not_say_how_late_it_was(tmp_path: Path) -> None:
    def silent(run: Any) -> Record:
        done = made_up.live(run)
        return replace(done, provenance={"engine": "live"})

    made_up.run(tmp_path, STUDY.replace("seeds = 2", "seeds = 1"), live=silent)
    render_report(tmp_path / "out")
    facts = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert {run["lateness_p99_ms"] for run in facts["flagged_runs"]} == {None}
    assert facts["kernels"] == ["not recorded"]
    assert "lateness not recorded" in (tmp_path / "out" / "report.html").read_text()
