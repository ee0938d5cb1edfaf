"""Films over real interfaces by players that are programs: nginx at the server, a stub here."""

from __future__ import annotations

import secrets
import shutil
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from roads import SERVER, Roads, need_roads, road, roads

from skyweave.errors import ConfigError
from skyweave.field import FarEnd, FieldError, check, play
from skyweave.field.engine import FieldEngine
from skyweave.field.relay import HOST, Relay, Way
from skyweave.field.serve import FieldServer
from skyweave.field.words import FarFlow
from skyweave.live.traffic.watch import Watch
from skyweave.model import config
from skyweave.model.record import Record
from skyweave.testbed.node.tools import within
from skyweave.video.film import name_of

pytestmark = pytest.mark.waits
UNKNOWN = config.Link(capacity=config.Unknown(), delay=config.Unknown())
LINUX = {"mode": "upstream", "scheduler": "upstream", "congestion": "default"}
FILM_BYTES = 3_000_000
SECONDS = 15.0
"""What a run takes; the slower network has the film in 3 s."""
VLC = {"kind": "video", "player": "vlc", "duration_s": SECONDS}


@dataclass
class Field:
    """Two roads, a server with a film at their end, and the engine at the client."""

    roads: Roads
    server: FieldServer
    token: str

    def run(self, *names: str, workload: dict[str, Any] | None = None, **more: Any) -> Record:
        asked = {**LINUX, "paths": names, "workload": workload or VLC, **more}
        run = config.Run(
            paths=tuple(config.Path(name=one, down=UNKNOWN, up=UNKNOWN) for one in names),
            connections=(config.Connection.model_validate(asked),), stop_after_s=SECONDS,
        )  # fmt: skip
        engine = FieldEngine(FarEnd(SERVER, self.server.port, self.token), {})
        record: Record = within(self.roads.client, lambda: engine(run))
        return record


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Field]:
    need_roads()
    if not shutil.which("nginx"):
        pytest.skip("no nginx here; apt install nginx-light")
    films = tmp_path_factory.mktemp("films")
    films.chmod(0o755)
    (films / name_of("cbr")).write_bytes(bytes(FILM_BYTES))
    with roads(road("starlink", 20.0, 5.0, 40.0), road("lte", 8.0, 4.0, 60.0)) as found:
        token = secrets.token_urlsafe(32)
        server = within(
            found.server, lambda: FieldServer("0.0.0.0", range(5200, 5203), token, films)
        )
        yield Field(found, server, token)
        server.close()


