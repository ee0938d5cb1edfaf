"""A closed loop in real time: what a user would start, in a world of its own.

In the world's client stand the fake dish, ``skyweave dish record`` and ``skyweave trigger watch``,
which the recorder feeds; in its server stands ``skyweave probe serve``. Between them is the link
over the schedule that the dish tells of. Everything that is judged afterwards was written by these
programs.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from skyweave.data.writers import write_text
from skyweave.errors import ConfigError
from skyweave.lab.link import Sky, link_over
from skyweave.live.errors import LiveError
from skyweave.live.world import addresses
from skyweave.live.world.world import World as Emulated
from skyweave.live.world.world import obstacle
from skyweave.orbit import OrbitSpec
from skyweave.telemetry.dish.world import World

LEAD_S = 12.0
"""From the start of the programs to that of the link."""
GRACE_S = 120.0
"""How long the watch may take to end."""
GAP_S, EXTRA_RTT_MS = 0.2, 20.0
"""What is lost at a handover, and what is behind the gateway."""
LEAST_S = 20.0
MOST_S = 86_400.0
DISH = "127.0.0.1:9200"
ECHO_PORT = 4430
TRIGGERS, LOG, FIRED = "triggers.toml", "seen.jsonl", "fired"
DISH_FOLDER, FEED = "dish", "dish.sock"
CLEAR_MAP_S = 60.0
RUN_S = 10.0
"""How long a run may take."""
PING = ("ping", "-q", "-c", "20", "-i", "0.1")
"""The run: a burst of pings, which costs next to nothing, so that it disturbs no probe."""


@dataclass(frozen=True)
class Plan:
    """What is to be looped; places as options have them."""

    terminal: str = "seattle"
    constellation: str = "starlink"
    duration_s: float = 60.0
    seed: int = 1
    inflated: float = 0.5
    all_edges: bool = False
    """Edges of slots at which the satellite stays count as handovers, too."""

    @property
    def spec(self) -> OrbitSpec:
        """The orbit of a dish that sees its gateway by whatever satellite it sees itself.

        This is what ``skyweave dish fake`` takes without a gateway. Raises :class:`ConfigError` for
        a place that is not known.
        """
        try:
            return OrbitSpec.model_validate({
                "terminal": self.terminal, "gateways": [self.terminal],
                "gateway_min_elevation_deg": 0, "constellation": self.constellation,
                "gap_s": GAP_S, "extra_rtt_ms": EXTRA_RTT_MS,
            })  # fmt: skip
        except ValidationError as error:
            said = error.errors()[0]["msg"].removeprefix("Value error, ")
            raise ConfigError(f"--terminal: {said}") from None


@dataclass(frozen=True)
class Loop:
    """A loop that is over: the truth, and the folder of what was seen."""

    plan: Plan
    world: World
    sky: Sky
    out: Path


def run_loop(plan: Plan, out: Path) -> Loop:
    """Run a loop; ``out`` is a new folder for the files of its programs.

    Raises :class:`LiveError` where no world can be made, :class:`ConfigError` for a plan that makes
    no sense and a folder that holds something.
    """
    if not LEAST_S <= plan.duration_s <= MOST_S:
        raise ConfigError(
            f"--duration {plan.duration_s:g}: give {LEAST_S:g} s (an edge and what follows it) to "
            f"{MOST_S:g} s"
        )
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigError(f"--out {out}: exists and is not an empty folder; choose another")
    reason = obstacle()
    if reason is not None:
        raise LiveError(f"no emulated network can be made: {reason}")
    if shutil.which(PING[0]) is None:
        raise ConfigError("the program 'ping' is missing; install the package iputils-ping")
    write_text(out / TRIGGERS, triggers_of(plan))
    dish_world = World(plan.spec, time.time())
    dish_world.at(int(time.time()))  # an hour of schedule, before the clock runs
    start = time.time() + LEAD_S
    sky = link_over(
        dish_world, start, plan.duration_s + LEAD_S, plan.seed, plan.inflated, plan.all_edges
    )
    with Emulated([sky.path], apart=True) as world:
        recorder = _serve(world, plan, out)
        lead_s = start - time.time()
        world.start(1000, lead_ns=round(lead_s * 1e9))
        watch = ["trigger", "watch", TRIGGERS, "--out", FIRED, "--log", LOG]
        end_ns = world.epoch_ns + round((plan.duration_s + GRACE_S) * 1e9)
        message = {
            "do": "perform", "argv": _skyweave(*watch, "--duration", f"{plan.duration_s:g}"),
            "cwd": str(out.absolute()), "start_ns": world.epoch_ns, "end_ns": end_ns,
        }  # fmt: skip
        world.tell(world.client, message)
        said = world.answer(world.client, plan.duration_s + LEAD_S + 2 * GRACE_S)
        if said["code"] != 0:
            raise LiveError(f"the watch ended with code {said['code']}: {said['output'][-500:]}")
        world.ask(world.client, {"do": "collect", "pid": recorder})
        world.finish()
    return Loop(plan, dish_world, sky, out)


def triggers_of(plan: Plan) -> str:
    """Return the trigger file of a loop: own probes, the dish, its satellites, and T3P's 2 x rule.

    What the run prints lies in the folder of its record.
    """
    server = f"{addresses.SERVER}:{ECHO_PORT}"
    return f"""
[source.own]
kind = "probes"
udp = "{server}"

[source.dish]
kind = "dish"
feed = "{FEED}"

[source.sky]
kind = "serving"
feed = "{FEED}"
terminal = {json.dumps(plan.terminal)}
constellation = {json.dumps(plan.constellation)}

[[trigger]]
name = "spike"
when = 'own_rtt_ms > 2.0 * mean_s("own_rtt_ms", 5.0)'
cooldown_s = 5
limit = {{ runs_per_day = 100000 }}
run = {{ command = {json.dumps([*PING, addresses.SERVER])}, seconds = {RUN_S:g} }}
"""


def _serve(world: Emulated, plan: Plan, out: Path) -> int:
    """Start the dish, its recorder and the echo server, whose words go into logs.

    Returns the recorder's process: its files are whole when it was told to end.
    """
    folder = str(out.absolute())
    dish = ["dish", "fake", "--listen", DISH, "--terminal", plan.terminal]
    dish += ["--constellation", plan.constellation]
    dish += ["--gap", f"{GAP_S:g}", "--extra-rtt", f"{EXTRA_RTT_MS:g}"]
    record = ["dish", "record", "--host", DISH, "--out", DISH_FOLDER, "--feed", FEED]
    record += ["--satellites", "--clear-map", f"{CLEAR_MAP_S:g}"]
    serve = ["probe", "serve", "--listen", f"{addresses.SERVER}:{ECHO_PORT}"]
    pids = {}
    for channel, arguments, name in (
        (world.client, dish, "dish"), (world.client, record, "record"),
        (world.server, serve, "serve"),
    ):  # fmt: skip
        pids[name] = world.ask(channel, {
            "do": "spawn", "argv": _skyweave(*arguments), "cwd": folder,
            "log": f"{folder}/{name}.log",
        })["pid"]  # fmt: skip
    return int(pids["record"])


def _skyweave(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "skyweave.cli", *arguments]
