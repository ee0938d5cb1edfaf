"""``skyweave bench orbit``: how fast the satellites are computed, measured, never judged."""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable
from typing import Annotated

import typer

from skyweave.cli.bench.figures import say_figures
from skyweave.orbit.catalogue import load_constellation
from skyweave.orbit.path import orbit_path
from skyweave.orbit.spec import OrbitSpec

REPETITIONS = 15
SATELLITES = 7_500
DAY_S = 86_400.0

_MEANING = {
    "look_angles_7500_ms": "as many satellites at one moment from one place, one core (scaled)",
    "day_of_passes_s": "passes of all satellites in 24 h over one place",
    "day_of_slots_gateway_s": "24 h at slot resolution through a gateway, highest elevation",
    "day_of_slots_isl_s": "24 h at slot resolution over links between satellites, shortest path",
    "satellites": "how many the constellation has",
    "peak_rss_mb": "peak memory of the whole process, Python included",
}


def bench_orbit(
    constellation: Annotated[
        str, typer.Argument(help="A built-in constellation, or a file of elements.")
    ] = "starlink",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure the orbits: look angles, passes, a day of schedules, memory."""
    say_figures(measure_orbit(constellation), _MEANING, as_json)


def measure_orbit(name: str = "starlink") -> dict[str, float]:
    """Measure; the keys are those of ``skyweave bench orbit --json``. Medians of several runs."""
    constellation = load_constellation(name)
    begin_s = constellation.median_epoch_unix_s
    chicago = (41.88, -87.63, 0.0)
    both = {"constellation": name, "terminal": "chicago", "step_s": 15}
    gateway = OrbitSpec.model_validate({**both, "gateways": ["42.5,-88.5"]})
    isl = OrbitSpec.model_validate({**both, "to": "tokyo", "via": "isl", "policy": "shortest-path"})
    look_s = _wall_s(lambda: constellation.look_angles(begin_s + 60, chicago), REPETITIONS)
    span = (begin_s, begin_s + DAY_S)
    return {
        "look_angles_7500_ms": look_s * 1e3 * SATELLITES / len(constellation),
        "day_of_passes_s": _wall_s(lambda: constellation.passes(span, chicago, 25.0, 0.0), 3),
        "day_of_slots_gateway_s": _wall_s(lambda: orbit_path(gateway, DAY_S), 3),
        "day_of_slots_isl_s": _wall_s(lambda: orbit_path(isl, DAY_S), 3),
        "satellites": len(constellation),
        "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def _wall_s(work: Callable[[], object], repetitions: int) -> float:
    def once() -> float:
        begin = time.perf_counter()
        work()
        return time.perf_counter() - begin

    return statistics.median(once() for _ in range(repetitions))
