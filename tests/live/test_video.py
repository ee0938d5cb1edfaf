"""Films over real sockets: the reference players, and programs with an origin of their own."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import polars as pl
import pytest
from made_paths import path
from typer.testing import CliRunner

from skyweave.cli.video import video_app
from skyweave.engine.simulator import simulate
from skyweave.errors import ConfigError
from skyweave.live.check import refusal
from skyweave.live.engine import run_live
from skyweave.live.errors import LiveError
from skyweave.live.record.playback import read_lines, rows_of
from skyweave.live.traffic import offers, players
from skyweave.live.traffic.origin import Origin
from skyweave.live.world.world import World
from skyweave.model import config
from skyweave.model.record import Record
from skyweave.report.numbers.playback import playback_quantities
from skyweave.video import DashLadder, Film

LINUX = {"mode": "upstream", "scheduler": "upstream"}
PATHS = (path("a", 20.0, 5.0), path("b", 20.0, 10.0))
PICTURES, PICTURE_BYTES = 50, 4000

needs_gateway = pytest.mark.skipif(not shutil.which("nginx"), reason="no nginx")
needs_origin = pytest.mark.skipif(
    not (shutil.which("nginx") and shutil.which("mptcpize")), reason="no nginx, or no mptcpize"
)


def run(workload: dict[str, object], stop_s: float = 30.0, **connection: object) -> config.Run:
    one = config.Connection.model_validate({**LINUX, "workload": workload, **connection})
    return config.Run(paths=PATHS, connections=(one,), stop_after_s=stop_s)


def film() -> dict[str, str]:
    """Two seconds of 25 pictures a second."""
    lines = (f"0,{n / 25},{n / 25},{PICTURE_BYTES},{n * PICTURE_BYTES}" for n in range(PICTURES))
    return {"name": "short", "csv": "\n".join(lines)}


@pytest.mark.parametrize(
    "connection",
    [{"transport": "mptcp"}, {"transport": "mpquic", "scheduler": "minrtt"}],
    ids=["mptcp", "mpquic"],
)
def test_the_reference_player_shows_a_film_over_real_sockets(
    connection: dict[str, object],
) -> None:
    record = run_live(run({"kind": "video", "player": "wait", "film": film()}, **connection))
    table = record.application["video"]
    assert table["event"].to_list().count("playing") >= 1
    last = table.row(-1, named=True)
    assert last["received_bytes"] == PICTURES * PICTURE_BYTES
    assert last["discarded"] == 0
    assert playback_quantities(record)["startup_s"][0] > 0.02


def test_a_film_is_played_over_real_sockets_by_one_command(tmp_path: Path) -> None:
    table = tmp_path / "short.csv"
    table.write_text(film()["csv"])
    words = ["play", "--engine", "live", "--film", str(table)]
    words += ["--path", "a=down=20,up=20,rtt=10", "--path", "b=down=20,up=20,rtt=20"]
    found = CliRunner().invoke(video_app, words)
    assert found.exit_code == 0, found.output
    assert "reference over Multipath TCP, cubic-linux, in real time" in found.stdout
    came = [
        float(line.split()[1]) for line in found.stdout.splitlines() if line[1:3] in ("a ", "b ")
    ]
    assert sum(came) == pytest.approx(PICTURES * PICTURE_BYTES / 1e6, abs=0.11)  # both are rounded


def test_adaptive_video_chooses_over_real_sockets() -> None:
    workload = {
        "kind": "adaptive", "abr": "bola", "ladder_mbps": [0.5, 2.0], "chunk_s": 1.0, "film_s": 4.0,
    }  # fmt: skip
    record = run_live(run(workload))
    table = record.application["adaptive"]
    came = table.filter(pl.col("event") == "response")
    assert came["chunk"].to_list() == [0, 1, 2, 3]


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A film of 4 MB for the player that is put in the place of VLC's driver."""
    file = tmp_path / "film.mp4"
    file.write_bytes(bytes(4_000_000))
    monkeypatch.setattr(players, "_MODULES", "stub_players")
    monkeypatch.setattr(offers, "film", lambda kind: Film(kind, file, file))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    return file


