"""What simulated runs need of a processor."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

from skyweave.model.config import Run
from skyweave.model.record import Engine, Record


@dataclass
class Meter:
    """An engine that adds up what the runs of another one need; many threads may call it."""

    engine: Engine
    cpu_s: float = 0.0
    """Processor seconds of the calling threads inside the engine."""
    packets: int = 0
    """Packets that left a link in those runs: data and acknowledgements."""
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __call__(self, run: Run) -> Record:
        """Carry a run out and count it."""
        before = time.thread_time()
        record = self.engine(run)
        spent = time.thread_time() - before
        with self._lock:
            self.cpu_s += spent
            self.packets += int(record.totals.get("link_packets", 0))
        return record
