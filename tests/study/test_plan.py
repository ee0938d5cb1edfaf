"""A study file is checked, and each mistake is named with file, line and remedy."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fluid import SMALL, options
from hypothesis import given
from hypothesis import strategies as st

from skyweave.errors import ConfigError, DataError, SkyweaveError, suggest
from skyweave.model import config
from skyweave.model.record import Record
from skyweave.model.toml_lines import line_of
from skyweave.study.language.plan import load_plan, load_published
from skyweave.study.run.session import StudyOptions, prepare


def write(folder: Path, text: str) -> Path:
    file = folder / "study.toml"
    file.write_text(text)
    return file


def line_with(text: str, part: str) -> int:
    return next(n for n, line in enumerate(text.splitlines(), 1) if part in line)


def changed(old: str, new: str) -> str:
    assert old in SMALL
    return SMALL.replace(old, new, 1)


MISTAKES = [
    (changed("congestion =", "congestoin ="), "congestoin", "did you mean 'congestion'"),
    (changed("seeds = 2", "seed = 2"), "seed = 2", "did you mean 'seeds'"),
    (changed('congestion = "bbr"', 'scheduler = "blast"'), "blast", "did you mean 'blest'"),
    (changed('"bbr"', '"cubik"'), "cubik", "no congestion control is called 'cubik'; did you me"),
    (changed('preset = "alaska"', 'preset = "alasca"'), "alasca", "did you mean 'alaska'"),
    (changed('"pairs"]', '"SL+VX"]'), "SL+VX", "unknown path 'VX': did you mean 'VZ'"),
    (changed('"pairs"]', '"pears"]'), "pears", "did you mean 'pairs'"),
    (changed('"pairs"]', '"SL+SL"]'), "SL+SL", "names a path twice"),
    (SMALL + 'drives = ["alsaka"]\n', "alsaka", "did you mean 'alaska'"),
    (SMALL + 'transport = "tcp"\n', 'transport = "tcp"', "uses one path, but paths asks for"),
    (
        changed('paths = ["singles", "pairs"]', 'paths="SL"\ntransport="tcp"\nscheduler="blest"'),
        'scheduler="blest"',
        "a scheduler chooses between paths",
    ),
    (
        SMALL + "buffer_mb = 4\nsend_buffer_mb = 2\n",
        "send_buffer_mb",
        "contradicts buffer_mb",
    ),
    (
        changed("duration_s = 10", 'data = "x.csv"'),
        'data = "x',
        "one of preset, data, links, radio and uplinks",
    ),
    (changed("duration_s = 10", ""), 'preset = "alaska"', "a preset needs duration_s"),
    (changed("duration_s = 10", "duration_s = 10\nsegment_s = 5"), "segment_s", "belongs to data"),
    (changed("rtt_ms = 40", "rtt_ms = -1"), "rtt_ms = -1", "greater than 0"),
    (changed("rtt_ms = 40", ""), "[paths.SL]", "rtt_ms: field required"),
    (changed("seeds = 2", "seeds = [1, 1]"), "seeds = [1, 1]", "different numbers"),
    (SMALL + 'direction = "sideways"\n', "sideways", "'down' or 'up'"),
]


@pytest.mark.parametrize(("text", "marker", "said"), MISTAKES)
def test_mistake_has_file_line_and_remedy(
    tmp_path: Path, text: str, marker: str, said: str
) -> None:
    file = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_plan(file)
    message = str(caught.value)
    assert message.startswith(f"{file}:{line_with(text, marker)}: "), message
    assert said in message
    assert "\n" not in message


def test_two_drives_with_one_name(tmp_path: Path) -> None:
    text = SMALL + '\n[[drives]]\nname = "alaska"\npreset = "hawaii"\nduration_s = 5\n'
    with pytest.raises(ConfigError, match="two drives are called 'alaska'"):
        load_plan(write(tmp_path, text))


def test_not_toml_and_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"is not valid TOML.*line 2"):
        load_plan(write(tmp_path, "[study]\nname = \n"))
    with pytest.raises(ConfigError, match="cannot be read"):
        load_plan(tmp_path / "none.toml")


def test_mistake_in_published_values(tmp_path: Path) -> None:
    file = write(tmp_path, SMALL + '\n[report]\npublished = "p.toml"\n')
    text = '[[values]]\nfigure = "f"\ncell = "SL"\nstatistic = "medain"\nvalue = 1.0\n'
    (tmp_path / "p.toml").write_text(text)
    with pytest.raises(ConfigError, match=r"p.toml:4: unknown statistic 'medain'"):
        load_published(file, load_plan(file))


CRITERION = """
[[criteria]]
id = "c"
figure = "f"
kind = "bound"
text = "t"
drives = "{drives}"
cells = ["{cell}"]
statistic = "median"
relation = ">"
limit = 0.0
"""


@pytest.mark.parametrize(
    ("drives", "cell", "said"),
    [
        ("alaksa", "SL", "unknown drives 'alaksa': did you mean 'alaska'"),
        ("alaska", "SL+VX", r"no run of path set 'SL\+VX': did you mean 'SL\+VZ'"),
    ],
)
def test_criterion_that_the_runs_cannot_fill(
    tmp_path: Path, drives: str, cell: str, said: str
) -> None:
    file = write(tmp_path, SMALL + '\n[report]\npublished = "p.toml"\n')
    (tmp_path / "p.toml").write_text(CRITERION.format(drives=drives, cell=cell))
    with pytest.raises(ConfigError, match=said):
        prepare(file, options(tmp_path / "out"))


def test_figure_over_several_settings_must_choose(tmp_path: Path) -> None:
    text = changed('"bbr"', '["bbr", "cubic"]')
    figure = '\n[[figures]]\nid = "f"\ntitle = "t"\ndrives = "alaska"\n'
    with pytest.raises(ConfigError, match=r"its runs differ in congestion \(bbr, cubic\)"):
        prepare(write(tmp_path, text + figure), options(tmp_path / "out"))
    chosen = text + figure + 'where = { congestion = "cubic" }\n'
    assert prepare(write(tmp_path, chosen), options(tmp_path / "out")).jobs
    typo = text + figure + 'where = { congestoin = "cubic" }\n'
    with pytest.raises(ConfigError, match="did you mean 'congestion'"):
        prepare(write(tmp_path, typo), options(tmp_path / "out"))


def test_data_folder_is_missing_or_empty(tmp_path: Path) -> None:
    text = SMALL.replace('preset = "alaska"', 'data = "*.csv"').replace("duration_s = 10\n", "")
    text = text.replace("seeds = 2\n", "")
    file = write(tmp_path, text)
    with pytest.raises(DataError, match="is not a folder"):
        prepare(file, options(tmp_path / "out", data=tmp_path / "none"))
    with pytest.raises(DataError, match="holds nothing that matches"):
        prepare(file, options(tmp_path / "out", data=tmp_path))
    with pytest.raises(DataError, match="give --data FOLDER"):
        prepare(file, options(tmp_path / "out"))


def test_shipped_studies_are_valid() -> None:
    import skyweave.study

    root = Path(__file__).parents[2]
    files = [Path(skyweave.study.__file__).with_name("demo.toml")]
    files += sorted((root / "studies").glob("*/*.toml"))
    plans = [f for f in files if not f.name.startswith("published")]
    assert len(plans) >= 2
    for file in plans:
        plan = load_plan(file)
        if all(source.data for source in plan.drives):
            continue  # without its files there is nothing to expand
        # Nothing runs: there is neither a server nor an uplink.
        assert prepare(file, StudyOptions(out=Path("unused"), seeds=1, real=_never)).jobs


def _never(_: config.Run) -> Record:
    raise AssertionError("nothing runs")


def test_example_of_the_documentation(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "studies.md").read_text()
    example = text.split("```toml")[1].split("```")[0]
    prepared = prepare(write(tmp_path, example), options(tmp_path / "out"))
    assert prepared.size["runs"] == 10 * 2 * (2 + 2)
    typo = example.replace('"blest"', '"blast"')
    with pytest.raises(ConfigError, match=r"study.toml:24: no scheduler is called 'blast'; did"):
        load_plan(write(tmp_path, typo))


@given(st.text(max_size=300))
def test_any_text_is_a_plan_or_one_sentence(text: str) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        file = Path(folder) / "study.toml"
        file.write_text(text, encoding="utf-8", newline="")
        with pytest.raises(SkyweaveError):
            load_plan(file)


def test_lines_of_nested_keys() -> None:
    text = '[a]\nx = 1\n[[b]]\ny = """\nz = 3\n"""\n[[b]]\n"q r" = 2\n[b.c]\nd = 1 # e\n'
    assert line_of(text, ("a", "x")) == 2
    assert line_of(text, ("b", 0, "y")) == 4
    assert line_of(text, ("b", 0, "z")) == 3
    assert line_of(text, ("b", 1, "q r")) == 8
    assert line_of(text, ("b", 1, "c", "d")) == 10
    assert line_of(text, ("nothing",)) == 1


def test_suggestions() -> None:
    assert suggest("minRTT", ["blest", "minrtt"]) == "did you mean 'minrtt'?"
    assert re.match("known are blest, minrtt", suggest("xxxxxxxx", ["minrtt", "blest"]))
