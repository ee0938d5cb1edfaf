"""What a study says of the processor time of its simulations."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

import skyweave as sw
from skyweave.cli.progress import Progress
from skyweave.console import Console
from skyweave.model.record import Record
from skyweave.study.run.observer import StudyObserver
from skyweave.study.run.session import StudyOptions

STUDY = """
[study]
name = "short"
title = "Short"
[[drives]]
name = "alaska"
preset = "alaska"
seeds = 2
duration_s = 5
[paths.starlink]
rtt_ms = 50
[paths.verizon]
rtt_ms = 50
[[compare]]
paths = ["all"]
"""


class Metered(StudyObserver):
    def __init__(self) -> None:
        self.said: list[tuple[float, int]] = []

    def metered(self, cpu_s: float, packets: int) -> None:
        self.said.append((cpu_s, packets))


def test_packets_of_all_simulations_are_counted_once(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    seen, again = Metered(), Metered()
    how = StudyOptions(out=tmp_path / "out", jobs=2)
    sw.run_study(tmp_path / "study.toml", how, seen)
    records = [Record.read(one) for one in (tmp_path / "out" / "records").iterdir()]
    packets = sum(int(one.totals["link_packets"]) for one in records)
    assert packets > 0
    ((cpu_s, counted),) = seen.said
    assert counted == packets
    assert cpu_s > 0
    sw.run_study(tmp_path / "study.toml", how, again)
    assert again.said == []


def test_a_study_ends_with_what_a_million_packets_needed(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    said = io.StringIO()
    shown = Progress(Console(file=said, width=120))
    sw.run_study(tmp_path / "study.toml", StudyOptions(out=tmp_path / "out"), shown)
    last = said.getvalue().splitlines()[-1]
    assert re.fullmatch(
        r"Simulated [\d.]+ k? ?packets in [\d.]+ s of processor time: "
        r"[\d.]+ s per million packets\.",
        last,
    ), last


def test_figures_that_take_long_are_counted_aloud(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(1000))
    monkeypatch.setattr("skyweave.cli.progress.time.monotonic", lambda: float(next(now)))
    said = io.StringIO()
    shown = Progress(Console(file=said, width=120))
    for done in range(41):
        shown.drawn(done, 40)
    assert said.getvalue().splitlines() == [f"{tenth * 4}/40 figures" for tenth in range(1, 11)]
