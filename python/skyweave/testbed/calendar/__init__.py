"""The calendar: pure logic, in whole seconds of UTC; whoever asks says what time it is.

* ``interval``: half-open intervals and sorted lists of them; ``schedule``: once, every, cron
* ``rule``: which classes share, and the first clash of two schedules; ``book``: reservations, gaps
"""

from skyweave.testbed.calendar.book import Book, Reservation
from skyweave.testbed.calendar.interval import Interval, Timeline, merged
from skyweave.testbed.calendar.rule import Claim, blocks, first_clash, first_hit
from skyweave.testbed.calendar.schedule import HORIZON_S, Cron, Every, Once, occurrences

__all__ = [
    "HORIZON_S", "Book", "Claim", "Cron", "Every", "Interval", "Once", "Reservation", "Timeline",
    "blocks", "first_clash", "first_hit", "merged", "occurrences",
]  # fmt: skip
