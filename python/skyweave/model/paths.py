"""The paths of a run that do what a drive did."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from skyweave.errors import DataError
from skyweave.model import config, steps
from skyweave.model.drive import Drive, PathTrace
from skyweave.model.windows import UpWindow


def paths_of(drive: Drive, rtt_ms: float | Mapping[str, float] | None) -> tuple[config.Path, ...]:
    """Return a path for each of the drive, see :meth:`Drive.to_paths`."""
    return tuple(_path(drive, name, trace, rtt_ms) for name, trace in drive.paths.items())


def _path(
    drive: Drive, name: str, trace: PathTrace, rtt_ms: float | Mapping[str, float] | None
) -> config.Path:
    given = rtt_ms.get(name) if isinstance(rtt_ms, Mapping) else rtt_ms
    measured = trace.rtt_ms
    if given is None and (measured is None or np.isnan(measured.values).all()):
        raise DataError(f"drive '{drive.name}': path '{name}' has no round trips; give rtt_ms")
    delay = steps.delay(measured) if given is None and measured is not None else None
    down, up = (
        config.Link(
            capacity=steps.capacity(rates, drive.duration_s),
            delay=delay or config.ConstantDelay(ms=(given or 0.0) / 2),
            outages=trace.outages,
        )
        for rates in (trace.downlink_mbps, trace.uplink_mbps)
    )
    always = (UpWindow(start_s=0.0),)
    present = always if trace.present is None else trace.present
    return config.Path(name=name, down=down, up=up, present=present)
