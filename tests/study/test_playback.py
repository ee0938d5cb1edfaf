"""Films in study files, and what a report measures of them and of single paths."""

from __future__ import annotations

from pathlib import Path

import pytest
from fluid import SMALL, options

import skyweave as sw
from skyweave.report.numbers.of_paths import of_paths
from skyweave.report.numbers.playback import playback_quantities
from skyweave.results.quantities import known, words
from skyweave.study.language.label_words import workload_label
from skyweave.study.run.session import Prepared, prepare

FILM = "".join(f"0,{n / 25},,1000,{n * 1000}\n" for n in range(50))


def _session(tmp_path: Path, workload: str) -> Prepared:
    study = SMALL.replace("[settings]", f"[settings]\nworkload = {workload}")
    (tmp_path / "study.toml").write_text(study)
    return prepare(tmp_path / "study.toml", options(tmp_path / "out"))


def test_the_frame_table_of_a_file_goes_into_the_run(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(FILM)
    jobs = _session(tmp_path, '{ kind = "video", film = { file = "mine.csv" } }').jobs
    assert {job.labels["workload"] for job in jobs} == {"video(film=mine)"}
    film = jobs[0].run.connections[0].workload.model_dump()["film"]
    assert film == {"name": "mine", "csv": FILM}


@pytest.mark.parametrize(
    ("film", "complaint"),
    [
        ('{ file = "none.csv" }', "none.csv: cannot be read"),
        ('{ file = "bad.csv" }', "line 1 of the frame table"),
        ('{ file = "empty.csv" }', "no pictures"),
        ('{ file = "binary.csv" }', "no frame table"),
        ('{ file = "bad.csv", csv = "" }', "takes the name of a frame table alone"),
        ('"dvd"', "no film is called 'dvd'"),
    ],
)
def test_a_film_that_cannot_be_is_refused_before_anything_runs(
    film: str, complaint: str, tmp_path: Path
) -> None:
    (tmp_path / "bad.csv").write_text("0,zero,0,5,5\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "binary.csv").write_bytes(b"\xff\x00\xff")
    with pytest.raises(sw.ConfigError, match=complaint):
        _session(tmp_path, f'{{ kind = "video", film = {film} }}')


def test_a_label_names_the_algorithm_with_its_parameters() -> None:
    abr = {"name": "bola", "steady": True}
    film = {"kind": "adaptive", "abr": abr, "ladder_mbps": [1, 2], "forecast": {"outages": []}}
    label = workload_label(sw.Workload.model_validate(film))
    assert label == "adaptive(abr=bola(steady=true), ladder_mbps=1/2, forecast=given)"


def _two_paths(workload: dict[str, object], duration_s: float) -> sw.Record:
    paths = []
    for name, ms in (("wire", 45), ("LTE", 25)):
        link = sw.Link(
            capacity=sw.ConstantRate(mbps=2.5),
            delay=sw.ConstantDelay(ms=ms),
            queue=sw.DropTail(packets=30),
        )
        paths.append(sw.Path(name=name, down=link, up=link))
    connection = sw.Connection.model_validate({"workload": workload, "mode": "upstream"})
    return sw.simulate(paths=paths, connections=[connection], stop_after_s=duration_s)


def test_quantities_of_a_film_are_those_of_its_last_row() -> None:
    record = _two_paths({"kind": "video"}, 40)
    found = playback_quantities(record)
    last = record.application["video"].rows(named=True)[-1]
    for name in ("discarded", "underflows", "stall_s"):
        assert found[name] == [last[name]]
    assert last["underflows"] > 0
    assert 1 < found["startup_s"][0] < 5
    # The run ended before the film: all that came.
    assert found["delivered_at_mb"] == [last["received_bytes"] / 1e6]
    assert found["qoe"].size == found["played_mbps"].size == 0
    film: dict[str, object] = {
        "kind": "adaptive",
        "abr": "bba",
        "ladder_mbps": [0.5, 1, 2],
        "film_s": 60,
    }
    film["buffer_s"] = 12
    found = playback_quantities(_two_paths(film, 120))
    assert 0.5 <= found["played_mbps"][0] <= 2
    assert found["switches"][0] >= 1
    assert found["discarded"].size == found["delivered_at_mb"].size == 0
    assert all(
        values.size == 0 for values in playback_quantities(_two_paths({"bytes": 9}, 5)).values()
    )


def test_quantities_of_paths_are_those_of_the_record() -> None:
    record = _two_paths({"kind": "video"}, 40)
    found = of_paths(record, ["wire", "LTE"])
    paths = record.totals["connections"][0]["paths"]
    for name in ("wire", "LTE"):
        again = paths[name]["retransmitted_packets"]
        assert found[f"retransmissions@{name}"] == [again]
        assert found[f"retransmission_rate@{name}"] == [again / paths[name]["sent_packets"]]
        windows = record.samples.filter(path=name)["cwnd_packets"].to_numpy()
        windows = windows[windows > 0]  # 0: it has no subflow yet
        assert found[f"cwnd@{name}"] == [windows.mean()]
        assert found[f"cwnd_sd@{name}"] == [windows.std()]
    assert found["cwnd@wire/LTE"] == found["cwnd@wire"] / found["cwnd@LTE"]
    assert "cwnd@wire/wire" not in found


def test_a_quantity_is_of_a_run_or_of_a_path() -> None:
    for name in ("goodput", "qoe", "cwnd@LTE", "retransmissions@SL/LTE"):
        assert known(name) == name
    for name in ("cwnd", "cwnd@", "goodput@LTE", "cwnd@a/b/c", "cwnd@a/", "quo"):
        with pytest.raises(ValueError, match="is no quantity; there are goodput"):
            known(name)
    assert words("cwnd@LTE").axis == "mean congestion window (packets), LTE"
    assert words("cwnd@wire/LTE").short == "mean cwnd, wire ÷ LTE"
