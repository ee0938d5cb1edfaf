"""What the columns of a table mean: clocks, rates, round trips, networks, by name and by sense."""

from skyweave.data.sense.clock import Clock
from skyweave.data.sense.columns import Meaning, meaning

__all__ = ["Clock", "Meaning", "meaning"]