DASHJS = {"kind": "adaptive", "player": "dashjs"}
VLC = {"kind": "video", "player": "vlc", "duration_s": 20.0}


def played(**connection: object) -> Record:
    return run_live(run(VLC, stop_s=20.0, **connection))


@needs_origin
def test_a_player_s_sockets_are_seen_by_path_and_under_the_run_s_control(served: Path) -> None:
    record = played(congestion="newreno")
    connection = record.totals["connections"][0]
    assert connection["congestion"] == "newreno"
    assert connection["fallback"] is False
    assert connection["delivered_bytes"] < 4_100_000  # of 4 MB: no subflow counts as a connection
    assert connection["paths"]["a"]["sent_bytes"] > 0
    path_a = record.samples.filter(pl.col("path") == "a")
    assert path_a["delivered_bytes"].to_list()[-1] > 0
    assert path_a["cwnd_packets"].max() >= 10
    table = record.application["video"]
    assert table["event"].to_list()[-1] == "ended"
    assert table["shown"].null_count() == len(table)
    assert record.provenance["source"] == "vlc"
    assert record.provenance["player"]["version"] == "stub"


@needs_origin
def test_a_player_opens_on_the_first_path_of_the_set(served: Path) -> None:
    record = played(paths=["b"], transport="tcp")
    # The kernel says what there was at the last look, and a busy machine looks late: the links say
    # who carried the film.
    assert record.totals["connections"][0]["paths"]["b"]["sent_bytes"] > 0
    carried = {name: record.totals["links"][f"{name}.down"]["delivered_bytes"] for name in "ab"}
    assert carried["b"] > 4_000_000
    assert carried["a"] == 0


@needs_gateway
def test_a_player_that_speaks_tcp_plays_over_multipath_quic(served: Path) -> None:
    record = played(transport="mpquic", scheduler="minrtt", congestion="bbr")
    connection = record.totals["connections"][0]
    assert (connection["scheduler"], connection["congestion"]) == ("minrtt", "bbr")
    assert 0 < connection["delivered_bytes"] < 4_100_000  # as of the last look at its socket
    came = [one["unique_bytes"] for one in connection["paths"].values()]
    assert all(one > 0 for one in came)
    assert sum(came) < 4_100_000  # as of the last look at the connection, too
    assert record.application["video"]["event"].to_list()[-1] == "ended"
    path_a = record.samples.filter(pl.col("path") == "a")
    assert path_a["delivered_bytes"].to_list()[-1] > 0
    assert path_a["cwnd_packets"].null_count() == len(path_a)  # its sockets are our own: not asked


@needs_gateway
@pytest.mark.skipif(shutil.which("vlc") is None, reason="no VLC")
def test_vlc_plays_for_20_s_over_multipath_quic() -> None:
    record = run_live(run(VLC, stop_s=20.0, transport="mpquic", scheduler="minrtt"))
    table = record.application["video"]
    assert "playing" in table["event"].to_list()
    assert table["position_s"].drop_nulls().max() > 5
    came = [one["unique_bytes"] for one in record.totals["connections"][0]["paths"].values()]
    assert all(one > 0 for one in came)


