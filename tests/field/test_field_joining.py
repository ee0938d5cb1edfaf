"""Which runs of Multipath TCP are refused because a subflow is missing."""

from __future__ import annotations

from typing import Any

import pytest

from skyweave.field import FieldError
from skyweave.field.carry import _check_joined
from skyweave.field.uplinks import Uplink
from skyweave.live.world import addresses
from skyweave.model import config

UNKNOWN = config.Link(capacity=config.Unknown(), delay=config.Unknown())
NAMES = ("starlink", "lte")
UPLINKS = {
    name: Uplink(name=name, device=name, address=f"11.0.{place + 1}.2", routed=True)
    for place, name in enumerate(NAMES)
}


def run() -> config.Run:
    asked = {"paths": NAMES, "mode": "upstream", "scheduler": "upstream", "transport": "mptcp"}
    return config.Run(
        paths=tuple(config.Path(name=name, down=UNKNOWN, up=UNKNOWN) for name in NAMES),
        connections=(config.Connection.model_validate(asked),),
    )


def seen(seconds: float, places: int, *, fallback: bool = False) -> dict[str, Any]:
    """Two looks at a connection, so far apart, with subflows over that many paths."""
    flows = [{"local": (addresses.client_address(place), 1)} for place in range(places)]
    looks = (0, round(seconds * 1e9))
    rows = [{"at_ns": at, "subflows": flows, "fallback": fallback} for at in looks]
    return {"place": 0, "rows": rows}


def test_a_path_that_was_never_tried_is_named() -> None:
    with pytest.raises(FieldError, match=r"no subflow over 'lte'.*11\.0\.2\.2 dev lte subflow"):
        _check_joined(run(), seen(4.0, 1), UPLINKS)


@pytest.mark.parametrize(
    "ours",
    [seen(4.0, 2), seen(4.0, 1, fallback=True), seen(0.7, 1), {"place": 0, "rows": []}],
    ids=["joined", "fell-back", "over-before-it", "nothing-seen"],
)
def test_other_runs_are_results(ours: dict[str, Any]) -> None:
    _check_joined(run(), ours, UPLINKS)
