"""Triggers: conditions over recent samples that start runs; docs/triggers.md.

* ``language``: an expression, checked when it is given (CEL); ``samples``: what it asks of the past
* ``spec``: a file of triggers; ``machine``: when one fires; ``replay``: a log, and what fired
* ``sources``: what measures, a kind a file; ``watch``: all of them at once, in one order
* ``act``: the command or study that a firing starts; ``firings``: the records of both
* ``cost``: what triggered tests save
"""

from skyweave.triggers.cost import Cost, cost
from skyweave.triggers.machine import Event, Machine
from skyweave.triggers.replay import replay
from skyweave.triggers.samples import Samples, Value
from skyweave.triggers.spec import Limit, Run, Trigger, TriggerFile, read_triggers

__all__ = [
    "Cost", "Event", "Limit", "Machine", "Run", "Samples", "Trigger", "TriggerFile", "Value",
    "cost", "read_triggers", "replay",
]  # fmt: skip
