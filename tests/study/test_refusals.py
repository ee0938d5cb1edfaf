"""What a study cannot mean is refused before anything runs, and what it can hardly mean is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from skyweave.errors import ConfigError, DataError
from skyweave.study.run.session import StudyOptions, prepare

STUDY = """
[study]
name = "small"
title = "Small"

[[drives]]
name = "made"
seeds = 1
duration_s = 10
[drives.links.A]
downlink_mbps = 5
uplink_mbps = 5
rtt_ms = 40

[paths.A]
rtt_ms = 40
"""


def prepared(folder: Path, text: str):
    (folder / "study.toml").write_text(text)
    return prepare(folder / "study.toml", StudyOptions(out=folder / "out"))


def test_a_declared_path_that_no_drive_has(tmp_path):
    assert len(prepared(tmp_path, STUDY).jobs) == 1
    with pytest.raises(
        ConfigError, match=r"\[paths\.Aa\]: no drive has this path; .*did you mean 'A'"
    ):
        prepared(tmp_path, STUDY + "\n[paths.Aa]\nrtt_ms = 40\n")
    left_out = '\n[[drives]]\nname = "files"\ndata = "nothing/*.csv"\n[paths.Aa]\nrtt_ms = 40\n'
    assert len(prepared(tmp_path, STUDY + left_out).jobs) == 1


def test_seeds_end_at_63_bits(tmp_path):
    last = f"first_seed = {2**63 - 1}\n"
    assert prepared(tmp_path, STUDY.replace("seeds = 1\n", "seeds = 1\n" + last)).jobs
    with pytest.raises(ConfigError, match=r"first_seed \+ seeds goes beyond 2\^63"):
        prepared(tmp_path, STUDY.replace("seeds = 1\n", "seeds = 2\n" + last))


def test_slips_of_a_unit_are_said(tmp_path):
    assert prepared(tmp_path, STUDY).doubts == []
    slipped = STUDY.replace("[paths.A]\nrtt_ms = 40", "[paths.A]\nrtt_ms = 0.044")
    slipped = slipped.replace("downlink_mbps = 5", "downlink_mbps = 50000")
    made = prepared(tmp_path, slipped)
    assert "rtt_ms = 0.044 is no round trip over the Internet" in made.doubts[0]
    assert "median downlink of 50,000 Mbit/s" in made.doubts[1]
    assert set(made.doubts) <= set(made.frozen["notes"])


def test_data_lie_beside_the_study_first(tmp_path):
    text = STUDY[: STUDY.index("[[drives]]")] + (
        '[[drives]]\nname = "files"\ndata = "mine/*.csv"\n[paths.A]\nrtt_ms = 40\n'
    )
    for folder, rate in ((tmp_path / "study", 5), (tmp_path / "data", 7)):
        (folder / "mine").mkdir(parents=True)
        file = folder / "mine" / "a.csv"
        file.write_text(f"time_s,A.downlink_mbps\n0,{rate}\n1,{rate}\n")
    study = tmp_path / "study" / "study.toml"
    study.write_text(text)
    options = StudyOptions(out=tmp_path / "out", data=tmp_path / "data")
    (job,) = prepare(study, options).jobs
    assert job.run.paths[0].down.capacity.mbps == (5, 5)
    (tmp_path / "study" / "mine" / "a.csv").unlink()
    (job,) = prepare(study, options).jobs
    assert job.run.paths[0].down.capacity.mbps == (7, 7)
    for pattern in ("/etc/*.csv", "../*.csv"):
        study.write_text(text.replace("mine/*.csv", pattern))
        with pytest.raises(DataError, match="it leads out of the folder"):
            prepare(study, options)
