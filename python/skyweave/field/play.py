"""One film by a player that is a program: nginx at the server, the player here, sockets watched."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from skyweave.engine import workloads
from skyweave.field.carry import LEAST_LEAD_NS, Carried, in_one_world, plain
from skyweave.field.check import PLAYERS
from skyweave.field.client import Talk
from skyweave.field.errors import FieldError
from skyweave.field.far import FarEnd
from skyweave.field.films import told
from skyweave.field.relay import HOST, Relay, Way
from skyweave.field.uplinks import Uplink
from skyweave.field.words import FarFlow
from skyweave.live.record.playback import facts_of, lines_of, rows_of
from skyweave.live.traffic import offers
from skyweave.live.traffic.watch import Watch
from skyweave.model import config

_GRACE_S = 30.0
"""How long a player may take to end in order."""


def play(run: config.Run, far: FarEnd, uplinks: Mapping[str, Uplink]) -> Carried:
    """Let the player of a run play; ``uplinks`` are those of its paths.

    Raises :class:`FieldError` if the server falls silent or the player fails, and
    :class:`skyweave.ConfigError` for what the server refuses.
    """
    only = run.connections[0]
    assert only.transport in ("tcp", "mptcp")
    offer, multipath = offers.named(only.workload), only.transport == "mptcp"
    seconds = min(only.workload.duration_s or run.stop_after_s, run.stop_after_s - only.start_s)
    start_ns, end_ns = round(only.start_s * 1e9), round((only.start_s + seconds) * 1e9)
    first = uplinks[(only.paths or tuple(path.name for path in run.paths))[0]]
    interval_ns = run.sample_interval_ms * 1_000_000
    with Talk(far, uplinks) as talk, tempfile.TemporaryDirectory() as place:
        flow = FarFlow(
            transport=only.transport, sends=True, film=offer.address, start_ns=start_ns,
            end_ns=end_ns,
        )  # fmt: skip
        server = (far.address, talk.listen([flow]).ports[0])
        epoch_ns = time.monotonic_ns() + max(LEAST_LEAD_NS, 6 * talk.error_ns)
        talk.begin(epoch_ns, interval_ns)
        way = Way(server, first.address, None if multipath else first.device, multipath)
        with Relay(way) as relay:
            watch = Watch(server[1], False, epoch_ns, interval_ns)
            try:
                url = f"http://{HOST}:{relay.port}/{offer.address}"
                argv = [*_driver(run, url, Path(place), seconds), *offer.options]
                why = _perform(argv, epoch_ns + start_ns, epoch_ns + end_ns)
            finally:
                seen = told(watch.stop(), epoch_ns + start_ns)
        theirs = talk.answer(max((epoch_ns + end_ns - time.monotonic_ns()) / 1e9, 0.0))
        lines = lines_of(Path(place))
        if why is not None or not lines:
            raise FieldError(f"player '{workloads.program_of(only.workload)}' failed: {why}")
        received = [(row["at_ns"], row["bytes"]) for row in seen["rows"]]
        kind = only.workload.kind
        seen["application"] = rows_of(kind, lines, epoch_ns, received, offer.ladder_mbps)
        both = ([seen], [plain(one) for one in theirs])
        found = in_one_world(run, uplinks, talk, epoch_ns, both)
        return Carried(found.epoch_ns, found.ends, {**found.facts, "player": facts_of(Path(place))})


def _driver(run: config.Run, url: str, out: Path, seconds: float) -> list[str]:
    name = workloads.program_of(run.connections[0].workload)
    argv = [sys.executable, "-m", f"{PLAYERS}.{name}", url]
    return [*argv, "--out", str(out), "--duration", f"{seconds:g}"]


def _perform(argv: list[str], start_ns: int, end_ns: int) -> str | None:
    """Run a player between two moments; return why it failed, or None."""
    time.sleep(max((start_ns - time.monotonic_ns()) / 1e9, 0.0))
    with subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd="/"
    ) as player:
        try:
            _, said = player.communicate(timeout=max((end_ns - time.monotonic_ns()) / 1e9, 0.0))
            ended = False
        except subprocess.TimeoutExpired:
            player.send_signal(signal.SIGTERM)
            ended = True
            try:
                _, said = player.communicate(timeout=_GRACE_S)
            except subprocess.TimeoutExpired:
                player.kill()
                return f"it did not end {_GRACE_S:g} s after its time"
    if player.returncode == 0 or ended:
        return None
    words = said.decode(errors="replace").strip().splitlines() or [f"code {player.returncode}"]
    return words[-1].removeprefix("skyweave: ").rstrip(".")[:300]
