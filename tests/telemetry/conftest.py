"""A world for fake dishes, and clocks that only move when a test says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from skyweave.orbit import OrbitSpec
from skyweave.telemetry.dish.fake import FakeDish
from skyweave.telemetry.dish.world import World

START_S = 1_777_593_612.0
"""2026-05-01 00:00:12 UTC: the beginning of a slot."""


class Clock:
    """Unix time that stands still."""

    def __init__(self, now: float = START_S) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def world() -> World:
    spec = OrbitSpec.model_validate(
        {"terminal": "seattle", "gateways": ["denver"], "gap_s": 0.2, "extra_rtt_ms": 20}
    )
    return World(spec, START_S)


@pytest.fixture
def fake(world: World, clock: Clock) -> Iterator[Callable[..., FakeDish]]:
    """Start fake dishes that end with the test."""
    made: list[FakeDish] = []

    def start(**options: Any) -> FakeDish:
        made.append(FakeDish(world, clock, **options).start())
        return made[-1]

    yield start
    for one in made:
        one.stop()
