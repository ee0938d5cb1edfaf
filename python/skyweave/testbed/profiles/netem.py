"""A script that gives a device a path's rate, delay and loss by tc-netem(8), second by second.

One script a direction, for the device that sends in it. The delay is half of the round trip. An
outage is a loss of 100 %: netem has no rate of 0. netem's default queue of 1,000 packets stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from skyweave.data.writers import write_text
from skyweave.testbed.profiles.timeline import Moment

_HEAD = """\
#!/bin/sh
# {title}
# usage, as root: {name} DEVICE
# It plays again and again until Ctrl-C; then the device has the kernel's own queue again.
set -eu
device=${{1:?name the device that sends in this direction}}
trap 'tc qdisc del dev "$device" root' EXIT
trap 'exit 130' INT TERM
tc qdisc replace dev "$device" root netem
now() {{ tc qdisc change dev "$device" root netem "$@"; sleep {step}; }}
while :; do
"""


def write_netem(folder: Path, title: str, moments: Sequence[Moment]) -> list[Path]:
    """Write ``down.sh`` and ``up.sh``, as far as the rates of that direction are known."""
    files = []
    directions: tuple[Literal["down", "up"], ...] = ("down", "up")
    for direction in directions:
        rates = [one.down_mbps if direction == "down" else one.up_mbps for one in moments]
        if any(rate is None for rate in rates):
            continue
        step = moments[1].time_s - moments[0].time_s if len(moments) > 1 else 1.0
        name = f"{direction}.sh"
        lines = [
            f"now {_words(one, rate or 0.0)}" for one, rate in zip(moments, rates, strict=True)
        ]
        head = _HEAD.format(title=f"{_plain(title)}, {direction}", name=name, step=f"{step:g}")
        write_text(folder / name, head + "\n".join(lines) + "\ndone\n")
        (folder / name).chmod(0o755)
        files.append(folder / name)
    return files


def _words(one: Moment, rate_mbps: float) -> str:
    delay = f"delay {one.rtt_ms / 2:.3f}ms"
    if one.is_out or rate_mbps <= 0:
        return f"{delay} loss 100%"
    loss = f" loss {100 * one.loss_ratio:.4g}%" if one.loss_ratio > 0 else ""
    return f"{delay} rate {round(1e6 * rate_mbps)}bit{loss}"


def _plain(text: str) -> str:
    return "".join(one if one.isalnum() or one in " .,:;/-_+" else "_" for one in text)[:200]
