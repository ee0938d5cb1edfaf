"""The figure of a run's ends and links says what ran."""

from __future__ import annotations

import skyweave as sw
from skyweave.plotting.style import drawing, svg_text
from skyweave.report.figures.topology import topology_figure
from skyweave.report.numbers.namer import Namer


def _texts(connection: sw.Connection, direction: str = "down") -> list[str]:
    def path(name: str, mbps: tuple[float, ...], ms: float) -> sw.Path:
        rates = sw.RateSteps(times_s=(0.0, 1.0, 2.0, 3.0), mbps=mbps)
        link = sw.Link(capacity=rates, delay=sw.ConstantDelay(ms=ms), queue=sw.DropTail(packets=70))
        return sw.Path(name=name, down=link, up=link)

    paths = (path("dish", (4.0, 8.0, 8.0, 12.0), 20), path("$\\frac{", (5.0,) * 4, 35))
    run = sw.Run(paths=paths, connections=(connection,), stop_after_s=4).model_dump(mode="json")
    namer = Namer({"paths": {"dish": {"label": "Starlink"}}, "drives": []})
    with drawing("topology"):
        figure = topology_figure(run, {}, namer, direction)
        svg_text(figure)
    return [text.get_text() for text in figure.axes[0].texts]


def test_rates_round_trips_and_queues_are_those_of_the_run() -> None:
    work = sw.Bulk(bytes=1_000_000)
    texts = _texts(sw.Connection(transport="mptcp", scheduler="blest", workload=work))
    for words in ("Starlink", "$\\frac{", "1 MB", "scheduler blest", "server: sender"):
        assert words in texts
    facts = [text for text in texts if " RTT" in text]
    assert facts == [
        "8 (4 to 12) Mbit/s · 40 ms RTT · droptail 70 packets",
        "5 Mbit/s · 70 ms RTT · droptail 70 packets",
    ]


def test_one_path_of_plain_tcp_has_no_scheduler_and_an_upload_has_the_client_send() -> None:
    work = sw.Bulk(duration_s=2, direction="up")
    texts = _texts(sw.Connection(transport="tcp", paths=("dish",), workload=work), "up")
    assert "client: sender" in texts
    assert not [text for text in texts if "scheduler" in text]
    assert len([text for text in texts if " RTT" in text]) == 1


def test_a_real_network_has_no_rates_to_draw() -> None:
    """Nobody knows its capacity, delay and queue: the field engine's records say ``unknown``."""
    unknown = {part: {"kind": "unknown"} for part in ("capacity", "delay", "queue", "loss")}
    work = sw.Connection(workload=sw.Bulk(duration_s=2)).model_dump(mode="json")
    run = {"paths": [{"name": "eth0", "down": unknown, "up": unknown}], "connections": [work]}
    with drawing("topology"):
        figure = topology_figure({**run, "stop_after_s": 2}, {}, Namer({"paths": {}}), "down")
    assert "a real network" in [text.get_text() for text in figure.axes[0].texts]
