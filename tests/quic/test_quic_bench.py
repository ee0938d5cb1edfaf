"""``skyweave bench mpquic``: what it needs, and what it reads."""

from __future__ import annotations

import shutil

import pytest

from skyweave.cli.bench import mpquic as bench
from skyweave.cli.bench.gateway import gateway
from skyweave.errors import ConfigError


def test_without_cargo_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(ConfigError, match="checkout of the repository, with cargo"):
        bench.build()


def test_every_figure_has_a_meaning() -> None:
    said = "idle: 1 bytes per end\n" + "\n".join(
        f"{who:<5} {paths} path(s):  12345 datagrams/s,   3456 Mbit/s, best 4567"
        for who in ("ours", "noq")
        for paths in (1, 2)
    )
    found = bench.parse_memory(said)
    assert len(found) == 9
    for name in (*found, "ours_1_path_gbps", "gateway_2_path_cpu_s_per_gbit"):
        assert bench.meaning(name)


def test_a_gateway_s_figures_have_meanings_too() -> None:
    found = gateway(megabytes=1, rounds=1)
    assert len(found) == 4
    assert all(value > 0 for value in found.values())
    assert all("through a gateway" in bench.meaning(name) for name in found)
