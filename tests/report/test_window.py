"""Criteria on a stretch of time, ramps of new paths and the figure of paths, by hand."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from fluid import options
from test_across import toml

from skyweave.errors import ConfigError, ResultsError
from skyweave.model import config
from skyweave.model.record import EVENT_SCHEMA, SAMPLE_SCHEMA, Record
from skyweave.model.windows import UpWindow
from skyweave.report.criteria.evaluate import evaluate
from skyweave.report.numbers.panel import Results
from skyweave.report.numbers.ramp import carried_mbps, ramps_s
from skyweave.report.numbers.recovery import recoveries_s
from skyweave.report.numbers.run_totals import run_totals
from skyweave.report.page.render import render_report
from skyweave.study.language.criteria import Published
from skyweave.study.run.session import run_study

STUDY = """
[study]
name = "stretch"
title = "Two links"
[[drives]]
name = "two"
seeds = 2
duration_s = 8
[drives.links.A]
downlink_mbps = 8
uplink_mbps = 8
rtt_ms = 40
[drives.links.B]
downlink_mbps = 4
uplink_mbps = 4
rtt_ms = 40
outages = [{ start_s = 4, end_s = 6 }]
[paths.A]
rtt_ms = "trace"
[paths.B]
rtt_ms = "trace"
[settings]
transport = "mpquic"
sample_interval_ms = 50
[report]
published = "p.toml"
bootstrap = 200
[[compare]]
paths = ["A+B"]
"""
TIMES = np.arange(1, 161) * 0.05


def made(run: config.Run) -> Record:
    """A delivers 6 Mbit/s, 9 from 1 to 1.25 s; B 4 until 4 s, and 2 from 6.2 (seed 1) or 6.4 s on.

    The application receives 10, 6 and 8 Mbit/s before 4, 6 and 8 s, and waits once for 1 s.
    """
    again = 6.0 + 0.2 * run.seed
    middle = TIMES - 0.025
    rates = {
        "A": np.where((middle > 1) & (middle < 1.25), 9.0, 6.0),
        "B": np.where(middle < 4, 4.0, np.where(middle > again, 2.0, 0.0)),
    }
    used = [path.name for path in run.paths]
    frames = [
        rows(name, delivered_bytes=np.cumsum(rates[name] * 0.05 / 8e-6).tolist()) for name in used
    ]
    frames.append(rows("", goodput_mbps=np.select([middle < 4, middle < 6], [10.0, 6.0], 8.0)))
    events = [(0.04, 0, used[0], "established"), (0.08, 0, used[-1], "established")]
    totals: dict[str, Any] = {
        "simulated_s": 8.0,
        "link_packets": 1,
        "connections": [{"longest_stall_s": 1.0 * run.seed}],
    }
    return Record(pl.concat(frames), happened(*events[: len(used)]), totals, {"engine": "made"})


def rows(path: str, times: Any = TIMES, **values: Any) -> pl.DataFrame:
    columns: dict[str, Any] = {name: [None] * len(times) for name in SAMPLE_SCHEMA}
    columns |= {"time_s": times, "connection": [0] * len(times), "path": [path] * len(times)}
    return pl.DataFrame(columns | values, schema=SAMPLE_SCHEMA)


def happened(*events: tuple[float, int, str, str]) -> pl.DataFrame:
    return pl.DataFrame([(*one, None) for one in events], schema=EVENT_SCHEMA, orient="row")


def run(folder: Path, *criteria: dict[str, Any], study: str = STUDY) -> Path:
    """Run the study on the made-up engine; return its results folder."""
    usual = {
        "id": "c", "figure": "f", "text": "t", "drives": "two", "kind": "window", "cells": ["A+B"],
        "relation": ">=", "limit": 0.5,
    }  # fmt: skip
    blocks = [
        "[[criteria]]\n" + "".join(f"{k} = {toml(v)}\n" for k, v in (usual | one).items())
        for one in criteria
    ]
    folder.mkdir(exist_ok=True)
    (folder / "p.toml").write_text("\n".join(blocks))
    (folder / "study.toml").write_text(study)
    run_study(folder / "study.toml", options(folder / "out", engine=made))
    return folder / "out"


def graded(folder: Path, *criteria: dict[str, Any], study: str = STUDY) -> list[dict[str, Any]]:
    results = Results(run(folder, *criteria, study=study))
    published = Published.model_validate(results.frozen["published"])
    return [asdict(outcome) for outcome in evaluate(published.criteria, results)]


def value(outcome: dict[str, Any]) -> Any:
    ((found, _, _),) = outcome["values"].values()
    return found


def test_each_measure_by_hand(tmp_path: Path) -> None:
    of_b = {"path": "B", "measure": "delivered_mbps"}
    both, one, peak, silent, a, resumed = graded(
        tmp_path,
        {"between_s": [0, 4]},
        {"between_s": [4, 6], "relation": ">", "limit": 0.75},
        {"between_s": [0, 8], "measure": "peak", "relation": "<=", "limit": 1.0},
        of_b | {"between_s": [4.25, 6], "relation": "<=", "limit": 0.0},
        {"path": "A", "measure": "delivered_mbps", "between_s": [0, 8], "limit": 6.09},
        {"path": "B", "measure": "resumed_after_s", "between_s": [6, 8], "relation": "<=",
         "limit": 0.42},
    )  # fmt: skip
    assert value(both) == pytest.approx(10 / 12)
    assert both["said"] == "reproduced"
    assert "83.3 %" in both["ours"]
    assert both["band"] == "≥ 50.0 %"
    assert value(one) == pytest.approx(6 / 8)  # the capacity of an outage is 0
    assert one["said"] == "not reproduced"
    assert value(peak) == pytest.approx((9 + 4) / 12)
    assert peak["said"] == "not reproduced"
    assert (value(silent), silent["said"]) == (0, "reproduced")
    assert value(a) == pytest.approx(6 + 3 * 0.25 / 8)
    assert value(resumed) == pytest.approx((0.25 + 0.45) / 2)
    assert resumed["said"] == "direction only"  # one of two seeds takes 0.45 s


def test_a_path_that_does_not_resume_takes_for_ever(tmp_path: Path) -> None:
    of_b = {"path": "B", "measure": "resumed_after_s", "relation": "<=", "limit": 9.0}
    (never,) = graded(tmp_path, of_b | {"between_s": [4.1, 6.1]})
    assert (value(never), never["said"]) == (None, "not reproduced")
    assert "∞" in never["ours"]


def test_no_capacity_is_no_share(tmp_path: Path) -> None:
    alone = STUDY.replace('"A+B"', '"B"')
    one = {"between_s": [4, 6], "cells": ["B"]}
    for found in graded(tmp_path, one, one | {"measure": "peak"}, study=alone):
        assert (value(found), found["said"]) == (None, "not reproduced")


def test_runs_of_the_panel_are_measured(tmp_path: Path) -> None:
    """A path alone is measured with TCP where both were run: one record for each drive."""
    both = STUDY.replace('"mpquic"', '["tcp", "mpquic"]').replace('"A+B"', '"A"')
    (found,) = graded(tmp_path, {"between_s": [4, 8], "cells": ["A"]}, study=both)
    assert value(found) == pytest.approx(7 / 8)
    assert found["drives"] == 2


@pytest.mark.parametrize(
    ("criterion", "said"),
    [
        ({"between_s": [4, 2]}, r"p.toml:10: between_s is \[from, to\] in seconds, from before to"),
        ({"between_s": [-1, 2]}, "from before to"),
        ({"between_s": [0, 2.1]}, "whole quarters of a second"),
        ({"between_s": [0, 2], "path": "A"}, "'utilisation' is of the whole set: remove path"),
        ({"between_s": [0, 2], "measure": "delivered_mbps"}, "is of one path: add path ="),
        ({"between_s": [0, 2], "measure": "resumed_after_s"}, "is of one path: add path ="),
        ({"between_s": [0, 2], "measure": "peaks"}, "'peak'"),
        ({"between_s": [0, 2], "cells": ["A+C"]}, r"no run of path set 'A\+C': did you mean 'A\+B"),
        ({"between_s": [0, 2], "cells": ["A", "B"]}, "at most 1"),
        (
            {"between_s": [0, 2], "path": "C", "measure": "delivered_mbps"},
            "criterion 'c': unknown path 'C': known are A, B",
        ),
    ],
)
def test_mistakes_are_refused(tmp_path: Path, criterion: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        run(tmp_path, criterion)


def test_a_stretch_beyond_the_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="between_s ends at 9 s, but its runs last 8 s"):
        graded(tmp_path, {"between_s": [6, 9]})


def test_quantities_of_a_run(tmp_path: Path) -> None:
    bound = {"kind": "bound", "statistic": "mean"}
    used, waited = graded(
        tmp_path,
        bound | {"quantity": "utilisation"},
        bound | {"quantity": "longest_stall_s"},
    )
    assert value(used) == pytest.approx((4 * 10 + 2 * 6 + 2 * 8) / (4 * 12 + 2 * 8 + 2 * 12))
    assert value(waited) == pytest.approx((1 + 2) / 2)
    stalls = [{"longest_stall_s": 1.5}, {"longest_stall_s": 2.0}, {"longest_stall_s": None}, {}]
    assert run_totals({"connections": stalls}, "down", {})["longest_stall_s"].tolist() == [2.0]


def link(mbps: float) -> config.Link:
    return config.Link(capacity=config.ConstantRate(mbps=mbps), delay=config.ConstantDelay(ms=20))


def paths(**present: tuple[float, float | None]) -> list[dict[str, Any]]:
    """Paths of 8 Mbit/s that are there in a window each."""
    return [
        config.Path(
            name=name, down=link(8), up=link(8),
            present=(UpWindow(start_s=window[0], end_s=window[1]),),
        ).model_dump()
        for name, window in present.items()
    ]  # fmt: skip


def test_ramps() -> None:
    """The second path has less than half of its 8 Mbit/s until 3 s, and comes again to no end."""
    times = [2.0, 2.5, 3.0, 5.0, 8.0]
    second = rows("B", times, delivered_bytes=np.cumsum([0, 0, 0.5 * 3.9, 2 * 4.0, 0]) / 8e-6)
    first = rows("A", times, delivered_bytes=np.cumsum([2, 0.5, 0.5, 2, 3]) * 8 / 8e-6)
    other = first.with_columns(pl.lit(1, dtype=pl.Int32).alias("connection"))
    events = happened(
        (0.04, 0, "A", "established"),
        (0.05, 1, "A", "established"),
        (2.05, 0, "B", "established"),
        (4.1, 0, "A", "established"),
        (5.0, 0, "B", "closed"),
        (6.1, 0, "B", "established"),
    )
    record = Record(pl.concat([first, other, second]), events, {"simulated_s": 8.0}, {})
    assert carried_mbps(record, "B", 8.0)[8:16].tolist() == pytest.approx(
        [0, 0, 3.9, 3.9, 4, 4, 4, 4]
    )
    both = paths(A=(0, None), B=(2, None))
    assert ramps_s(record, both, "down") == pytest.approx([4.5 - 4.1, 3.25 - 2.05, np.inf])
    gone = events.with_columns(pl.col("time_s").replace(5.0, 2.9))
    left = Record(record.samples, gone, record.totals, {})
    assert ramps_s(left, both[1:], "down").tolist() == [np.inf, np.inf]


def test_recoveries() -> None:
    """Dark from 2 to 3 s, from 4 to 5 s and from 8 to 9 s; probes alone are no data."""
    times = [1.0, 2.0, 3.0, 3.5, 4.0, 5.0, 5.25, 5.5, 9.0, 10.0, 12.0]
    sent = [9000, 0, 0, 3000, 9000, 0, 100, 0, 0, 0, 0]
    samples = rows("A", times, delivered_bytes=np.cumsum(sent).astype(float))
    outages = [{"start_s": a, "end_s": a + 1} for a in (2.0, 4.0, 8.0)]
    path = {"name": "A", "down": {"outages": outages}, "up": {"outages": []}}
    record = Record(samples, happened(), {"simulated_s": 12.0}, {})
    assert recoveries_s(record, [path], "down").tolist() == [0.5, np.inf, np.inf]
    short = Record(samples, happened(), {"simulated_s": 11.5}, {})
    assert recoveries_s(short, [path], "down").tolist() == [0.5, np.inf]
    assert recoveries_s(record, [path], "up").tolist() == []


def test_a_ratio_of_another_quantity_than_goodput(tmp_path: Path) -> None:
    study = STUDY.replace('["A+B"]', '["A", "A+B"]')
    out = run(tmp_path, study=study)
    published = {
        "id": "r", "figure": "f", "text": "t", "drives": "two", "kind": "ratio", "numerator": "A",
        "denominator": "A+B", "quantity": "utilisation", "statistic": "mean", "band": [1.3, 1.5],
        "published": 1.4,
    }  # fmt: skip
    criteria = Published.model_validate({"criteria": [published]}).criteria
    (found,) = evaluate(criteria, Results(out))
    assert value(asdict(found)) == pytest.approx((68 / 64) / (68 / 88))
    assert found.said == "reproduced"


def test_ramps_of_a_study(tmp_path: Path) -> None:
    late = {"kind": "bound", "quantity": "ramp_s", "statistic": "max", "relation": "<"}
    (found,) = graded(tmp_path, late | {"limit": 0.43})
    assert value(found) == pytest.approx(0.5 - 0.08)  # the bin from 0.25 s is the first whole one
    assert found["said"] == "reproduced"


FIGURE = """
[[figures]]
id = "each"
title = "Each path"
kind = "paths"
drives = "two"
"""


def test_figure_of_paths(tmp_path: Path) -> None:
    figures = FIGURE + 'cells = ["A+B"]\n' + FIGURE.replace("each", "alone") + 'cells = ["B"]\n'
    study = STUDY.replace('["A+B"]', '["B", "A+B"]') + figures
    out = run(tmp_path, study=study)
    rendered = render_report(out)
    both, alone = ((out / "figures" / f"{one}.svg").read_text() for one in ("each", "alone"))
    for drawn in ("capacity", "delivered", "established", "(Mbit/s)", "A", "B", "all"):
        assert f">{drawn}<" in both, drawn
    assert ">B<" in alone
    assert ">A<" not in alone
    assert ">all<" not in alone
    assert [one.count('id="axes_') for one in (both, alone)] == [3, 1]
    assert (out / "figures" / "each.png").read_bytes()[:4] == b"\x89PNG"
    assert "Each path" in rendered.page.read_text()


def test_figure_of_paths_takes_the_bonded_set(tmp_path: Path) -> None:
    out = run(tmp_path, study=STUDY.replace('["A+B"]', '["B", "A+B"]') + FIGURE)
    render_report(out)
    assert ">all<" in (out / "figures" / "each.svg").read_text()
    bad = FIGURE + 'cells = ["A+C"]\n'
    with pytest.raises(ConfigError, match=r"figure 'each': no run of path set 'A\+C'"):
        run(tmp_path / "bad", study=STUDY + bad)
    with pytest.raises(ConfigError, match="quantity belongs to kind"):
        run(tmp_path / "bad", study=STUDY + FIGURE + 'quantity = "goodput"\n')
