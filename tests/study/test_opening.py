"""The connections that a player opens before the one that it plays over."""

from __future__ import annotations

from pathlib import Path

import pytest
from fluid import SMALL, options

import skyweave as sw
from skyweave.study.run.session import prepare

INDEX_BYTES = 189_548


def _connections(tmp_path: Path, transport: str) -> tuple[sw.Connection, ...]:
    film = f'workload = {{ kind = "video", index_bytes = {INDEX_BYTES} }}'
    text = f'[settings]\n{film}\ntransport = "{transport}"'
    (tmp_path / "study.toml").write_text(SMALL.replace("[settings]", text))
    (job, *_) = prepare(tmp_path / "study.toml", options(tmp_path / "out")).jobs
    return job.run.connections


@pytest.mark.parametrize("transport", ["tcp", "mptcp"])
def test_a_player_asks_for_the_index_then_past_the_end_then_for_the_rest(
    transport: str, tmp_path: Path
) -> None:
    film, index, question = _connections(tmp_path, transport)
    assert question.after == sw.After(connection=1, bytes=INDEX_BYTES + 8)
    assert film.after == sw.After(connection=2, bytes=197 + 8)
    assert index.until == 0
    assert index.after is None
    links = {"down": _link(3.0), "up": _link(3.0)}
    paths = (sw.Path(name="a", **links), sw.Path(name="b", **links))
    same = {"transport": transport, "paths": ("a", "b"), "mode": "upstream"}
    ends = [one.model_copy(update=same) for one in (film, index, question)]
    record = sw.simulate(sw.Run(paths=paths, connections=tuple(ends), stop_after_s=20))
    main, first, second = record.totals["connections"]
    assert INDEX_BYTES < first["delivered_bytes"] < 2_000_000
    assert 0 == first["start_s"] < second["start_s"] < main["start_s"] < 3
    playing = record.application["video"].filter(event="playing")
    assert playing["time_s"][0] > main["start_s"]
    assert playing["received_bytes"][0] > INDEX_BYTES


def test_over_multipath_quic_a_film_has_one_stream(tmp_path: Path) -> None:
    (film,) = _connections(tmp_path, "mpquic")
    assert film.after is None
    assert film.workload.index_bytes == 0


def test_an_index_is_shorter_than_its_film(tmp_path: Path) -> None:
    film = '{ kind = "video", index_bytes = 200000000 }'
    (tmp_path / "study.toml").write_text(
        SMALL.replace("[settings]", f"[settings]\nworkload = {film}")
    )
    with pytest.raises(sw.ConfigError, match="index_bytes"):
        prepare(tmp_path / "study.toml", options(tmp_path / "out"))


def _link(mbps: float) -> sw.Link:
    return sw.Link(capacity=sw.ConstantRate(mbps=mbps), delay=sw.ConstantDelay(ms=25))
