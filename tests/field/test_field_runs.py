"""Runs over real interfaces: what the networks between two namespaces carry is what they say."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from roads import SERVER, Roads, address, need_roads, road, roads

from skyweave.errors import ConfigError
from skyweave.field import FarEnd, FieldError
from skyweave.field.beside import drive
from skyweave.field.engine import FieldEngine
from skyweave.field.serve import FieldServer
from skyweave.live.priority import real_time
from skyweave.model import config
from skyweave.model.record import Record
from skyweave.testbed.node.tools import tool, within

pytestmark = [pytest.mark.waits, pytest.mark.usefixtures("prompt")]
DOWN = {"starlink": 20.0, "lte": 8.0}
UP = {"starlink": 5.0, "lte": 4.0}
TRIP_MS = {"starlink": 40.0, "lte": 60.0}
TOLERANCE = 0.15
"""By how much a record's rate may be below what the roads carried: headers (4 %), what was sent
twice and what was under way at the end."""
OF_MPTCP = 0.35
"""The same of Linux's Multipath TCP, which sends again on one path what waits on another."""
FILLED = 0.5
"""The least share of the capacity that is used: both ends go before what else the machine does."""
SECONDS = 4.0
LINUX = {"mode": "upstream", "scheduler": "upstream"}
UNKNOWN = config.Link(capacity=config.Unknown(), delay=config.Unknown())


@dataclass
class Field:
    """Two networks, a server at their end, and the engine at the client."""

    roads: Roads
    server: FieldServer
    token: str

    def run(self, *names: str, token: str | None = None, port: int | None = None, devices: Any = (),
            **connection: Any) -> Record:  # fmt: skip
        asked = {**LINUX, "congestion": "cubic", "paths": names, **connection}
        run = config.Run(
            paths=tuple(config.Path(name=one, down=UNKNOWN, up=UNKNOWN) for one in names),
            connections=(config.Connection.model_validate(asked),), stop_after_s=SECONDS,
        )  # fmt: skip
        far = FarEnd(SERVER, port or self.server.port, token or self.token)
        engine = FieldEngine(far, dict(devices))
        record: Record = within(self.roads.client, lambda: engine(run))
        return record


@pytest.fixture(scope="module")
def field() -> Iterator[Field]:
    need_roads()
    made = [road(name, DOWN[name], UP[name], TRIP_MS[name]) for name in DOWN]
    with roads(*made) as found:
        token = secrets.token_urlsafe(32)
        with real_time(1):  # as the other end has it by ``prompt``
            server = within(found.server, lambda: FieldServer("0.0.0.0", range(5200, 5203), token))
        yield Field(found, server, token)
        server.close()


def bulk(direction: str = "down", **more: Any) -> dict[str, Any]:
    return {"workload": {"direction": direction, "duration_s": SECONDS, **more}}


@pytest.mark.parametrize("direction", ["down", "up"])
@pytest.mark.parametrize(
    ("names", "transport"),
    [
        (("starlink",), "tcp"),
        (("lte",), "tcp"),
        (("starlink", "lte"), "mptcp"),
        (("starlink", "lte"), "mpquic"),
    ],
)
def test_a_run_gets_what_its_networks_carry(
    field: Field, names: tuple[str, ...], transport: str, direction: str
) -> None:
    before = {name: field.roads.carried(name, direction) for name in DOWN}
    more = {"scheduler": "minrtt"} if transport == "mpquic" else {}
    record = field.run(*names, transport=transport, **bulk(direction), **more)
    carried = {name: field.roads.carried(name, direction) - before[name] for name in DOWN}
    (only,) = record.totals["connections"]
    capacity = sum((DOWN if direction == "down" else UP)[name] for name in names)
    offered = sum(carried.values()) * 8e-6 / SECONDS
    least = 1 - (OF_MPTCP if transport == "mptcp" else TOLERANCE)
    assert least * offered < only["goodput_mbps"] < offered
    assert FILLED * capacity < only["goodput_mbps"] < capacity
    assert only["error"] is None
    for name in names:
        of_path = only["paths"][name]
        # An acknowledgement of multipath QUIC may come back over the other network.
        back = min(TRIP_MS[one] for one in names) if transport == "mpquic" else TRIP_MS[name]
        least_ms = (TRIP_MS[name] + back) / 2
        # A busy machine adds some.
        assert 0.9 * least_ms < of_path["min_rtt_ms"] < 2 * TRIP_MS[name]
        # Every byte of the transfer came over a road, and little else did.
        assert of_path["unique_bytes"] <= carried[name] <= 1.2 * of_path["unique_bytes"]
        key = "received_bytes" if direction == "down" else "sent_bytes"
        counted = record.provenance["uplinks"][name][key]
        assert counted == pytest.approx(carried[name], rel=0.1)
    # Multipath TCP sends some bytes over both, and a kernel counts those of each.
    unique = sum(only["paths"][name]["unique_bytes"] for name in names)
    assert only["delivered_bytes"] <= unique * 1.001
    assert unique < only["delivered_bytes"] * 1.3
    established = record.events.filter(record.events["event"] == "established")
    assert set(established["path"]) == set(names)
    assert record.samples.filter(record.samples["path"] != "")["cwnd_packets"].max() > 10