@needs_origin
def test_an_adaptive_film_is_served_as_a_folder(
    served: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = DashLadder(tmp_path / "film.mpd", [0.5, 2.0], [[1], [4]], tmp_path / "sizes.json")
    served.rename(made.manifest)
    monkeypatch.setattr(offers, "ladder", lambda top, length: made)
    record = run_live(run({**DASHJS, "duration_s": 20.0}, stop_s=20.0))
    table = record.application["adaptive"]
    assert table["event"].to_list()[-1] == "ended"
    assert table["bitrate_mbps"].drop_nulls().to_list() == [0.5, 2.0]
    assert playback_quantities(record)["switches"] == [1]
    assert record.totals["connections"][0]["paths"]["a"]["sent_bytes"] > 0


@needs_origin
def test_a_film_that_the_server_has_not_is_said_with_its_answer(
    served: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.unlink()  # the link in the folder of the origin leads nowhere
    with pytest.raises(LiveError, match=r"player 'vlc' failed: .*the server answered 404 to 'GET"):
        played()


@needs_origin
def test_a_server_that_stops_is_told(served: Path) -> None:
    with Origin([served]) as origin, World(PATHS) as world:
        origin.start(world, ["mptcpize", "run"])
        assert origin.trouble(world) is None
        dead = f"grep -q 'State:.Z' /proc/{origin.pid}/status"
        argv = ["sh", "-c", f"kill -9 {origin.pid}; until {dead}; do sleep 0.01; done"]
        order = {"do": "perform", "argv": argv, "cwd": "/", "start_ns": 0}
        world.ask(world.server, {**order, "end_ns": time.monotonic_ns() + 60 * 10**9})
        assert "the server stopped" in (origin.trouble(world) or "")


@needs_origin
def test_an_origin_that_cannot_listen_says_why(served: Path) -> None:
    with Origin([served]) as first, Origin([served]) as second, World(PATHS) as world:
        first.start(world, [])
        with pytest.raises(LiveError, match=r"nginx does not start: .*bind"):
            second.start(world, [])


def test_sockets_under_another_control_fail_the_run() -> None:
    players.check_congestion({"congestion": ["cubic"]}, "cubic")
    for found, said in ((["bbr", "cubic"], "bbr, cubic"), ([], "there was no connection")):
        with pytest.raises(LiveError, match=f"another congestion control .*{said}.* than 'cubic'"):
            players.check_congestion({"congestion": found}, "cubic")


@pytest.mark.parametrize(
    ("workload", "connection", "said"),
    [
        ({**VLC, "film": "none"}, {}, "needs a film that can be made here"),
        ({**VLC, "start_s": 2}, {}, "start_s is nothing that player 'vlc' can be told"),
        ({**VLC, "player": "dashjs"}, {}, "'dashjs' plays the workload 'adaptive'"),
        ({**DASHJS, "abr": "bola"}, {}, "abr is nothing that player 'dashjs' can be told"),
        ({**DASHJS, "top_mbps": 1000}, {}, "the top of a ladder, 1000, is not within"),
        ({**DASHJS, "top_mbps": "4"}, {}, "top_mbps is '4', and must be a number"),
        ({**DASHJS, "film_s": float("inf")}, {}, "film_s is inf, and must be whole seconds"),
        ({**DASHJS, "film_s": 7}, {}, "is not a multiple of 4 s"),
    ],
)
def test_what_players_cannot_do_is_refused(
    workload: dict[str, object], connection: dict[str, object], said: str
) -> None:
    assert said in (refusal(run(workload, **connection)) or "")


def test_programs_are_refused_by_the_simulator() -> None:
    with pytest.raises(ConfigError, match="'vlc' is a program, which plays in real time"):
        simulate(run(VLC))


def test_a_record_of_a_player_that_was_killed_is_read_up_to_there(tmp_path: Path) -> None:
    file = tmp_path / "playback.jsonl"
    line = '{"monotonic_ns": %d, "event": "%s", "discarded": 3, "position_s": null}\n'
    file.write_text(line % (10**9, "asked") + line % (2 * 10**9, "playing") + '{"monotonic_ns": 3')
    lines = read_lines(file)
    rows = rows_of("video", lines, 10**9, [(10**9, 0), (2 * 10**9, 500)])
    assert [row[:2] for row in rows] == [[0.0, "sample"], [1.0, "playing"]]
    assert [row[5] for row in rows] == [0, 500]
    assert rows[1][2] is None
