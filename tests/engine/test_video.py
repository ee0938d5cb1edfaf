"""Films in the simulator: what a viewer sees, and RobustMPC against Pensieve's rule."""

from __future__ import annotations

import itertools

import polars as pl
import pytest

import skyweave as sw

LADDER = [0.3, 0.75, 1.2, 1.85, 2.85, 4.3]
CHUNK_S = 4.0
CHUNKS = 30


def _path(rates: list[float]) -> sw.Path:
    """Return a path whose rate changes each 7 s."""
    times = [7.0 * n for n in range(len(rates))]
    capacity = sw.RateSteps(times_s=times, mbps=rates)
    link = sw.Link(capacity=capacity, delay=sw.ConstantDelay(ms=30))
    return sw.Path(name="only", down=link, up=link)


def _play(rates: list[float], transport: str, **workload: object) -> sw.Record:
    connection = sw.Connection.model_validate({"transport": transport, "workload": workload})
    return sw.simulate(paths=[_path(rates)], connections=[connection], stop_after_s=600)


def _adaptive(rates: list[float], transport: str, abr: object, **more: object) -> pl.DataFrame:
    film = {"ladder_mbps": LADDER, "chunk_s": CHUNK_S, "film_s": CHUNKS * CHUNK_S}
    return _play(rates, transport, kind="adaptive", abr=abr, **film, **more).application["adaptive"]


def _pensieve(past: list[tuple[float, float]], buffer_s: float, chunk: int, last: int) -> int:
    """Return what ``robust_mpc_server.py`` of Pensieve sends: rates, not code, are its.

    ``past`` has (megabits, seconds) of each chunk before. All plans are tried one by one.
    """
    rates = [megabits / seconds for megabits, seconds in past]

    def mean(upto: int) -> float:
        recent = rates[max(0, upto - 5) : upto]
        return len(recent) / sum(1 / rate for rate in recent)

    # The error of each choice: what was planned with before it, against what came.
    errors = [0.0] + [abs(mean(n) - rates[n]) / rates[n] for n in range(1, len(rates))]
    rate = mean(len(rates)) / (1 + max(errors[-5:]))
    best, found = float("-inf"), 0
    for plan in itertools.product(range(len(LADDER)), repeat=min(5, CHUNKS - chunk)):
        buffer, waited, quality, changes, before = buffer_s, 0.0, 0.0, 0.0, last
        for one in plan:
            takes = LADDER[one] * CHUNK_S / rate
            waited += max(takes - buffer, 0.0)
            buffer = max(buffer - takes, 0.0) + CHUNK_S
            quality += LADDER[one]
            changes += abs(LADDER[one] - LADDER[before])
            before = one
        reward = quality - 4.3 * waited - changes
        if reward >= best:
            best, found = reward, plan[0]
    return found


@pytest.mark.parametrize("transport", ["tcp", "mptcp", "mpquic"])
def test_robust_mpc_is_pensieves_chunk_by_chunk(transport: str) -> None:
    rates = [3.0, 1.0, 5.0, 0.6, 2.2, 4.0, 0.9, 6.0, 1.7, 3.3, 0.4, 2.0]
    table = _adaptive(rates, transport, "robust-mpc")
    asked = table.filter(pl.col("event") == "request").rows(named=True)
    came = table.filter(pl.col("event") == "response").rows(named=True)
    assert [one["chunk"] for one in came] == list(range(CHUNKS))
    assert len({one["quality"] for one in came}) >= 4
    past: list[tuple[float, float]] = []
    for request, response in zip(asked, came, strict=True):
        if past:
            last = came[request["chunk"] - 1]["quality"]
            wanted = _pensieve(past, request["buffer_s"], request["chunk"], last)
            assert request["quality"] == wanted, request
        seconds = response["time_s"] - request["time_s"]
        past.append((response["chunk_bytes"] * 8e-6, seconds))


def test_quality_of_experience_is_what_the_rows_say() -> None:
    table = _adaptive([2.0, 0.5, 4.0], "tcp", "bola")
    came = table.filter(pl.col("event") == "response")["bitrate_mbps"].to_list()
    last = table.rows(named=True)[-1]
    changes = sum(abs(a - b) for a, b in itertools.pairwise(came))
    assert last["event"] == "ended"
    assert last["qoe_quality"] == pytest.approx(sum(came))
    assert last["qoe_switches"] == pytest.approx(changes)
    assert last["qoe"] == pytest.approx(sum(came) - changes - 4.3 * last["stall_s"])
    assert last["position_s"] == CHUNKS * CHUNK_S
    # The clock ran or stood from the start of the film to its end.
    playing = table.filter(pl.col("event") == "playing")["time_s"][0]
    assert last["time_s"] - playing == pytest.approx(CHUNKS * CHUNK_S + last["stall_s"])


def test_a_rate_that_is_known_is_better_than_one_that_is_guessed() -> None:
    rates = [5.0, 5.0, 0.4, 0.4, 5.0, 0.4, 5.0, 5.0, 0.4, 0.4, 0.4, 5.0, 5.0, 0.4, 5.0] * 3
    times = [7.0 * n for n in range(len(rates))]
    known = {"times_s": times, "quantiles": [0.5], "values": [[rate] for rate in rates]}
    forecast = {"down_mbps": known}

    def qoe(abr: str) -> float:
        return float(_adaptive(rates, "tcp", abr, buffer_s=20, forecast=forecast)["qoe"][-1])

    assert qoe("mpc-oracle") > qoe("robust-mpc")


def test_a_film_is_shown_or_dropped_picture_by_picture() -> None:
    for player in ("discard", "wait"):
        record = _play([5.0], "tcp", kind="video", player=player, duration_s=60)
        last = record.application["video"].rows(named=True)[-1]
        assert (last["event"], last["film_s"]) == ("closed", 180.0)
        # 5.24 Mbit/s over 5: it runs dry, and what came was shown or dropped.
        assert last["underflows"] >= 1
        assert last["stall_s"] > 0
        assert (last["discarded"] == 0) == (player == "wait")
        pictures = last["shown"] + last["discarded"] + last["flushed"]
        assert pictures / 30 == pytest.approx(last["received_bytes"] * 8 / 5.238e6, rel=0.03)
