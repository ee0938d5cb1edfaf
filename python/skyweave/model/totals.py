"""The sums of a run, as every engine writes them into ``record.json``.

``None`` stands for what an engine cannot know. Packets and bytes are counts of the sender.
"""

from typing import NotRequired, TypedDict


class PathTotals(TypedDict):
    """What a connection did on one path."""

    sent_packets: float | None
    lost_packets: float | None
    retransmitted_packets: float | None
    reinjected_packets: float | None
    redundant_packets: float | None
    timeouts: float | None
    spurious_timeouts: float | None
    outage_retransmitted_packets: float | None
    """Sent here during an outage, or within a smoothed RTT before one, and retransmitted here."""
    outage_reinjected_packets: float | None
    """The same, retransmitted on another path; both ``None`` in live runs and of MP-QUIC."""
    sent_bytes: float | None
    unique_bytes: float | None
    """What came first on this path."""
    min_rtt_ms: float | None
    blocked_others_byte_s: float | None
    """Bytes times seconds that what other paths had brought waited for segments on this one."""
    blocked_own_byte_s: float | None
    """The same of what this path had brought: it lost a segment; ``None`` in live runs, both."""


class ConnectionTotals(TypedDict):
    """One connection; the last three keys are those of live runs."""

    transport: str
    scheduler: str | None
    congestion: str
    direction: str
    start_s: float
    completion_s: float | None
    delivered_bytes: float
    goodput_mbps: float
    """What the application got, from the opening of the connection to its end."""
    longest_stall_s: float | None
    """The longest time without anything new for the receiving application, from its first byte on.

    Live: known to a sample interval; ``None`` if nothing came.
    """
    frozen_s: float | None
    """Time in gaps of more than 200 ms without anything new for the receiving application.

    Counted from its first byte on; ``None`` in live runs.
    """
    in_order_wait_mean_ms: float | None
    """From the arrival of a byte at the receiver to that of all bytes before it, by bytes.

    The four are ``None`` if nothing came, and where the kernel receives.
    """
    in_order_wait_p50_ms: float | None
    in_order_wait_p99_ms: float | None
    in_order_wait_longest_ms: float | None
    duplicate_bytes: float | None
    reorder_buffer_max_bytes: float | None
    meta_timeouts: float | None
    window_stalls: float | None
    penalisations: float | None
    waits: float | None
    paths: dict[str, PathTotals]
    reinjections: NotRequired[float | None]
    """Of the whole connection."""
    fallback: NotRequired[bool | None]
    """Whether Multipath TCP became plain TCP."""
    error: NotRequired[str | None]
    """Why a transfer did not open or broke off; ``None`` if neither."""


class LinkTotals(TypedDict):
    """One direction of a path, called ``NAME.down`` or ``NAME.up``."""

    in_packets: float
    delivered_packets: float
    delivered_bytes: float
    dropped_queue: float
    dropped_aqm: float
    dropped_loss: float
    dropped_outage: float


class RunTotals(TypedDict):
    """All of a run."""

    simulated_s: NotRequired[float]
    link_packets: NotRequired[float]
    connections: list[ConnectionTotals]
    links: NotRequired[dict[str, LinkTotals]]
