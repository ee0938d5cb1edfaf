"""Paths that come, go and fall silent: described in a study, shifted with a window, simulated."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_expand import prepared
from test_language import LINKS, refusal

from skyweave.data.window import window
from skyweave.engine.simulator import simulate
from skyweave.model import config
from skyweave.model.drive import PathTrace
from skyweave.model.windows import OutageWindow, UpWindow
from skyweave.study.compile.links import opening_order

SCRIPT = """rtt_ms = 30
outages = [{ start_s = 2, end_s = 3 }, { start_s = 5, end_s = 6.5, in_flight = "hold" }]
present = [{ start_s = 0, end_s = 8 }, { start_s = 9 }]
"""


def test_outages_and_presence_reach_the_run(tmp_path: Path) -> None:
    text = LINKS.replace("rtt_ms = 30\n", SCRIPT).replace("[paths.UP]", "[paths.UP]\nbackup = true")
    run = prepared(tmp_path, text).jobs[0].run
    path = run.paths[0]
    outages = (
        OutageWindow(start_s=2, end_s=3),
        OutageWindow(start_s=5, end_s=6.5, in_flight="hold"),
    )
    assert path.down.outages == path.up.outages == outages
    assert path.present == (UpWindow(start_s=0, end_s=8), UpWindow(start_s=9))
    assert path.backup
    rates = simulate(run).goodput_mbps()
    silent = rates.filter((rates["time_s"] > 2.2) & (rates["time_s"] <= 3))["goodput_mbps"]
    assert silent.sum() == 0
    assert rates["goodput_mbps"].sum() > 0


def test_without_a_script_nothing_changes(tmp_path: Path) -> None:
    path = prepared(tmp_path, LINKS).jobs[0].run.paths[0]
    assert path.down.outages == ()
    assert path.present == (UpWindow(start_s=0.0),)
    assert not path.backup


def test_a_window_shifts_the_script() -> None:
    trace = PathTrace(
        outages=tuple(
            OutageWindow(start_s=a, end_s=b, in_flight="hold")
            for a, b in ((1, 4), (8, 12), (14, 25), (30, 31))
        ),
        present=(UpWindow(start_s=0, end_s=9), UpWindow(start_s=11)),
    )
    cut = window(trace, 10, 20)
    assert [(o.start_s, o.end_s, o.in_flight) for o in cut.outages] == [
        (0, 2, "hold"),
        (4, 15, "hold"),
    ]
    assert cut.present == (UpWindow(start_s=1),)
    assert window(PathTrace(), 10, 20).present is None
    gone = PathTrace(present=(UpWindow(start_s=0, end_s=5),))
    assert window(gone, 10, 20).present == ()  # away for the whole piece, not always there


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("outages = [{ start_s = 5, end_s = 5 }]", "from 5 s to 5 s: end_s must be after start_s"),
        (
            "outages = [{ start_s = 1, end_s = 5 }, { start_s = 4, end_s = 6 }]",
            "outages overlap: one has end_s 5, the next start_s 4; put them in order",
        ),
        (
            "present = [{ start_s = 1 }, { start_s = 4, end_s = 6 }]",
            "present overlap: one has no end_s, the next start_s 4",
        ),
        ("present = []", "at least 1"),
        ("outages = [{ start_s = 1, ends_s = 5 }]", "unknown key 'ends_s': did you mean 'end_s'"),
        ('outages = [{ start_s = 1, end_s = 5, in_flight = "keep" }]', "'drop' or 'hold'"),
    ],
)
def test_bad_scripts(tmp_path: Path, script: str, said: str) -> None:
    message = refusal(tmp_path, LINKS.replace("rtt_ms = 30\n", f"rtt_ms = 30\n{script}\n"))
    assert said in message
    assert "study.toml:" in message


def test_a_connection_opens_on_a_path_that_is_there() -> None:
    def path(name: str, outages: tuple[OutageWindow, ...], present: UpWindow) -> config.Path:
        link = config.Link(
            capacity=config.ConstantRate(mbps=10),
            delay=config.ConstantDelay(ms=5),
            outages=outages,
        )
        return config.Path(name=name, down=link, up=link, present=(present,))

    late = path("late", (), UpWindow(start_s=3))
    out = path("out", (OutageWindow(start_s=0, end_s=2),), UpWindow(start_s=0))
    never = path("never", (), UpWindow(start_s=0, end_s=0))
    now = path("now", (), UpWindow(start_s=0))
    assert opening_order((never, late, out, now)) == ("now", "out", "late", "never")
