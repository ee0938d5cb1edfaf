"""For all folders of tests: real measurements, tests that wait, how Hypothesis runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from skyweave.live.priority import real_time

REPOSITORY = Path(__file__).parents[1]

WAITING = (
    "live/",
    "quic/",
    "cli/test_cli_lazy.py",
    "data/test_calibration.py",
    "engine/test_relay_seam.py",
    "study/test_cluster.py",
    "study/test_engines.py",
    "study/test_session.py",
    "telemetry/test_dish.py",
    "telemetry/test_probes.py",
    "telemetry/test_serving.py",
    "telemetry/test_public_client.py",
    "testbed/test_measure.py",
    "testbed/test_node_agent.py",
    "testbed/test_node_leoscope.py",
    "testbed/test_node_sandbox.py",
    "testbed/test_node_scavenger.py",
    "testbed/test_node_settings.py",
    "video/test_players.py",
)
"""What waits for a network, a process, a signal or a long computation: ``make test-waits``."""

SMALL_STUDY = """
[study]
name = "small"
title = "Small"

[[drives]]
name = "alaska"
preset = "alaska"
seeds = 2
duration_s = 10

[paths.starlink]
rtt_ms = 50

[paths.verizon]
rtt_ms = 50

[settings]
allow_dead_paths = true

[[compare]]
paths = ["singles", "pairs"]
"""
"""Six runs of ten seconds on synthetic drives."""

# A background job of a shell begins with SIGINT ignored, and so would all that tests start:
# none of it could be interrupted.
if (
    threading.current_thread() is threading.main_thread()
    and signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes depends on what else the machine does.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that wait."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            name = item.path.relative_to(here).as_posix()
            if name.startswith(WAITING):
                item.add_marker("waits")


_ALONE = "SKYWEAVE_TEST_ALONE"
"""Set in the process that a test marked ``alone`` has to itself."""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test marked ``alone`` in a new process.

    It counts the descriptors of its process; threads that an earlier test left running, as those of
    a gRPC channel that connects anew, open and close some at any time.
    """
    if pyfuncitem.get_closest_marker("alone") is None or _ALONE in os.environ:
        return None
    pytest_own = ("PYTEST_XDIST", "PYTEST_CURRENT_TEST")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(pytest_own)}
    made = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", pyfuncitem.nodeid],
        cwd=pyfuncitem.config.rootpath, env=clean | {_ALONE: "1"}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if made.returncode:
        pytest.fail(made.stdout + made.stderr, pytrace=False)
    return True


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Write a small study, and return its file."""
    file = tmp_path / "study.toml"
    file.write_text(SMALL_STUDY)
    return file


@pytest.fixture(scope="session")
def data_with() -> Callable[[str], Path]:
    """Find the folder of real data sets that holds one of them; without it the test is skipped.

    $SKYWEAVE_DATA, else ../shared/data beside the repository.
    """

    def find(name: str) -> Path:
        places = [os.environ.get("SKYWEAVE_DATA"), REPOSITORY.parent / "shared" / "data"]
        for place in filter(None, places):
            if (Path(place) / name).is_dir():
                return Path(place)
        pytest.skip(f"no real data here: set SKYWEAVE_DATA to a folder with {name}, …")

    return find


@pytest.fixture
def prompt() -> Iterator[None]:
    """What the test starts runs before all ordinary processes, and after the relay.

    An end of a connection that waits for the processor for a second is a path that is silent for a
    second: beside busy programs paths failed that nothing was wrong with.
    """
    with real_time(1):
        yield
