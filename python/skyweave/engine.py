"""The engines that turn a :class:`skyweave.config.Run` into a :class:`skyweave.record.Record`.

``simulate`` runs in virtual time (``crates/sim``); it releases the GIL, so threads are enough to
use all cores.

``Record.totals`` of every engine::

    {"simulated_s": 60.0, "link_packets": 123456,
     "connections": [{"transport": "mptcp", "scheduler": "blest", "congestion": "bbr",
                      "direction": "down", "start_s": 0.0, "completion_s": null | 12.3,
                      "delivered_bytes": 1, "goodput_mbps": 1.0,
                      "duplicate_bytes": 0, "reorder_buffer_max_bytes": 0,
                      "meta_timeouts": 0, "window_stalls": 0, "penalisations": 0,
                      "paths": {"SL": {"sent_packets": 1, "lost_packets": 0,
                                       "retransmitted_packets": 0, "reinjected_packets": 0,
                                       "timeouts": 0, "spurious_timeouts": 0,
                                       "sent_bytes": 1, "unique_bytes": 1, "min_rtt_ms": 1.0}}}],
     "links": {"SL.down": {"in_packets": 1, "delivered_packets": 1, "delivered_bytes": 1,
                           "dropped_queue": 0, "dropped_aqm": 0, "dropped_loss": 0,
                           "dropped_outage": 0}}}
"""

from __future__ import annotations

from collections.abc import Callable

from skyweave.config import Run
from skyweave.record import Record

Engine = Callable[[Run], Record]
