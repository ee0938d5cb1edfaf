"""What a fake dish can do wrong: what real dishes, their firmware and their networks do."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from skyweave.errors import ConfigError, unknown_name


class Fault(StrEnum):
    """A fault by the name that ``skyweave dish fake --fault`` takes."""

    UNREACHABLE = "unreachable"
    """No call is answered."""
    REBOOT = "reboot"
    """The call under way is cut; counters, uptime and map begin anew."""
    COUNTER_RESET = "counter-reset"
    """The ring of the history begins anew, without a reboot."""
    FIELD_MISSING = "field-missing"
    """A firmware without latency, attitude and outages."""
    UNKNOWN_FIELD = "unknown-field"
    """A firmware with a field that its own schema does not have."""
    LOCATION_DENIED = "location-denied"
    """The owner has not allowed the location."""
    TORN = "torn"
    """Half of each reply."""
    SLOW = "slow"
    """Each reply comes 10 s late."""
    HUGE = "huge"
    """Replies of 100 MB."""
    NOT_A_NUMBER = "not-a-number"
    """NaN, infinite and negative values."""
    CLOCK_OFF = "clock-off"
    """The dish's clock is two minutes ahead."""
    OTHER_MAP = "other-map"
    """A map of 61 by 61 pixels."""


SLOW_S = 10.0
HUGE_BYTES = 100 * 10**6
CLOCK_OFF_S = 120.0
OTHER_MAP = 61
WITHOUT = (
    "DishGetStatusResponse.pop_ping_latency_ms",
    "DishGetStatusResponse.ned2dish_quaternion",
    "DishGetStatusResponse.outage",
    "DishGetHistoryResponse.pop_ping_latency_ms",
)
"""What the schema of ``field-missing`` lacks."""
ONCE = (Fault.REBOOT, Fault.COUNTER_RESET)
"""Faults that happen and are over."""


@dataclass(frozen=True)
class Planned:
    """A fault from ``start_s`` after the fake began, for ``length_s`` (infinite: from then on)."""

    fault: Fault
    start_s: float = 0.0
    length_s: float = math.inf

    def active(self, age_s: float) -> bool:
        """Tell whether the fault is there, the fake being as old as that."""
        return self.start_s <= age_s < self.start_s + self.length_s


def parse_fault(text: str) -> Planned:
    """Read ``NAME``, ``NAME@START`` or ``NAME@START+LENGTH`` (seconds).

    >>> parse_fault("torn@60+5")
    Planned(fault=<Fault.TORN: 'torn'>, start_s=60.0, length_s=5.0)
    """
    name, _, when = text.partition("@")
    if name not in set(Fault):
        raise ConfigError(f"--fault: {unknown_name('fault', name, list(Fault))}")
    start, _, length = when.partition("+")
    try:
        planned = Planned(Fault(name), float(start or 0), float(length or math.inf))
    except ValueError:
        planned = Planned(Fault(name), math.nan)
    if not (planned.start_s >= 0 and planned.length_s > 0 and math.isfinite(planned.start_s)):
        raise ConfigError(f"--fault {text}: write NAME, NAME@START or NAME@START+LENGTH in seconds")
    return planned
