"""Runs: planned, placed, ordered, followed to their end.

* ``plan``: what is submitted; ``machine``: the states of a run, pure
* ``booking``: places in the calendar, ``foresight``: what it would say
* ``turn``: one transaction of steps; ``orders``: who is told
* ``asking``, ``passing``, ``hearing``: what people, time and nodes bring
* ``files``: what runs leave
* ``keeper``: all of it
"""

from skyweave.testbed.runs.booking import Place
from skyweave.testbed.runs.files import Uploads
from skyweave.testbed.runs.keeper import Keeper
from skyweave.testbed.runs.machine import Step
from skyweave.testbed.runs.orders import Dispatch
from skyweave.testbed.runs.plan import OnTrigger, Plan, Soon
from skyweave.testbed.runs.turn import Turn, Went

__all__ = [
    "Dispatch", "Keeper", "OnTrigger", "Place", "Plan", "Soon", "Step", "Turn", "Uploads", "Went",
]  # fmt: skip