def test_a_file_comes_whole_and_the_record_says_over_what(field: Field) -> None:
    record = field.run("starlink", transport="tcp", **bulk(bytes=1_000_000))
    (only,) = record.totals["connections"]
    assert only["delivered_bytes"] == 1_000_000
    assert 0.4 < only["completion_s"] < SECONDS
    facts = record.provenance
    assert facts["engine"] == "field"
    assert facts["uplinks"]["starlink"]["device"] == "starlink"
    assert facts["uplinks"]["starlink"]["address"] == "11.0.1.2"
    assert facts["public_addresses"] == {"starlink": "11.0.1.2"}
    assert facts["server"]["address"] == SERVER
    assert facts["server"]["kernel"] == facts["kernel"]
    # Both sides have one clock here, so what is not known of it is what was found.
    assert facts["clock_error_ms"] == pytest.approx(TRIP_MS["starlink"] / 2, rel=0.3)


def test_probes_measure_each_path_and_count_what_is_lost(field: Field) -> None:
    workload = {"kind": "probe", "every_s": 0.1}
    record = field.run("starlink", "lte", transport="udp", workload=workload)
    table = record.application["probe"]
    for name, trip in TRIP_MS.items():
        own = table.filter((table["path"] == name) & table["refused"].is_null())
        assert len(own) > 20
        # The quickest: the others wait for the processor, too.
        assert own["rtt_ms"].min() == pytest.approx(trip, rel=0.15)
        totals = record.totals["connections"][0]["paths"][name]
        assert totals["sent_packets"] == len(own)
        assert totals["lost_packets"] == own["rtt_ms"].null_count()
    assert record.samples["srtt_ms"].max() > 55


def test_requests_run_over_a_real_network_as_over_an_emulated_one(field: Field) -> None:
    workload = {"kind": "requests", "object_bytes": [20_000], "count": 5}
    record = field.run("lte", transport="tcp", workload=workload)
    took = record.application["requests"]["completion_ms"]
    assert len(took) == 5
    assert took.min() > TRIP_MS["lte"] * 0.95


def test_a_run_leaves_a_drive(field: Field) -> None:
    record = field.run("starlink", "lte", transport="mptcp", **bulk())
    found = drive(record, "tonight", "a test")
    assert found is not None
    for name, path in found.paths.items():
        assert path.downlink_mbps is not None
        assert path.rtt_ms is not None
        assert (path.downlink_mbps.values > 0).all()  # nothing before or after the transfer
        assert path.downlink_mbps.values.max() == pytest.approx(DOWN[name], rel=0.3)
        assert TRIP_MS[name] * 0.95 < np.nanmin(path.rtt_ms.values) < TRIP_MS[name] + 200


def test_what_is_missing_is_said_in_a_sentence(field: Field) -> None:
    with pytest.raises(ConfigError, match=r"no network device 'sl0' \(it has .*--uplink"):
        field.run("starlink", devices={"starlink": "sl0"}, transport="tcp", **bulk())
    with pytest.raises(FieldError, match="does not answer by 'lte'"):
        field.run("lte", port=5900, transport="tcp", **bulk())
    with pytest.raises(FieldError, match="does not answer by 'lte'"):
        field.run("lte", token="x" * 43, transport="tcp", **bulk())
    with pytest.raises(ConfigError, match="Linux has no congestion control 'bbr2'"):
        field.run("lte", transport="tcp", congestion="bbr2", **bulk())
    with pytest.raises(ConfigError, match=r"mode = \"upstream\""):
        field.run("starlink", "lte", transport="mptcp", mode="v0.96", **bulk())


def test_multipath_tcp_that_joins_no_path_is_said(field: Field) -> None:
    name, short = field.roads.client.name, {"duration_s": 2.5}  # longer than a late join takes
    tool("ip", "-n", name, "mptcp", "endpoint", "flush")
    try:
        with pytest.raises(FieldError, match=r"over 'lte', .* endpoint add 11\.0\.2\.2 dev lte"):
            field.run("starlink", "lte", transport="mptcp", workload=short)
    finally:
        for place, device in enumerate(DOWN):
            tool("ip", "-n", name, "mptcp", "endpoint", "add", address(place), "dev", device,
                 "subflow")  # fmt: skip


def test_multipath_tcp_needs_routes_by_address(field: Field) -> None:
    name = field.roads.client.name
    rule = ("rule", "del", "from", "11.0.2.2", "table", "102")
    tool("ip", "-n", name, *rule)
    try:
        with pytest.raises(ConfigError, match=r"ip rule add from 11\.0\.2\.2"):
            field.run("starlink", "lte", transport="mptcp", **bulk())
        # Multipath QUIC and TCP are bound to their devices, and need none.
        record = field.run("lte", transport="tcp", **bulk(bytes=100_000))
        assert record.totals["connections"][0]["delivered_bytes"] == 100_000
    finally:
        tool("ip", "-n", name, "rule", "add", *rule[2:])
