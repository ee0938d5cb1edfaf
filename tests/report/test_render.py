"""A report is one deterministic page that needs nothing from outside and fits both schemes."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from fluid import SMALL, options, tree

from skyweave.errors import ResultsError
from skyweave.plotting.style import DARK, LIGHT, inline_svg
from skyweave.plotting.words import mbps, percent, seeds_text
from skyweave.report.page.render import Rendered, render_report
from skyweave.study.run.session import run_study

STUDY = (
    SMALL
    + """
direction = ["down", "up"]

[report]
published = "published.toml"
contradictions = ["The paper says <b>two</b> things & a third."]

[[figures]]
id = "boxes"
title = 'Boxes & "marks"'
drives = "alaska"

[[figures]]
id = "line"
title = "Line"
kind = "timeline"
drives = "alaska"

[[figures]]
id = "gaps"
title = "Gaps"
kind = "outage"
drives = "alaska"
direction = "up"

[[figures]]
id = "shares"
title = "Shares"
kind = "cdf"
drives = "alaska"
"""
)
PUBLISHED = """
citation = "A paper"
[[values]]
figure = "boxes"
cell = "SL"
statistic = "median"
value = 64.0

[[criteria]]
id = "order"
figure = "boxes"
kind = "ordering"
text = "Both beat one"
drives = "alaska"
cells = ["SL+VZ", "SL"]
relations = [">"]

[[criteria]]
id = "wrong"
figure = "boxes"
kind = "ordering"
text = "One beats both"
drives = "alaska"
cells = ["VZ", "SL+VZ"]
relations = [">"]
note = "This cannot be."

[[criteria]]
id = "ratio"
figure = "boxes"
kind = "ratio"
text = "A ratio"
drives = "alaska"
numerator = "SL+VZ"
denominator = "SL"
band = [100.0, 200.0]
published = 150.0

[[criteria]]
id = "bound"
figure = "boxes"
kind = "bound"
text = "Little is left"
drives = "alaska"
cells = ["SL+VZ"]
quantity = "sum_minus_bonded"
statistic = "mean"
relation = "<="
limit = 1.0
capacity_at_most_mbps = 1.0
otherwise_share_of_sum = 0.05

[[criteria]]
id = "value"
figure = "boxes"
kind = "value"
text = "A value"
drives = "alaska"
cell = "SL"
published = 1.0

[[criteria]]
id = "rank"
figure = "boxes"
kind = "rank-correlation"
text = "A rank"
drives = "alaska"

[[criteria]]
id = "exact"
figure = "boxes"
kind = "identity"
text = "Max is at most Sum"
drives = "alaska"
identity = "max<=sum"

[[criteria]]
id = "exact-oracle"
figure = "boxes"
kind = "identity"
text = "So is the oracle"
drives = "alaska"
identity = "oracle<=sum"

