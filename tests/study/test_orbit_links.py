"""Round-trip times from orbits and cables in described links."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from test_language import prepared, refusal

from skyweave.errors import ConfigError, DataError
from skyweave.model import config
from skyweave.model.forecast import Forecast, ForecastUpdate
from skyweave.model.windows import ForecastWindow

ORBIT = """
[study]
name = "orbit"
title = "Chicago to Tokyo"
[[drives]]
name = "sky"
seeds = 3
duration_s = 120
[drives.links.cable]
downlink_mbps = 10
uplink_mbps = 10
rtt_ms = { fibre = { places = ["chicago", "tokyo"], stretch = 2 } }
[drives.links.sat]
downlink_mbps = 50
uplink_mbps = 50
outages = [{ start_s = 1, end_s = 2 }]
[drives.links.sat.rtt_ms]
spread_s = 86400
orbit = { terminal = "chicago", to = "tokyo", via = "isl", gap_s = 0.5 }
[paths.sat]
kind = "satellite"
rtt_ms = "trace"
[paths.cable]
rtt_ms = "trace"
[settings]
allow_dead_paths = true
[[compare]]
paths = "sat+cable"
"""


def test_delay_and_outages_come_from_the_orbit(tmp_path: Path) -> None:
    jobs = prepared(tmp_path, ORBIT).jobs
    for job in jobs:
        sat, cable = job.run.paths
        assert isinstance(sat.down.delay, config.DelaySteps)
        assert isinstance(cable.down.delay, config.DelaySteps)
        assert 2 * cable.down.delay.ms[0] == pytest.approx(2 * 99.3, abs=0.1)
        assert 2 * min(sat.down.delay.ms) > 65
        assert (sat.down.outages[0].start_s, sat.down.outages[0].end_s) == (1, 2)
        gaps = [one.end_s - one.start_s for one in sat.down.outages[1:]]
        assert gaps
        assert gaps == pytest.approx([0.5] * len(gaps))
        assert job.run.stop_after_s == 120
    delays = {job.run.paths[0].down.delay.model_dump_json() for job in jobs}
    assert len(delays) == 3, "each seed begins at another moment"


def test_the_delay_steps_at_handovers(tmp_path: Path) -> None:
    run = prepared(tmp_path, ORBIT).jobs[0].run
    delay = run.paths[0].down.delay
    assert isinstance(delay, config.DelaySteps)
    steps = np.array(delay.times_s)[1:][np.abs(np.diff(delay.ms)) > 1.0]
    ends = [one.end_s for one in run.paths[0].down.outages[1:]]
    starts = [one.start_s for one in run.paths[0].down.outages[1:]]
    inside = [
        any(a - 1e-6 <= t <= b + 1e-6 for a, b in zip(starts, ends, strict=True)) for t in steps
    ]
    assert np.mean(inside) > 0.5, "new routes behind the first satellite are the rest"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"chicago", to', '"chicgo", to', "chicago"),
        (', to = "tokyo"', "", "needs the far end"),
        ("gap_s = 0.5", "gap = 0.5", "unknown key 'gap'"),
        ('["chicago", "tokyo"]', '["chicago"]', "places"),
    ],
)
def test_mistakes_name_the_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    refused = refusal(tmp_path, ORBIT.replace(old, new, 1))
    assert said in refused
    assert "study.toml:" in refused


def test_no_satellite_at_all_is_refused(tmp_path: Path) -> None:
    text = ORBIT.replace(
        'terminal = "chicago", to', 'constellation = "starlink-53", terminal = "90,0", to'
    )
    with pytest.raises(ConfigError, match="no satellite serves it in 120 s"):
        prepared(tmp_path, text)


def test_elements_that_are_not_there_leave_the_drives_out(tmp_path: Path) -> None:
    text = ORBIT.replace(
        'terminal = "chicago", to', 'constellation = "none.tle", terminal = "chicago", to'
    )
    other = (
        text.replace('paths = "sat+cable"', 'paths = "sat+cable"\ndrives = "sky"')
        + """
[[drives]]
name = "ground"
duration_s = 10
links.cable = { downlink_mbps = 10, uplink_mbps = 10, rtt_ms = 30 }
[[compare]]
paths = "cable"
"""
    )
    found = prepared(tmp_path, other)
    assert {job.labels["drives"] for job in found.jobs} == {"ground"}
    assert "they need the orbital elements 'none.tle'" in " ".join(found.frozen["notes"])


def test_a_forecast_file_reaches_the_sender(tmp_path: Path) -> None:
    begin = 1_735_689_600.0  # 2025-01-01, where the built-in shells hold
    window = {"start_unix_s": begin + 20, "end_unix_s": begin + 22, "probability": 0.5}
    forecast = {
        "kind": "skyweave-forecast", "schema_version": 1, "source": "made up", "method": "by hand",
        "start_unix_s": begin, "end_unix_s": begin + 200, "windows": [window],
    }  # fmt: skip
    (tmp_path / "sat.json").write_text(json.dumps(forecast))
    text = ORBIT.replace("spread_s = 86400\n", "").replace("allow", 'forecast = "file"\nallow')
    text = text.replace("[paths.sat]\n", '[paths.sat]\nforecast_file = "sat.json"\n')
    sat, cable = prepared(tmp_path, text).jobs[0].run.paths
    foreseen = ForecastWindow(start_s=20, end_s=22, probability=0.5)
    assert sat.forecast == Forecast(outages=(foreseen,))
    assert cable.forecast == ()
    corrected = {"issued_at_s": 9, "outages": [{"start_s": 24, "end_s": 25}]}
    changed = {
        "schema_version": 2, "forecast": {"outages": [{"start_s": 20, "end_s": 22}]},
        "updates": [{"arrives_s": 10, "forecast": corrected}],
    }  # fmt: skip
    del forecast["windows"]
    (tmp_path / "sat.json").write_text(json.dumps(forecast | changed))
    sat, cable = prepared(tmp_path, text).jobs[0].run.paths
    assert sat.forecast == Forecast(outages=(ForecastWindow(start_s=20, end_s=22),))
    arrives = ForecastUpdate(arrives_s=10, forecast=Forecast.model_validate(corrected))
    assert (sat.forecast_updates, cable.forecast_updates) == ((arrives,), ())
    with pytest.raises(ConfigError, match="is not within the forecast"):
        prepared(tmp_path, text.replace("duration_s = 120", "duration_s = 300"))
    with pytest.raises(DataError, match=r"none\.json: no such file"):
        prepared(tmp_path, text.replace("sat.json", "none.json"))
