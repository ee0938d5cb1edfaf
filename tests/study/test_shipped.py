"""Studies by name."""

from __future__ import annotations

from pathlib import Path

import pytest

import skyweave as sw
from skyweave.study import prepare
from skyweave.study.shipped import find, folder, names


def test_every_study_has_a_name_and_every_name_a_study() -> None:
    assert {"alaska-hawaii", "video-leo", "video-leo/live", "leo-congestion/tuning"} <= set(names())
    files = {find(Path(name)) for name in names()}
    there = {file for file in folder().glob("*/*.toml") if not file.stem.startswith("published")}
    assert files == there


def test_a_shipped_study_is_planned_by_its_name(tmp_path: Path) -> None:
    plan = prepare(find(Path("alcs")), sw.StudyOptions(out=tmp_path))
    assert plan.plan.study.name == "alcs"


def test_what_is_there_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "alcs").mkdir()
    assert find(Path("alcs")) == Path("alcs/study.toml")
    assert find(Path("alcs.toml")) == Path("alcs.toml")


@pytest.mark.parametrize("name", ["alaska-hawai", "video-leo/lvie", "[bold]", "no such"])
def test_a_name_that_nothing_has_is_said_with_the_closest(name: str) -> None:
    with pytest.raises(sw.ConfigError, match="no study is called"):
        find(Path(name))
