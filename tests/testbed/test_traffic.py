"""The table of what a run carried."""

from __future__ import annotations

from skyweave.testbed.node.traffic import HEAD, Traffic


def test_each_second_has_a_row_and_the_end_has_one_of_its_own() -> None:
    traffic = Traffic()
    for now, received in ((10.2, 1), (10.9, 5), (11.1, 7)):
        traffic.look(now, {"lte": (0, received)})
    traffic.end(11.8, {"lte": (2, 9)})
    assert traffic.csv().decode().splitlines() == [
        HEAD, "10.200,lte,0,1", "11.100,lte,0,7", "11.800,lte,2,9",
    ]  # fmt: skip
    assert [row[0] for row in traffic.rows] == [10.2, 11.1]
