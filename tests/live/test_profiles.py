"""``NAME=PROFILE``: the same names and files as in studies, and errors that name the part."""

from __future__ import annotations

from pathlib import Path

import pytest

from skyweave.cli.profiles import LONGEST_S, parse_path
from skyweave.errors import ConfigError
from skyweave.model import config


def test_numbers() -> None:
    path = parse_path("lte=down=20,up=5,rtt=50,loss=0.01,queue=30", seed=1)
    assert path.name == "lte"
    assert path.down.capacity == config.ConstantRate(mbps=20)
    assert path.up.capacity == config.ConstantRate(mbps=5)
    for link in (path.down, path.up):
        assert link.delay == config.ConstantDelay(ms=25)
        assert link.loss == config.Bernoulli(ratio=0.01)
        assert link.queue == config.DropTail(packets=30)


def test_mahimahi_files(tmp_path: Path) -> None:
    trace = tmp_path / "lte.down"
    trace.write_text("0\n1\n1\n5\n")
    path = parse_path(f"lte=down={trace},up={trace},queue=infinite", seed=1)
    assert path.down.capacity == config.Opportunities(times_ms=(0, 1, 1, 5))
    assert path.down.queue == config.InfiniteQueue()


def test_a_preset_is_a_drive_that_repeats_and_its_seed_chooses_it() -> None:
    one, same, other = (parse_path("sl=alaska/starlink,rtt=44", seed) for seed in (1, 1, 2))
    assert one == same != other
    assert isinstance(one.down.capacity, config.RateSteps)
    assert one.down.capacity.repeat_s == LONGEST_S
    assert one.up.delay == config.ConstantDelay(ms=22)


def test_a_file_of_a_drive(tmp_path: Path) -> None:
    file = tmp_path / "drive.csv"
    file.write_text("time_s,SL.downlink_mbps,VZ.downlink_mbps\n0,10,20\n1,11,21\n")
    path = parse_path(f"vz={file}/VZ,rtt=60", seed=1)
    assert isinstance(path.down.capacity, config.RateSteps)
    assert path.down.capacity.mbps == (20.0, 21.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lte", "must be NAME=PROFILE"),
        ("lte=rtt=50", "says no capacity"),
        ("lte=down=20,rrt=5", "did you mean 'rtt'"),
        ("lte=down=fast", "down=fast must be"),
        ("lte=down=20,loss=2", "is a share, 0 to 1"),
        ("lte=down=20,queue=-1", "queue=-1 must be"),
        ("sl=alasca/starlink", "did you mean 'alaska'"),
        ("sl=alaska/starlunk,rtt=1", "did you mean 'starlink'"),
        ("sl=alaska,rtt=1", "write alaska/ONE"),
    ],
)
def test_what_is_wrong_is_named(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_path(text, seed=1)
    assert said in str(caught.value)
    assert text in str(caught.value)
