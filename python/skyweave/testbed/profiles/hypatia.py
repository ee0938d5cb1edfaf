"""Hypatia's dynamic state (https://github.com/snkas/hypatia, the README of its satgenpy).

A network of one satellite (node 0) and two ground stations, the terminal (1) and the gateway (2).
``gsl_if_bandwidth_<t in ns>.txt`` has ``node,interface,bandwidth`` lines, the bandwidth as a share
of the configured GSL data rate, which is the profile's highest; ``fstate_<t in ns>.txt`` has
``current,dest,next-hop,interface,next-hop's interface``, -1 for no way, as in an outage. Hypatia
computes delays from positions: measured round trips go into the file that its analysis would write,
``networkx_rtt_1_to_2.txt`` (``t_ns,rtt_ns``), and cannot be replayed there.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from skyweave.data.writers import write_text
from skyweave.errors import DataError
from skyweave.testbed.profiles.timeline import Moment

SATELLITE, TERMINAL, GATEWAY = 0, 1, 2
_INTERFACES = "0,2,2.000000\n1,1,1.000000\n2,1,1.000000\n"
"""``gsl_interfaces_info.txt``: the satellite has an interface for each station."""


def write_hypatia(folder: Path, moments: Sequence[Moment]) -> list[Path]:
    """Write the state, and ``config_ns3.properties`` with the data rate that shares are of."""
    rates = [one for row in moments for one in (row.down_mbps, row.up_mbps) if one is not None]
    most = max(rates, default=0.0)
    if most <= 0:
        raise DataError("the profile carries nothing; Hypatia needs a rate")
    step_ns = _ns(moments[1].time_s) if len(moments) > 1 else 10**9
    end_s = len(moments) * step_ns / 1e9
    state = folder / f"dynamic_state_{step_ns // 10**6}ms_for_{end_s:g}s"
    files = []

    def write(file: Path, text: str) -> None:
        write_text(file, text)
        files.append(file)

    write(folder / "gsl_interfaces_info.txt", _INTERFACES)
    write(folder / "isls.txt", "")
    write(folder / "config_ns3.properties", (
        f"dynamic_state_update_interval_ns={step_ns}\n"
        f"simulation_end_time_ns={len(moments) * step_ns}\n"
        f"gsl_data_rate_megabit_per_s={most:.6f}\n"
    ))  # fmt: skip
    for one in moments:
        at = _ns(one.time_s)
        write(state / f"gsl_if_bandwidth_{at}.txt", _bandwidth(one, most))
        write(state / f"fstate_{at}.txt", _forwarding(one))
    trips = [f"{_ns(one.time_s)},{0.0 if one.is_out else 1e6 * one.rtt_ms:.10f}" for one in moments]
    write(folder / "networkx_rtt_1_to_2.txt", "\n".join(trips) + "\n")
    return files


def _bandwidth(one: Moment, most: float) -> str:
    """Return the shares: the satellite sends down to the terminal, the terminal up."""
    down, up = (
        (rate if rate is not None else most) / most for rate in (one.down_mbps, one.up_mbps)
    )
    return (
        f"{SATELLITE},0,{down:.6f}\n{SATELLITE},1,1.000000\n{TERMINAL},0,{up:.6f}\n"
        f"{GATEWAY},0,1.000000\n"
    )


def _forwarding(one: Moment) -> str:
    if one.is_out:
        pairs = ((0, 1), (0, 2), (1, 2), (2, 1))
        return "".join(f"{here},{there},-1,-1,-1\n" for here, there in pairs)
    return "0,1,1,0,0\n0,2,2,1,0\n1,2,0,0,0\n2,1,0,0,1\n"


def _ns(time_s: float) -> int:
    return round(1e9 * time_s)
