"""Schedulers written in Python meet the same connection as those in Rust."""

import hashlib
from pathlib import Path

import pytest

import skyweave as sw

from .test_simulate import two_paths


def transfer(
    scheduler: sw.Scheduler, size: int = 5_000_000, paths: list[sw.Path] | None = None
) -> dict:
    record = sw.simulate(
        paths=paths or two_paths(),
        connections=[sw.Connection(congestion="cubic", workload=sw.Bulk(bytes=size))],
        schedulers={0: scheduler},
    )
    return record.totals["connections"][0]


class MinRtt(sw.Scheduler):
    def select(self, view):
        able = [p for p in view.paths if p.usable and p.has_room and not p.tried]
        return min(able, key=lambda p: (p.srtt_ms, p.id)).id if able else None


def test_minrtt_in_python_equals_minrtt_in_rust():
    connection = sw.Connection(scheduler="minrtt", workload=sw.Bulk(bytes=5_000_000))
    rust = sw.simulate(paths=two_paths(), connections=[connection]).totals["connections"][0]
    assert transfer(MinRtt()) == rust | {"scheduler": "MinRtt"}


def test_the_record_names_the_class_and_its_source():
    record = sw.simulate(
        paths=two_paths(),
        connections=[sw.Connection(workload=sw.Bulk(bytes=10_000))],
        schedulers={0: MinRtt()},
    )
    digest = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    assert record.totals["connections"][0]["scheduler"] == "MinRtt"
    assert record.provenance["schedulers"] == {"0": {"class": "MinRtt", "sha256": digest}}


def test_a_run_that_names_python_needs_its_object():
    own = {"name": "MinRtt", "python": "mine.py", "sha256": "0" * 64}
    with pytest.raises(sw.ConfigError, match="connection 0: its scheduler MinRtt is Python code"):
        sw.simulate(paths=two_paths(), connections=[sw.Connection(scheduler=own)])


def test_the_hooks_are_called():
    class Counting(MinRtt):
        def __init__(self):
            self.sent, self.acked, self.events = 0, 0, []

        def on_sent(self, now_s, path, size_bytes):
            self.sent += size_bytes

        def on_acked(self, now_s, path, size_bytes):
            self.acked += size_bytes

        def on_path_event(self, now_s, path, event):
            self.events.append((path, event))

    counting = Counting()
    transfer(counting)
    assert counting.sent == 5_000_000
    assert 0 < counting.acked <= 5_000_000
    assert counting.events == [(0, "established"), (1, "established")]


def test_copies_on_every_path_arrive_once():
    class Redundant(sw.Scheduler):
        def select(self, view):
            able = [p.id for p in view.paths if p.usable and p.has_room]
            return able if len(able) == len(view.paths) else None

    totals = transfer(Redundant())
    assert totals["delivered_bytes"] == 5_000_000
    assert totals["duplicate_bytes"] > 3_000_000
    assert sum(p["unique_bytes"] for p in totals["paths"].values()) == 5_000_000


def test_a_wait_with_a_deadline_is_kept():
    class Slow(sw.Scheduler):
        def __init__(self):
            self.next_s = 0.0

        def select(self, view):
            if view.now_s < self.next_s:
                return sw.Wait(until_s=self.next_s)
            self.next_s = view.now_s + 0.05
            return MinRtt().select(view)

    totals = transfer(Slow(), size=20 * 1428)
    assert 0.9 < totals["completion_s"] < 1.6


def test_a_segment_from_further_on_may_go_first():
    class Split(sw.Scheduler):
        """The fast path from the head of the stream, the slow one from 100 kB further on."""

        def select(self, view):
            able = {p.id for p in view.paths if p.usable and p.has_room and not p.tried}
            if 0 in able:
                return 0
            if able and not view.reinjection and view.unsent_bytes > 200_000:
                return sw.Ahead(path=1, gap_bytes=100_000)
            return None

    totals = transfer(Split())
    assert totals["delivered_bytes"] == 5_000_000
    assert totals["paths"]["lte"]["unique_bytes"] > 500_000


def test_a_scheduler_sees_the_known_outages():
    class Careful(MinRtt):
        def __init__(self):
            self.forecasts = set()

        def select(self, view):
            self.forecasts.update(p.forecast_s for p in view.paths)
            return super().select(view)

    starlink, lte = two_paths()
    outage = sw.OutageWindow(start_s=0.5, end_s=0.9)
    down = starlink.down.model_copy(update={"outages": (outage,)})
    starlink = starlink.model_copy(update={"down": down, "forecast": "outages"})
    careful = Careful()
    transfer(careful, paths=[starlink, lte])
    assert careful.forecasts == {(0.5, 0.9), None}


def test_what_a_scheduler_raises_comes_out_and_ends_the_run():
    class Broken(sw.Scheduler):
        def select(self, view):
            raise ZeroDivisionError("no idea")

    with pytest.raises(ZeroDivisionError, match="no idea"):
        transfer(Broken())


def test_nonsense_is_a_type_error_and_a_missing_select_says_so():
    class Nonsense(sw.Scheduler):
        def select(self, view):
            return "starlink"

    with pytest.raises(TypeError, match="return the id of a path"):
        transfer(Nonsense())
    with pytest.raises(NotImplementedError, match="Scheduler has no select"):
        transfer(sw.Scheduler())
