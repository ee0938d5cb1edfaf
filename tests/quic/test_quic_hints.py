"""Hints of a publisher while connections run: what is absent, stale or wrong changes nothing."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from quic_ends import Serve, get

from skyweave import _skyweave
from skyweave.awareness import Publisher
from skyweave.errors import ConfigError
from skyweave.forecast import ForecastFile
from skyweave.model.forecast import Forecast, ForecastBoundary
from skyweave.model.windows import ForecastWindow
from skyweave.quic.hints import Hints, from_now, hearing, parse_names

NOW_S = 1_790_000_000.0


def known(start_s: float, outage: tuple[float, float] = (10.0, 12.0)) -> ForecastFile:
    """A forecast of a minute."""
    window = ForecastWindow(start_s=outage[0], end_s=outage[1], probability=0.9)
    boundary = ForecastBoundary(at_s=outage[0], uncertainty_s=0.3)
    return ForecastFile(
        source="a test",
        method="made up",
        start_unix_s=start_s,
        end_unix_s=start_s + 60.0,
        forecast=Forecast(outages=(window,), boundaries=(boundary,)),
    )


def test_what_is_known_counts_from_now() -> None:
    found = from_now(known(NOW_S - 4.0), NOW_S)
    assert [one.start_s for one in found.outages] == [6.0]
    assert [one.at_s for one in found.boundaries] == [6.0]
    assert found.valid_until_s == 56.0
    past = from_now(known(NOW_S - 30.0), NOW_S)
    assert (past.outages, past.boundaries, past.valid_until_s) == ((), (), 30.0)


def test_a_board_takes_what_makes_sense_and_nothing_else() -> None:
    board = _skyweave.QuicHints()
    board.put("{}")
    board.put(json.dumps({"lo": from_now(known(NOW_S), NOW_S).model_dump(exclude_none=True)}))
    for wrong in ("", "[]", '{"lo": 3}', '{"lo": {"outages": [{"start_s": 2, "end_s": 1}]}}'):
        with pytest.raises(ValueError, match=r"."):
            board.put(wrong)


def test_a_publisher_is_asked_for_paths_by_their_names_here(tmp_path: Path) -> None:
    hints = Hints(tmp_path / "s", {"starlink": "wlan0"})
    hints._publisher.timeout_s = 60.0  # an answer that comes too late is none
    assert hints.look() == [], "absent"
    with Publisher(tmp_path / "s") as publisher:
        assert hints.look() == [], "nothing is foreseen"
        publisher.foresee("starlink", known(time.time()))
        publisher.foresee("lte", known(time.time()))
        publisher.foresee("stale", known(time.time() - 100.0))
        assert sorted(hints.look()) == ["lte", "wlan0"]
    assert hints.look() == [], "gone"


def test_without_a_publisher_nothing_is_asked() -> None:
    with hearing(None) as hints:
        assert hints is None


def test_names_of_paths_are_checked() -> None:
    for wrong in ("starlink", "=wlan0", "starlink="):
        with pytest.raises(ConfigError, match="names no path"):
            parse_names([wrong])


@pytest.mark.parametrize("publisher", ["absent", "garbage", "true"])
def test_files_come_whatever_a_publisher_says(serve: Serve, tmp_path: Path, publisher: str) -> None:
    name = tmp_path / "s"
    if publisher == "garbage":
        name.write_bytes(os.urandom(100))
    server = serve("--awareness", str(name), "--known", "starlink=127.0.0.2")
    data = os.urandom(2_000_000)
    (server.root / "file").write_bytes(data)
    out = tmp_path / "out"

    def fetch() -> None:
        said = get(
            f"127.0.0.1:{server.port}/file", "--pin", server.pin, "--out", str(out),
            "--path", "127.0.0.1", "--path", "127.0.0.2",
            "--awareness", str(name), "--known", "starlink=127.0.0.2",
        )  # fmt: skip
        assert said.code == 0, said.err

    if publisher == "true":
        with Publisher(name) as made:
            made.foresee("starlink", known(time.time(), outage=(0.0, 50.0)))
            fetch()
    else:
        fetch()
    assert out.read_bytes() == data
