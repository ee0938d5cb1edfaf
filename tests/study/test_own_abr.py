"""ABR algorithms in Python: in a call of the simulator, and in a study file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import skyweave as sw
from skyweave.study import prepare, run_study

LADDER = (0.5, 1.0, 2.0, 4.0)
MINE = """
import skyweave


class SecondBest(skyweave.Abr):
    def choose(self, view):
        return len(view.ladder_mbps) - 2
"""
STUDY = """
[study]
name = "own"
title = "An ABR algorithm of one's own"

[[drives]]
name = "made"
duration_s = 20
links.a = { downlink_mbps = 8, uplink_mbps = 8, rtt_ms = 20 }

[paths.a]
label = "A"
rtt_ms = "trace"

[[compare]]
paths = ["all"]
workload = { kind = "adaptive", abr = "bola", ladder_mbps = [0.5, 1, 2], film_s = 20 }
abr = ["bola", "python:mine.py:SecondBest"]
"""


class Noted(sw.Abr):
    """Keeps what it saw, and takes the qualities in turn."""

    def __init__(self) -> None:
        self.views: list[sw.AbrView] = []

    def first(self, view: sw.AbrView) -> int:
        self.views.append(view)
        return 1

    def choose(self, view: sw.AbrView) -> int | tuple[int, float]:
        self.views.append(view)
        quality = view.chunk % len(view.ladder_mbps)
        return (quality, 0.5) if view.chunk == 2 else quality


def _film(**more: object) -> sw.Workload:
    fields = {"kind": "adaptive", "abr": "bola", "ladder_mbps": LADDER, "film_s": 32, **more}
    return sw.Workload.model_validate(fields)


def _simulate(abr: sw.Abr, workload: sw.Workload, transport: str = "tcp") -> sw.Record:
    link = sw.Link(capacity=sw.ConstantRate(mbps=10), delay=sw.ConstantDelay(ms=20))
    connection = sw.Connection.model_validate({"transport": transport, "workload": workload})
    paths = [sw.Path(name="only", down=link, up=link)]
    return sw.simulate(paths=paths, connections=[connection], abrs={0: abr}, stop_after_s=60)


@pytest.mark.parametrize("transport", ["tcp", "mpquic"])
def test_it_sees_the_player_and_its_choices_are_what_is_fetched(transport: str) -> None:
    mine = Noted()
    record = _simulate(mine, _film(), transport)
    played = record.application["adaptive"]
    asked = played.filter(event="request")["quality"].to_list()
    assert asked == [1, *(chunk % len(LADDER) for chunk in range(1, 8))]
    first, later = mine.views[0], mine.views[5]
    assert (first.chunk, first.chunks, first.chunk_s, first.past) == (0, 8, 4.0, [])
    assert later.ladder_mbps == list(LADDER)
    assert later.sizes_bytes == [round(mbps * 4e6 / 8) for mbps in LADDER]
    assert [one.quality for one in later.past] == asked[:5]
    assert later.past[-1].elapsed_s > later.past[-1].latency_s > 0.03
    assert 0 < later.buffer_s <= later.most_buffer_s == 60
    assert later.now_s > first.now_s
    assert later.foreseen_mbps == []
    assert record.provenance["abrs"]["0"]["class"] == "Noted"


def test_a_time_to_wait_passes_before_the_request() -> None:
    played = _simulate(Noted(), _film()).application["adaptive"]
    there = played.filter(event="response", chunk=1)["time_s"][0]
    asked = played.filter(event="request", chunk=2)["time_s"][0]
    assert asked - there == pytest.approx(0.5, abs=1e-3)


def test_it_sees_what_is_foreseen_of_the_rate() -> None:
    series = {"times_s": [0], "quantiles": [0.5], "values": [[7.0]]}
    mine = Noted()
    _simulate(mine, _film(forecast={"down_mbps": series}))
    assert mine.views[0].foreseen_mbps[:20] == pytest.approx([7.0] * 20)


@pytest.mark.parametrize("answer", [-1, "best", None, (1, -0.5), (1, 1e9), (1, 2, 3), 2**70])
def test_an_answer_that_is_none_ends_the_run_with_a_sentence(answer: object) -> None:
    class Wrong(sw.Abr):
        def choose(self, view: sw.AbrView) -> int:
            return answer  # type: ignore[return-value]

    with pytest.raises(TypeError, match=r"choose returned .*: return a quality"):
        _simulate(Wrong(), _film())


def test_what_it_raises_is_raised() -> None:
    class Broken(sw.Abr):
        pass

    with pytest.raises(NotImplementedError, match=r"Broken has no choose\(view\)"):
        _simulate(Broken(), _film())


def test_only_an_adaptive_film_has_one() -> None:
    workload = sw.Workload.model_validate({"kind": "video"})
    with pytest.raises(sw.ConfigError, match="its workload is 'video', not 'adaptive'"):
        _simulate(Noted(), workload)


def test_a_study_names_it_and_its_records_do(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "mine.py").write_text(MINE)
    plan = prepare(tmp_path / "study.toml", sw.StudyOptions(out=tmp_path / "out"))
    assert "SecondBest" in plan.code[0]
    assert {job.labels["abr"] for job in plan.jobs} == {"bola", "SecondBest"}
    run_study(tmp_path / "study.toml", sw.StudyOptions(out=tmp_path / "out", jobs=1))
    records = list((tmp_path / "out" / "records").glob("*/record.json"))
    named = [json.loads(one.read_text()).get("provenance", {}).get("abrs") for one in records]
    assert any(one and one["0"]["class"] == "SecondBest" for one in named)
    with pytest.raises(sw.ConfigError, match="--no-code refuses"):
        prepare(tmp_path / "study.toml", sw.StudyOptions(out=tmp_path / "other", no_code=True))
