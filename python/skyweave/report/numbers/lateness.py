"""What live runs say of themselves: the kernel, and whether the machine kept the time."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from skyweave.model.record import read_facts
from skyweave.report.numbers.panel import Results
from skyweave.study.language.labels import Labels

LATE_MS = 2.0
"""A live run whose relay handed over its packets later than this (p99) is flagged."""


@dataclass(frozen=True)
class Flagged:
    """A live run that is shown, but not to be trusted: its links were not the ones described."""

    key: str
    drives: str
    drive: str
    seed: int
    direction: str
    paths: str
    settings: str
    lateness_p99_ms: float | None
    """How late packets were, 99th percentile; ``None`` where the record does not say."""
    player_share: float | None = None
    """How much of a core the player took, where it is a program (0 to 1)."""

    @property
    def words(self) -> str:
        """The run and its lateness in one line."""
        late = self.lateness_p99_ms
        said = "lateness not recorded" if late is None else f"p99 {late:.1f} ms late"
        if self.player_share is not None:
            said += f", player {100 * self.player_share:.0f} % of a core"
        where = f"{self.paths} {self.direction} on {self.drive}, seed {self.seed}"
        return f"{where} ({self.settings}): {said}"


@dataclass(frozen=True)
class EngineFacts:
    """Which engines a study used, on which kernels, and which of its runs are flagged."""

    engines: list[str]
    kernels: list[str]
    sources: list[str]
    """What sent and received in live runs: ``own`` or ``iperf3``."""
    players: list[str]
    """Players that were programs, with their versions and how much of a core they took."""
    live_runs: int
    flagged: list[Flagged]
    networks: list[str]
    """Of runs over real networks: paths and their devices."""
    servers: list[str]
    """The far ends of these, with their kernels."""

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` says of it."""
        return {
            "engines_used": self.engines,
            "kernels": self.kernels,
            "live_sources": self.sources,
            "players": self.players,
            "live_runs": self.live_runs,
            "flagged_runs": [asdict(run) for run in self.flagged],
            "networks": self.networks,
            "servers": self.servers,
        }


def engine_facts(results: Results) -> EngineFacts:
    """Read the provenance of runs in real time; :class:`ResultsError` where it is broken."""
    timed = {key: labels for key, labels in results.runs if labels["engine"] != "sim"}
    provenance = {key: read_facts(results.store.records / key)["provenance"] for key in timed}
    live = {key: labels for key, labels in timed.items() if labels["engine"] == "live"}
    real = [facts for key, facts in provenance.items() if key not in live]
    return EngineFacts(
        engines=list(dict.fromkeys(str(labels["engine"]) for _, labels in results.runs)),
        kernels=sorted({str(facts.get("kernel", "not recorded")) for facts in provenance.values()}),
        sources=sorted({str(facts.get("source", "not recorded")) for facts in provenance.values()}),
        players=_players(list(provenance.values())),
        live_runs=len(live),
        flagged=[
            _flagged(key, live[key], provenance[key]) for key in live if is_late(provenance[key])
        ],
        networks=sorted({word for facts in real for word in _networks(facts)}),
        servers=sorted({_server(facts) for facts in real}),
    )


def _networks(provenance: dict[str, Any]) -> list[str]:
    """Return a line for each path of a run over real networks."""
    found = provenance.get("uplinks") or {}
    return [
        f"{name} by {one.get('device')}" + (f" ({one['address']})" if one.get("address") else "")
        for name, one in found.items()
    ]


def _server(provenance: dict[str, Any]) -> str:
    """Return the far end of a run over real networks in a line."""
    found = provenance.get("server") or {}
    return f"{found.get('address')} (Linux {found.get('kernel')}, skyweave {found.get('skyweave')})"


def is_late(provenance: dict[str, Any]) -> bool:
    """Tell whether a live run is to be flagged; one that does not say how late it was is."""
    late = lateness_ms(provenance)
    return late is None or late > LATE_MS


def lateness_ms(provenance: dict[str, Any]) -> float | None:
    """Return the 99th percentile of lateness of a live run in ms, ``None`` where it is unknown."""
    p99 = (provenance.get("lateness_us") or {}).get("p99")
    return None if p99 is None else float(p99) / 1000


def player_share(provenance: dict[str, Any]) -> float | None:
    """Return how much of a core the player of a live run took; ``None`` where it is no program."""
    share = provenance.get("player", {}).get("processor", {}).get("player_share")
    return None if share is None else float(share)


def _players(runs: list[dict[str, Any]]) -> list[str]:
    """Return a line for each player and version: its runs, and the processor that they took."""
    found: dict[str, list[float]] = {}
    for provenance in runs:
        told = provenance.get("player")
        if told:
            name = f"{told.get('player')} {told.get('version') or '(version not told)'}"
            found.setdefault(name, []).append(player_share(provenance) or 0.0)
    return [
        f"{name}: {len(of)} runs, {100 * min(of):.0f} to {100 * max(of):.0f} % of a core"
        for name, of in sorted(found.items())
    ]


def _flagged(key: str, labels: Labels, provenance: dict[str, Any]) -> Flagged:
    words = [labels[name] for name in ("transport", "scheduler", "congestion", "flows")]
    return Flagged(
        key=key,
        drives=labels["drives"],
        drive=labels["drive"],
        seed=labels["seed"],
        direction=labels["direction"],
        paths=labels["paths"],
        settings=", ".join(str(word) for word in words if word not in (None, "one")),
        lateness_p99_ms=lateness_ms(provenance),
        player_share=player_share(provenance),
    )
