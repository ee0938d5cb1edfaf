"""Real players on this machine, held against the reference players: ``make test-players``."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    "SKYWEAVE_PLAYERS" not in os.environ, reason="real players: make test-players"
)
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import curves

    folder = tmp_path_factory.mktemp("players")
    curves.make(folder / "curves")
    return folder


@pytest.mark.timeout(900)
@pytest.mark.parametrize("player", ["vlc", "mpv"])
@pytest.mark.parametrize("curve", ["A90-cubic-linux-3004-cbr", "B90-cubic-linux-3003-vbr"])
def test_the_reference_player_sees_what_the_real_one_does(
    player: str, curve: str, out: Path
) -> None:
    import judge

    file = out / "curves" / f"{curve}.json"
    one = [sys.executable, str(HERE / "run.py"), str(out), "--one", player, str(file)]
    subprocess.run(one, check=True)
    row = judge.compared(json.loads((out / f"{player}-{curve}" / "row.json").read_text()), out)
    real, reference = row["real"], row["reference"]
    assert abs(real["startup_s"] - reference["startup_s"]) <= 0.5, row
    assert real["underflows"] > 0, row
    assert judge.alike_underflows(real, reference), row


@pytest.fixture
def origin() -> Iterator[str]:
    from skyweave.video import ladder

    folder = ladder(4.3, 60).manifest.parent
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/film.mpd"
        server.shutdown()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("more", [[], ["--no-fast-switch"]])
def test_dashjs_plays_and_fetches_again_only_with_fast_switch(
    more: list[str], origin: str, tmp_path: Path
) -> None:
    program = [sys.executable, "-m", "skyweave.video.players.dashjs", origin]
    subprocess.run([*program, "--out", str(tmp_path), "--duration", "90", *more], check=True)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert (summary["over"], summary["version"]) == ("ended", "5.2.1")
    assert summary["quality"] == 5
    assert (summary["refetched_bytes"] > 0) == (not more)
