"""What waits at the receiver for earlier bytes: quantities, and their figure."""

from __future__ import annotations

import skyweave as sw
from skyweave.model.record import Record
from skyweave.report.figures.reorder import reorder_figure
from skyweave.report.numbers.reorder import reorder_quantities


def _record(*rtts_ms: float) -> Record:
    def path(name: str, rtt_ms: float) -> sw.Path:
        link = sw.Link(capacity=sw.ConstantRate(mbps=5), delay=sw.ConstantDelay(ms=rtt_ms / 2))
        return sw.Path(name=name, down=link, up=link)

    paths = [path(f"p{number}", rtt_ms) for number, rtt_ms in enumerate(rtts_ms)]
    bulk = sw.Connection(workload=sw.Bulk(duration_s=5))
    return sw.simulate(paths=paths, connections=[bulk], stop_after_s=5)


def test_more_waits_the_more_the_paths_differ() -> None:
    alone, apart = reorder_quantities(_record(20)), reorder_quantities(_record(20, 400))
    assert alone["reorder_mean_mb"][0] < apart["reorder_mean_mb"][0]
    assert 0 < apart["reorder_mean_mb"][0] < apart["reorder_max_mb"][0]


def test_a_panel_is_drawn_to_the_largest_of_all() -> None:
    figure = reorder_figure([("alone", _record(20)), ("apart", _record(20, 400))])
    most = reorder_quantities(_record(20, 400))["reorder_max_mb"][0]
    assert all(axes.get_ylim()[1] >= most for axes in figure.axes)
