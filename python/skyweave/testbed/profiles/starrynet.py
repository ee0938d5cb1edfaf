"""StarryNet's delays (https://github.com/SpaceNetLab/StarryNet, releases until 2024).

``delay/<t>.txt`` for each second from 1 on is a matrix of one-way delays in ms, commas between,
satellites before ground stations, 0 where there is no link: here one satellite, the terminal and
the gateway, half of the one-way delay to each. Rates and loss are constants there: those in
``config.json`` are the profile's means.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from skyweave.data.writers import write_text
from skyweave.testbed.profiles.timeline import Moment


def write_starrynet(folder: Path, name: str, moments: Sequence[Moment]) -> list[Path]:
    """Write the matrices and a configuration."""
    files = []
    for number, one in enumerate(moments, start=1):
        hop = 0.0 if one.is_out else one.rtt_ms / 4
        rows = ((0.0, hop, hop), (hop, 0.0, 0.0), (hop, 0.0, 0.0))
        text = "\n".join(",".join(f"{value:.2f}" for value in row) for row in rows) + "\n"
        files.append(folder / "delay" / f"{number}.txt")
        write_text(files[-1], text)
    rates = [one.down_mbps for one in moments if one.down_mbps is not None]
    mean_gbps = float(np.mean(rates)) / 1e3 if rates else 0.0
    loss = 100 * float(np.mean([one.loss_ratio for one in moments]))
    content = {
        "Name": name, "# of orbit": 1, "# of satellites": 1, "Duration (s)": len(moments),
        "update_time (s)": 1, "antenna number": 1,
        'satellite link bandwidth ("X" Gbps)': round(mean_gbps, 6),
        'sat-ground bandwidth ("X" Gbps)': round(mean_gbps, 6),
        'satellite link loss ("X"% )': 0,
        'sat-ground loss ("X"% )': round(loss, 4),
    }  # fmt: skip
    files.append(folder / "config.json")
    write_text(files[-1], json.dumps(content, indent=4) + "\n")
    return files
