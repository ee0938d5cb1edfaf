"""What the kernel cannot do is said before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_paths import path

from skyweave.live import check
from skyweave.live.check import refusal
from skyweave.model import config

PATHS = (path("a"), path("b"))
LINUX = {"mode": "upstream", "scheduler": "upstream"}


def run(*connections: dict[str, object], paths: tuple[config.Path, ...] = PATHS) -> config.Run:
    made = tuple(config.Connection.model_validate(one) for one in connections)
    return config.Run(paths=paths, connections=made)


def test_what_linux_does_is_not_refused() -> None:
    assert refusal(run({"transport": "tcp", "congestion": "newreno"})) is None
    assert refusal(run({**LINUX, "congestion": "cubic"})) is None
    assert refusal(run({**LINUX, "congestion": {"name": "bbr"}})) is None
    assert refusal(run({**LINUX, "congestion": "cubic-linux"})) is None


@pytest.mark.parametrize(
    ("connections", "said"),
    [
        ([{"mode": "v0.96"}], "mode 'upstream', not 'v0.96'"),
        ([{"mode": "upstream", "scheduler": "blest"}], "one packet scheduler"),
        ([{**LINUX, "congestion": "olia"}], "no congestion control 'olia'"),
        ([{**LINUX, "congestion": {"name": "bbr", "cwnd_gain": 3.0}}], "cannot be set in Linux"),
        (
            [{**LINUX, "receive_buffer_bytes": 9000}, {**LINUX, "receive_buffer_bytes": 8000}],
            "buffers are set for all connections",
        ),
        ([{**LINUX, "paths": ["a"]}, {**LINUX, "paths": ["b"]}], "use the same paths"),
    ],
)
def test_what_linux_does_not_do_is_refused(connections: list[dict[str, object]], said: str) -> None:
    reason = refusal(run(*connections))
    assert reason is not None
    assert said in reason


def test_only_multipath_tcp_needs_a_kernel_that_has_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(check, "MPTCP", tmp_path / "absent")
    assert refusal(run({"transport": "mpquic"})) is None
    assert refusal(run({"transport": "mpquic"}, {"transport": "tcp"})) is None
    for connections in ([LINUX], [{"transport": "mpquic"}, LINUX]):
        assert "no Multipath TCP" in (refusal(run(*connections)) or "")


def test_more_paths_than_linux_joins_are_refused() -> None:
    many = tuple(path(f"p{number}") for number in range(33))
    assert "has 9 paths, and Linux joins at most 8" in (refusal(run(LINUX, paths=many[:9])) or "")
    eight = {**LINUX, "paths": [one.name for one in many[:8]]}
    assert refusal(run(eight, paths=many[:9])) is None
    assert refusal(run({"transport": "mpquic"}, {"transport": "tcp"}, paths=many[:32])) is None
    assert "33 paths, and 32 may be" in (refusal(run({"transport": "mpquic"}, paths=many)) or "")
