"""What a long test keeps of runs that are not done: cause, kills nearby, groups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from causes import Kill, causes, grouped
from test_testbed_runs import NOW, World, once

from skyweave.testbed.store import Database, migrate


def test_each_run_that_is_not_done_keeps_its_cause(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/testbed.db"
    database = Database(url)
    migrate(database)
    world = World(database, tmp_path)
    world.submit(when=once(NOW + 60), node="carol")  # is done, and in no list
    world.away = {"alice"}
    world.submit(when=once(NOW + 100))
    world.go(NOW + 200)
    world.away = set()
    world.settle()
    database.close()
    kills = [Kill(NOW + 90, "alice"), Kill(NOW - 1000, "orchestrator"), Kill(NOW + 9e6, "far")]
    (found,) = causes(url, kills)
    assert (found["node"], found["state"], found["reason"]) == ("alice", "refused", "late")
    assert "too late" in found["why"]
    assert found["kills"] == ["alice -10.0 s"]
    assert found["states"][-1].startswith("refused")
    assert [one.split()[1] for one in found["told"]] == ["accepted", "refused"]
    (group,) = grouped([found])
    assert (group["kind"], group["count"], group["with_a_kill_nearby"]) == ("late", 1, 1)


def one(number: int, why: str, **more: Any) -> dict[str, Any]:
    """Return what is kept of a run."""
    return {
        "run": f"{number}", "state": "failed", "outcome": "failed", "reason": None, "why": why,
        "kills": [], **more,
    }  # fmt: skip


def test_causes_that_differ_in_numbers_alone_are_one_group() -> None:
    found = [
        one(1, "its latest start was 3.2 s ago", state="refused", reason="late"),
        one(2, "its latest start was 11 s ago", state="refused", reason="late", kills=["far"]),
        one(3, "ip netns add skyweave-ab12cd34ef-00000000000000000000000a: exists"),
        one(4, "ip netns add skyweave-ab12cd34ef-00000000000000000000000b: exists"),
        one(5, "ip netns add skyweave-ab12cd34ef-00000000000000000000000c: exists"),
        one(6, "no answer"),
    ]
    groups = grouped(found)
    assert [(group["kind"], group["count"]) for group in groups] == [
        ("failed", 3), ("late", 2), ("failed", 1),
    ]  # fmt: skip
    assert groups[1]["with_a_kill_nearby"] == 1
    assert groups[0]["runs"] == ["3", "4", "5"]
