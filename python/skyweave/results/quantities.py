"""What a report can measure of a run, and how it is called."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple, get_args

from pydantic import AfterValidator

Quantity = Literal[
    "goodput", "bonded_minus_max", "sum_minus_bonded", "capacity",
    "gain", "share_of_max", "srtt_ms", "flow_ratio",
    "completion_s", "satellite_share", "retransmissions", "retransmission_rate",
    "outage_retransmission_rate", "outage_share", "lost_in_outages",
    "link_rtt_ms", "link_rtt_span_ms",
    "utilisation", "longest_stall_s", "ramp_s", "recovery_s",
    "request_ms", "request_p50_ms", "request_p99_ms",
    "probe_ms", "delay_ms", "delay_p50_ms", "delay_p99_ms", "late_share", "lost_share",
    "timely_mbps",
    "discarded", "underflows", "stall_s", "startup_s", "played_mbps", "switches", "qoe",
    "delivered_at_mb", "reorder_mean_mb", "reorder_max_mb",
    "in_order_wait_mean_ms", "in_order_wait_p50_ms", "in_order_wait_p99_ms",
    "in_order_wait_longest_ms", "loss_wait_ms", "frozen_s", "stall_blocked_s", "stall_loss_s",
]  # fmt: skip
OfPath = Literal[
    "retransmissions", "retransmission_rate", "cwnd", "cwnd_sd", "blocking_ms", "blocking_share"
]
"""Quantities of a run that each path has: ``cwnd@LTE``, and as a ratio ``cwnd@LTE/wired``."""

Compared = Literal["goodput", "retransmissions", "longest_stall_s"]
"""What two engines are compared in."""


def known(name: str) -> str:
    """Return the name of a quantity, of a run or of one of its paths; :class:`ValueError`."""
    base, at, paths = name.partition("@")
    if not at and name in get_args(Quantity):
        return name
    if at and base in get_args(OfPath) and all(paths.split("/")) and paths.count("/") < 2:
        return name
    of_path = ", ".join(f"{one}@PATH" for one in get_args(OfPath))
    complaint = f"'{name}' is no quantity; there are {', '.join(get_args(Quantity))}, {of_path}"
    raise ValueError(complaint)


Measured = Annotated[str, AfterValidator(known)]
"""What a criterion or a figure looks at: a :data:`Quantity`, or one of a path."""


class Words(NamedTuple):
    """How an axis and how a sentence call a quantity; shares are shown in percent."""

    axis: str
    short: str
    is_share: bool = False


WORDS: dict[str, Words] = {
    "goodput": Words("goodput (Mbit/s)", ""),
    "bonded_minus_max": Words(
        "bonded \N{MINUS SIGN} best alone (Mbit/s)", "bonded\N{MINUS SIGN}Max"
    ),
    "sum_minus_bonded": Words("sum \N{MINUS SIGN} bonded (Mbit/s)", "Sum\N{MINUS SIGN}bonded"),
    "capacity": Words("capacity (Mbit/s)", "capacity"),
    "gain": Words("bonded ÷ best network alone", "bonded ÷ best alone"),
    "share_of_max": Words("normalised throughput (% of the maximum)", "share of the maximum", True),
    "srtt_ms": Words("smoothed RTT (ms)", "srtt"),
    "flow_ratio": Words("goodput of the first group ÷ the last", "first ÷ last group"),
    "completion_s": Words("completion time (s)", "completion time"),
    "satellite_share": Words("bytes by way of the satellite (%)", "satellite share", True),
    "retransmissions": Words("packets sent again", "packets sent again"),
    "retransmission_rate": Words("packets sent again (% of all)", "retransmission rate", True),
    "outage_retransmission_rate": Words(
        "packets sent again because of handovers (% of all)", "retransmission rate by outages", True
    ),
    "outage_share": Words(
        "share of retransmissions that outages caused (%)", "caused by outages", True
    ),
    "lost_in_outages": Words("packets that outages took", "packets lost in outages"),
    "link_rtt_ms": Words("propagation RTT (ms)", "propagation RTT"),
    "link_rtt_span_ms": Words("largest \N{MINUS SIGN} smallest RTT (ms)", "RTT span"),
    "utilisation": Words("goodput ÷ capacity of all its links (%)", "utilisation", True),
    "longest_stall_s": Words("longest wait of the application (s)", "longest stall"),
    "ramp_s": Words("from a new path to half of its capacity (s)", "ramp time"),
    "recovery_s": Words("from the end of an outage to data on the path (s)", "recovery time"),
    "request_ms": Words("time of a request (ms)", "time of a request"),
    "request_p50_ms": Words("median time of a request (ms)", "median time of a request"),
    "request_p99_ms": Words("99th percentile of the time of a request (ms)", "p99 of a request"),
    "probe_ms": Words("round trip of a probe (ms)", "round trip of probes"),
    "delay_ms": Words("one-way delay of a piece (ms)", "one-way delay"),
    "delay_p50_ms": Words("median one-way delay (ms)", "median one-way delay"),
    "delay_p99_ms": Words("99th percentile of the one-way delay (ms)", "p99 of the one-way delay"),
    "late_share": Words("pieces that came late (%)", "late pieces", True),
    "lost_share": Words("pieces or probes that did not come (%)", "lost", True),
    "timely_mbps": Words("pieces that came in time (Mbit/s)", "what came in time"),
    "discarded": Words("pictures that came too late", "discarded pictures"),
    "underflows": Words("times that the player ran dry", "underflows"),
    "stall_s": Words("time that the film stood (s)", "stall"),
    "startup_s": Words("from the request to the first picture (s)", "startup"),
    "played_mbps": Words("mean bitrate of the film (Mbit/s)", "bitrate"),
    "switches": Words("changes of quality", "switches"),
    "qoe": Words("quality of experience", "QoE"),
    "delivered_at_mb": Words("delivered within the length of the film (MB)", "delivered"),
    "reorder_mean_mb": Words("mean of what waits for earlier bytes (MB)", "mean reorder buffer"),
    "reorder_max_mb": Words("most that waited for earlier bytes (MB)", "largest reorder buffer"),
    "in_order_wait_mean_ms": Words("mean in-order wait of a byte (ms)", "mean in-order wait"),
    "in_order_wait_p50_ms": Words("median in-order wait of a byte (ms)", "median in-order wait"),
    "in_order_wait_p99_ms": Words(
        "99th percentile of the in-order wait of a byte (ms)", "p99 of the in-order wait"
    ),
    "in_order_wait_longest_ms": Words("longest in-order wait (ms)", "longest in-order wait"),
    "loss_wait_ms": Words(
        "mean in-order wait for a segment on the same path (ms)", "wait behind a loss"
    ),
    "frozen_s": Words("time in gaps of more than 200 ms without new data (s)", "frozen time"),
    "stall_blocked_s": Words(
        "time that the film stood while data waited for a slower path (s)", "stall by a slower path"
    ),
    "stall_loss_s": Words(
        "time that the film stood while data waited for a loss on their path (s)", "stall by losses"
    ),
    "blocking_ms": Words("mean in-order wait for a path (ms)", "in-order wait"),
    "blocking_share": Words("share of in-order waits (%)", "share of in-order waits", True),
    "cwnd": Words("mean congestion window (packets)", "mean cwnd"),
    "cwnd_sd": Words("SD of the congestion window (packets)", "SD of cwnd"),
}


def words(quantity: str) -> Words:
    """Return how a quantity is called, with the path or the two paths that it is of."""
    base, at, paths = quantity.partition("@")
    if not at:
        return WORDS[base]
    first, slash, second = paths.partition("/")
    axis, short, is_share = WORDS[base]
    if not slash:
        return Words(f"{axis}, {first}", f"{short}, {first}", is_share)
    return Words(f"{axis}: {first} ÷ {second}", f"{short}, {first} ÷ {second}")


OF_RUNS = (
    "completion_s", "satellite_share", "retransmissions", "retransmission_rate",
    "outage_retransmission_rate", "outage_share", "lost_in_outages", "utilisation",
    "longest_stall_s", "request_p50_ms", "request_p99_ms", "delay_p50_ms", "delay_p99_ms",
    "late_share", "lost_share", "timely_mbps", "discarded", "underflows", "stall_s", "startup_s",
    "played_mbps", "switches", "qoe", "delivered_at_mb", "reorder_mean_mb", "reorder_max_mb",
    "in_order_wait_mean_ms", "in_order_wait_p50_ms", "in_order_wait_p99_ms",
    "in_order_wait_longest_ms", "loss_wait_ms", "frozen_s", "stall_blocked_s", "stall_loss_s",
)  # fmt: skip
"""Quantities with one value a run."""
MOMENTS = (
    "srtt_ms",
    "link_rtt_ms",
    "link_rtt_span_ms",
    "ramp_s",
    "recovery_s",
    "request_ms",
    "probe_ms",
    "delay_ms",
)
"""Quantities of moments, whatever one sample of a rate is."""
BIN_S = 0.25
"""Rates of a path are means over this many seconds."""