[[criteria]]
id = "exact-outage"
figure = "gaps"
kind = "identity"
text = "Both at once is rarer"
drives = "alaska"
direction = "up"
identity = "concurrent<=each"
"""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    (folder / "study.toml").write_text(STUDY)
    (folder / "published.toml").write_text(PUBLISHED)
    run_study(folder / "study.toml", options(folder / "out"))
    return folder / "out"


@pytest.fixture(scope="module")
def rendered(out: Path) -> Rendered:
    return render_report(out)


@pytest.fixture(scope="module")
def page(rendered: Rendered) -> str:
    return rendered.page.read_text()


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br", "link", "img"):
            self.open.append(tag)
        for name, value in attrs:
            self.attributes.append((tag, name, value or ""))
            if name == "id":
                self.ids.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_page_is_well_formed_and_self_contained(page: str) -> None:
    parser = _Page()
    parser.feed(page)
    assert not parser.open
    assert len(parser.ids) == len(set(parser.ids))
    for tag, name, value in parser.attributes:
        assert tag not in ("script", "link", "img", "iframe"), tag
        if name in ("src", "href", "xlink:href"):
            assert value.startswith("#"), value
            assert value[1:] in parser.ids
    assert "http://" not in page
    assert "https://" not in page
    assert "@import" not in page
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", page))


def test_page_fits_light_and_dark(page: str) -> None:
    assert "prefers-color-scheme: dark" in page
    assert set(LIGHT) == set(DARK)
    assert len(set(LIGHT.values())) == len(LIGHT)
    for role in LIGHT:
        assert page.count(f"--{role}:") == 2, role
    drawings = page[page.index("<svg") :]
    drawings = "".join(re.findall(r"<svg.*?</svg>", drawings, flags=re.DOTALL))
    assert "var(--ink)" in drawings
    assert not set(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", drawings)), "a fixed colour"


def test_page_says_what_it_must(page: str, rendered: Rendered) -> None:
    assert "What would bonding give my users" in page
    assert rendered.answers[0].sentence.split(" together")[0].replace("+", "+") in page
    assert "All drives are synthetic" in page
    settings = page[page.index("Settings of all runs") : page.index('id="provenance"')]
    row = re.search(r"<th scope=.row.>congestion</th><td>bbr</td>\s*<td>(.*?)</td>", settings)
    other = re.search(r"<th scope=.row.>reverse</th><td>trace</td>\s*<td>(.*?)</td>", settings)
    assert row is not None
    assert other is not None
    assert (row[1], other[1]) == ("<b>chosen</b>", "default")
    assert "One beats both" in page
    assert "This cannot be." in page
    assert "&lt;b&gt;two&lt;/b&gt; things &amp; a third" in page
    assert "seeds 1 to 2" in page
    assert "A paper" in page


def test_grades_cover_all_kinds(rendered: Rendered) -> None:
    grades = {outcome.id: outcome.said for outcome in rendered.outcomes}
    assert grades["wrong"] == "not reproduced"
    assert grades["value"] == "not reproduced"
    assert grades["bound"] == "reproduced"
    assert grades["ratio"] in ("direction only", "reproduced")
    assert all(grades[name] == "reproduced" for name in grades if name.startswith("exact"))
    bound = next(o for o in rendered.outcomes if o.id == "bound")
    assert "share of Sum is used" in bound.note


def test_summary_is_for_programs(out: Path, rendered: Rendered) -> None:
    facts = json.loads((rendered.page.parent / "summary.json").read_text())
    assert facts["schema"] == 1
    assert facts["runs"] == 12
    assert [panel["direction"] for panel in facts["panels"]] == ["down", "up"]
    pair = facts["panels"][0]["path_sets"]["SL+VZ"]
    assert pair["goodput_mbps"]["median"]["low"] <= pair["goodput_mbps"]["median"]["value"]
    assert 0 <= pair["concurrent_outage_share"]["zero"] <= 1
    assert sum(facts["grades"].values()) == len(facts["criteria"]) == 9
    assert "NaN" not in (out / "summary.json").read_text()


def test_report_again_is_byte_identical(out: Path, rendered: Rendered) -> None:
    assert rendered.page.exists()
    before = tree(out)
    assert {"figures/boxes.svg", "figures/boxes.png", "report.html"} <= set(before)
    render_report(out)
    assert tree(out) == before


def test_who_makes_a_report_hears_of_each_figure(out: Path, rendered: Rendered) -> None:
    heard: list[tuple[int, int]] = []
    render_report(out, lambda done, figures: heard.append((done, figures)))
    figures = len(list((out / "figures").glob("*.svg")))
    assert rendered.page.exists()
    assert heard[-1] == (heard[0][1], heard[0][1])
    assert [done for done, _ in heard] == list(range(heard[0][1] + 1))
    assert figures <= heard[0][1]


def test_standard_figures_can_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(SMALL + "[report]\nauto_figures = false\n")
    run_study(tmp_path / "study.toml", options(tmp_path / "out"))
    render_report(tmp_path / "out")
    assert not (tmp_path / "out" / "figures").exists()


def test_settings_figure(tmp_path: Path) -> None:
    text = SMALL.replace('"bbr"', '["bbr", "cubic"]')
    text += '\n[[figures]]\nid = "cc"\ntitle = "CC"\nkind = "settings"\nby = "congestion"\n'
    (tmp_path / "study.toml").write_text(text + 'drives = "alaska"\n')
    run_study(tmp_path / "study.toml", options(tmp_path / "out"))
    found = render_report(tmp_path / "out")
    assert len(found.panels) == 2
    svg = (tmp_path / "out" / "figures" / "cc.svg").read_text()
    assert ">bbr<" in svg
    assert ">cubic<" in svg


def test_contrast_between_groups(tmp_path: Path) -> None:
    other = '[[drives]]\nname = "hawaii"\npreset = "hawaii"\nseeds = 2\nduration_s = 10\n'
    text = SMALL.replace("[paths.SL]", other + "\n[paths.SL]", 1)
    (tmp_path / "study.toml").write_text(text + '\n[report]\npublished = "p.toml"\n')
    criterion = '[[criteria]]\nid = "c"\nfigure = "f"\nkind = "contrast"\ntext = "t"\n'
    (tmp_path / "p.toml").write_text(criterion + 'drives = "hawaii"\nthan = "alaska"\n')
    run_study(tmp_path / "study.toml", options(tmp_path / "out"))
    outcome = render_report(tmp_path / "out").outcomes[0]
    assert "hawaii" in outcome.ours
    assert "alaska" in outcome.ours


def test_no_results_and_broken_record(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="holds no results"):
        render_report(tmp_path)
    (tmp_path / "study.toml").write_text(SMALL)
    prepared = run_study(tmp_path / "study.toml", options(tmp_path / "out"))
    record = tmp_path / "out" / "records" / prepared.jobs[0].key / "samples.parquet"
    record.write_bytes(b"not parquet")
    with pytest.raises(ResultsError, match=r"samples.parquet: is damaged"):
        render_report(tmp_path / "out")


def test_words() -> None:
    assert [mbps(v) for v in (0.0, 1.24, 9.94, 9.96, 123.4)] == ["0.0", "1.2", "9.9", "10", "123"]
    assert [percent(v) for v in (0, 0.0004, 0.034, 0.25)] == ["0 %", "0.04 %", "3.4 %", "25 %"]
    assert seeds_text([3, 1, 2]) == "seeds 1 to 3"


def test_inline_svg_renames_what_could_collide() -> None:
    svg = '<?xml?><svg width="9pt" height="8pt" xmlns:xlink="x"><metadata>m</metadata>'
    svg += '<g id="a" clip-path="url(#b)"><use xlink:href="#a" style="fill: #1d2433"/></g></svg>'
    found = inline_svg(svg, "T", "p")
    assert found.startswith('<svg role="img" aria-label="T">')
    assert 'id="p-a" clip-path="url(#p-b)"' in found
    assert '<use href="#p-a" style="fill: var(--ink)"/>' in found


def test_one_sample_can_be_one_drive(tmp_path: Path) -> None:
    by_bin, by_drive = (
        _summary(tmp_path / unit, SMALL + f'\n[report]\nunit = "{unit}"\n')
        for unit in ("bin", "drive")
    )
    assert by_drive["panels"][0]["n_samples"] == by_drive["panels"][0]["n_drives"] == 2
    assert by_bin["panels"][0]["n_samples"] == 2 * 10
    sets = [panel["panels"][0]["path_sets"]["SL"]["goodput_mbps"] for panel in (by_bin, by_drive)]
    assert sets[0]["mean"]["value"] == pytest.approx(sets[1]["mean"]["value"])
    assert sets[0]["p95"]["value"] > sets[1]["p95"]["value"]


def _summary(folder: Path, text: str) -> dict[str, Any]:
    folder.mkdir()
    file = folder / "study.toml"
    file.write_text(text)
    run_study(file, options(folder / "out"))
    render_report(folder / "out")
    found: dict[str, Any] = json.loads((folder / "out" / "summary.json").read_text())
    return found