@pytest.fixture(autouse=True)
def stub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A player that every machine has; it keeps its connection until a look has seen the film.

    With FILM_JOINED it reads most of the film when a look has seen a second subflow.
    """
    for module in (check, play):
        monkeypatch.setattr(module, "PLAYERS", "field_players")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    seen, joined, look = tmp_path / "seen", tmp_path / "joined", Watch._look

    def noted(self: Watch, *args: Any) -> None:
        look(self, *args)
        if self._rows[-1]["bytes"] >= FILM_BYTES:
            seen.touch()
        if len(self._rows[-1]["subflows"]) > 1:
            joined.touch()

    monkeypatch.setattr(Watch, "_look", noted)
    monkeypatch.setenv("FILM_SEEN", str(seen))


@pytest.mark.parametrize(
    ("names", "transport"),
    [(("starlink",), "tcp"), (("lte",), "tcp"), (("starlink", "lte"), "mptcp")],
)
def test_a_film_comes_over_the_uplinks_of_its_run(
    field: Field, names: tuple[str, ...], transport: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if transport == "mptcp":
        if not shutil.which("mptcpize"):
            pytest.skip("no mptcpize here; apt install mptcpize")
        monkeypatch.setenv("FILM_JOINED", str(tmp_path / "joined"))
    both = ("starlink", "lte")
    before = {name: field.roads.carried(name, "down") for name in both}
    record = field.run(*names, transport=transport)
    carried = {name: field.roads.carried(name, "down") - before[name] for name in both}
    assert FILM_BYTES < sum(carried[name] for name in names) < 1.3 * FILM_BYTES
    for name in both:  # the others carry nothing but what is said at the beginning and the end
        assert (carried[name] > FILM_BYTES / 20) == (name in names)
    table = record.application["video"]
    assert table["event"].to_list()[-1] == "ended"
    assert FILM_BYTES <= table.row(-1, named=True)["received_bytes"] < 1.05 * FILM_BYTES
    assert record.provenance["player"]["fetched_bytes"] == FILM_BYTES
    (only,) = record.totals["connections"]
    assert {name for name, one in only["paths"].items() if one["unique_bytes"]} == set(names)
    assert record.provenance["congestion"][0]["server"] is not None


def test_what_cannot_be_is_said_before_anything_plays(field: Field) -> None:
    with pytest.raises(ConfigError, match="multipath QUIC on emulated links"):
        field.run("starlink", transport="mpquic", scheduler="minrtt")
    with pytest.raises(ConfigError, match="own congestion control"):
        field.run("starlink", transport="tcp", congestion="cubic")
    with pytest.raises(ConfigError, match="no driver of the player 'mpv'"):
        field.run("starlink", transport="tcp", workload=VLC | {"player": "mpv"})


def test_a_film_that_the_server_has_not_is_refused_and_the_next_run_goes(field: Field) -> None:
    with pytest.raises(ConfigError, match=r"the server has no film vbr-.*--films"):
        field.run("lte", transport="tcp", workload=VLC | {"film": "vbr"})
    assert field.run("lte", transport="tcp").totals["connections"][0]["error"] is None


def test_a_player_that_fails_is_said_in_a_sentence(
    field: Field, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "field_players"
    broken.mkdir()
    (broken / "__init__.py").write_text("")
    (broken / "vlc.py").write_text("raise SystemExit('skyweave: it has no display.')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(FieldError, match="player 'vlc' failed: it has no display"):
        field.run("lte", transport="tcp")


@pytest.mark.parametrize("film", [
    "../../etc/passwd", "/etc/passwd", "cbr.mp4/../x.mp4", "a/b/film.mpd", "x.mp4\n", "", ".mp4",
    "film.mpd", "a b.mp4", "A.mp4", "x" * 200 + ".mp4",
])  # fmt: skip
def test_a_name_that_is_no_films_is_not_understood(film: str) -> None:
    flow = {"transport": "tcp", "sends": True, "start_ns": 0, "end_ns": 1}
    FarFlow.model_validate(flow | {"film": "cbr-c9f1e2e693245b26.mp4"})
    FarFlow.model_validate(flow | {"film": "ladder-c9f1e2e693245b26/film.mpd"})
    with pytest.raises(ValidationError):
        FarFlow.model_validate(flow | {"film": film})


def test_a_relay_passes_on_both_ways_and_ends_with_either_side() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        way = Way(server.getsockname(), "127.0.0.1", None, False)
        with Relay(way) as relay:
            near = socket.create_connection((HOST, relay.port), 60)
            far, _ = server.accept()
            far.settimeout(60)
            with near, far:
                sent = threading.Thread(target=lambda: (far.sendall(bytes(10**6)), far.close()))
                near.sendall(b"GET")
                assert far.recv(3) == b"GET"
                sent.start()
                came = 0
                while piece := near.recv(1 << 16):
                    came += len(piece)
                assert came == 10**6
                sent.join()
            with socket.create_connection((HOST, relay.port), 60) as left:
                there, _ = server.accept()
                there.settimeout(60)
                left.close()
                with there:
                    assert there.recv(1) == b""
    nowhere = Way(("127.0.0.1", 1), "127.0.0.1", None, False)
    with Relay(nowhere) as relay, socket.create_connection((HOST, relay.port), 60) as end:
        assert end.recv(1) == b""
