"""What knows the boat's LEO link: a predictor, a transport and an application, and who counts.

The node publishes what it measures, what fires and what is foreseen. A multipath QUIC connection
asks for it each second, and so does the camera that uploads over it; a listener keeps all of it.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from skyweave.errors import SkyweaveError
from skyweave.forecast.measurement import measurement
from skyweave.forecast.predictors import Target, in_seconds, predictor, walk
from skyweave.forecast.predictors.file import to_file
from skyweave.forecast.predictors.train import train_all
from skyweave.lab.link import STEP_S, link_over
from skyweave.lab.testbed.links import INFLATED, orbit_of
from skyweave.lab.testbed.places import PREDICTED, SERVER, WORLD, Place
from skyweave.lab.testbed.town import Town
from skyweave.telemetry.dish.world import World
from skyweave.testbed.api.serve import own_certificate
from skyweave.testbed.node.firing import HINTS as SOCKET

LEARNED_S = 3600.0
TARGETS = (Target("at", 1), Target("at", 5), Target("at", 15))
EDGE_S = 12
"""Second of a minute's quarter at which Starlink's slots begin (docs/forecasts.md)."""
TUNNEL_PORT, DOOR, ORIGIN = 4433, "127.0.0.1:9000", "127.0.0.1:9001"
CONTROL = "boundary"
HEARD, CAMERA = "boat-heard", "boat-camera"
WAIT_S = 30.0


def learn(place: Place, file: Path, now_unix_s: float, seed: int) -> None:
    """Write a predictor that has learned the hour before, of another link over the same sky."""
    start = now_unix_s - LEARNED_S
    world = World(orbit_of(place), start)
    past = link_over(world, start, LEARNED_S, seed + 1, INFLATED, all_edges=True)
    times = start + STEP_S * np.arange(len(past.rtt_ms))
    rows = walk(in_seconds(measurement("an hour before", "rtt", times, past.rtt_ms)))
    trained = train_all(predictor("slot-linear"), rows, TARGETS)
    to_file("slot-linear", rows, EDGE_S, trained).write(file)


def begin(town: Town, place: Place) -> None:
    """Start the tunnel, the camera and the listener, when the node publishes."""
    socket = town.folder / place.name / SOCKET
    end = time.monotonic() + WAIT_S
    while not socket.exists():
        town.look()
        if time.monotonic() > end:
            raise SkyweaveError(f"{place.name} publishes nothing after {WAIT_S:g} s; see its log")
        time.sleep(0.1)
    folder = town.folder / "tunnel"
    folder.mkdir(mode=0o700)
    certificate = own_certificate(folder, SERVER)
    ours = [sys.executable, "-m", "skyweave.cli"]
    camera = [sys.executable, "-m", "skyweave.lab.testbed.camera"]
    town.spawn("pictures", WORLD, [*camera, "take", ORIGIN])
    town.spawn("tunnel", WORLD, [
        *ours, "quic", "gateway", "--origin", ORIGIN, "--listen", f"{SERVER}:{TUNNEL_PORT}",
        "--cert", str(certificate.file), "--key", str(certificate.key),
    ])  # fmt: skip
    paths = [word for link in place.links for word in ("--path", link)]
    town.spawn(f"{place.name}-tunnel", place.name, [
        *ours, "quic", "connect", f"{SERVER}:{TUNNEL_PORT}", "--pin", certificate.pin, *paths,
        "--listen", DOOR, "--congestion", CONTROL,
        "--awareness", str(socket), "--known", f"{PREDICTED}={place.links[0]}",
    ])  # fmt: skip
    town.spawn(HEARD, place.name, [*ours, "awareness", "listen", "--socket", str(socket)])
    town.spawn(CAMERA, place.name, [*camera, "send", DOOR, str(socket)])
