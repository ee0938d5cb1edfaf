"""How well two engines agree, in words and numbers: criterion, table of the page, summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from skyweave.plotting.words import seeds_text
from skyweave.report.criteria import grades
from skyweave.report.criteria.finding import Finding, amount, numbers, with_interval
from skyweave.report.criteria.kinds import Found, of_results
from skyweave.report.numbers.engines import (
    WIDE,
    Case,
    Comparison,
    compare,
    deviation,
    deviations,
    share_within,
)
from skyweave.report.numbers.namer import Namer
from skyweave.report.numbers.panel import Results
from skyweave.results.quantities import words
from skyweave.study.language.criteria import Agreement

NO_PAIRS = "Not tested: no simulated run has a live one that is equal in all else."
DASH = "\N{EN DASH}"
_BARE = ("direction", "transport", "mode", "scheduler", "congestion", "queue", "flows")
"""Settings whose values speak for themselves."""


@of_results(Agreement)
def agreement(criterion: Agreement, results: Results) -> Found | str:
    """Grade an agreement over its cases; its samples are pairs of runs."""
    of = criterion.quantity
    cases = [c for c in compare(results).chosen(criterion, criterion.cells) if deviations([c], of)]
    if not cases:
        return NO_PAIRS
    if criterion.measure == "median":
        name = "median |sim ÷ live \N{MINUS SIGN} 1|"
        found = deviation(cases, results.bootstrap, of)
    else:
        name = f"cases within ±{amount(criterion.within, True)}"
        found = share_within(cases, criterion.within, results.bootstrap, of)
    name += f" of {words(of).axis}" if of != "goodput" else ""
    ours = f"{name}: {with_interval(found, True)} over {len(cases)} cases"
    band = f"{criterion.relation} {amount(criterion.limit, True)}"
    late = sum(case.flagged for case in cases)
    note = f"{late} of its live runs are flagged as late." if late else ""
    grade = grades.grade_bound(found, criterion.relation, criterion.limit)
    members = members_of(cases)
    groups = dict.fromkeys(f"'{case.drives}'" for case in cases)
    return Found(
        Finding(grade, ours, criterion.published or band, band, {name: found}, note),
        drives=len({drive for drive, _ in members}),
        samples=sum(len(case.members) for case in cases),
        seeds=seeds_text([seed for _, seed in members]),
        data=f"simulated and live runs on drives {', '.join(groups)}",
    )


def members_of(cases: Sequence[Case]) -> list[tuple[str, int]]:
    """Return drive and seed of all pairs of some cases, each once."""
    return list(dict.fromkeys(member for case in cases for member in case.members))


def case_words(cases: Sequence[Case], namer: Namer | None = None) -> list[str]:
    """Return each case in words: its path set, and what differs among the cases."""
    facts = [{"direction": c.direction, "transport": c.transport, **c.settings} for c in cases]
    varied = [key for key in (facts or [{}])[0] if _values(facts, key) > 1]
    names = {path for case in cases for path in case.paths.names}
    if "transport" in varied and all((c.transport != "tcp") == c.paths.is_bonded for c in cases):
        varied.remove("transport")  # the path set says it
    both = [f"{which}_buffer_mb" for which in ("send", "receive")]
    if all(key in varied for key in both) and all(one[both[0]] == one[both[1]] for one in facts):
        varied[varied.index(both[0])] = "buffer_mb"
        varied.remove(both[1])
        facts = [{**one, "buffer_mb": one[both[0]]} for one in facts]
    labels = {name: namer.path(name) if namer else name for name in names}
    return [
        ", ".join(
            [" + ".join(labels[path] for path in case.paths.names) if namer else case.paths]
            + [_setting(key, one[key]) for key in varied if one[key] is not None]
        )
        for case, one in zip(cases, facts, strict=True)
    ]


def _values(facts: Sequence[dict[str, Any]], key: str) -> int:
    """Return how many values a setting has; TCP has no scheduler and no mode to differ in."""
    return len({str(one[key]) for one in facts if one[key] is not None})


def _setting(key: str, value: Any) -> str:
    shown = f"{value:g}" if isinstance(value, float) else str(value)
    if key in _BARE:
        return f"{shown}link" if key == "direction" else shown
    if key.endswith("buffer_mb"):
        return f"{key.removesuffix('_mb').replace('_', ' ')} {shown} MB"
    return f"{key.replace('_', ' ')} {shown}"


def engines_summary(results: Results) -> dict[str, Any] | None:
    """Return what ``summary.json`` says of the comparison; ``None`` where there is none."""
    found = compare(results)
    if not found.cases:
        return None
    middle = deviation(found.cases, results.bootstrap)
    share = share_within(found.cases, WIDE, results.bootstrap)
    return {
        "n_cases": len(found.cases),
        "n_pairs": sum(len(case.members) for case in found.cases),
        "unpaired_runs": found.unpaired,
        "median_abs_deviation": middle.value,
        "median_abs_deviation_interval": numbers(middle)[1:],
        "share_within_10_percent": share.value,
        "share_within_10_percent_interval": numbers(share)[1:],
        "cases": [_numbers(case) for case in found.cases],
    }


def _numbers(case: Case) -> dict[str, Any]:
    return {
        "drives": case.drives,
        "direction": case.direction,
        "paths": case.paths,
        "transport": case.transport,
        "settings": case.settings,
        "n_pairs": len(case.members),
        "flagged": case.flagged,
        "goodput_ratio": case.ratio,
        "sim": asdict(case.sim),
        "live": asdict(case.live),
    }


def engines_table(found: Comparison, results: Results) -> dict[str, Any] | None:
    """Return what the page shows of the comparison; ``None`` where there is nothing."""
    if not found.cases:
        return None
    namer = Namer(results.frozen["plan"])
    words = case_words(found.cases)
    groups: dict[str, list[dict[str, Any]]] = {}
    for case, said in zip(found.cases, words, strict=True):
        groups.setdefault(namer.drives(case.drives), []).append(_row(case, said))
    return {
        "groups": list(groups.items()),
        "cases": len(found.cases),
        "pairs": sum(len(case.members) for case in found.cases),
        "unpaired": found.unpaired,
        "median": with_interval(deviation(found.cases, results.bootstrap), True),
        "share": with_interval(share_within(found.cases, WIDE, results.bootstrap), True),
    }


def _row(case: Case, said: str) -> dict[str, Any]:
    return {
        "label": said,
        "pairs": len(case.members),
        "flagged": case.flagged,
        "goodput": _both(case.sim.goodput_mbps, case.live.goodput_mbps),
        "ratio": f"{case.ratio:.3f}" if case.ratio < 100 else "> 100",
        "tone": _tone(case.deviation),
        "shares": _shares(case),
        "retransmitted": _both(case.sim.retransmitted_packets, case.live.retransmitted_packets),
        "stall": _both(case.sim.stall_s, case.live.stall_s),
        "p50": _both(case.sim.rtt_p50_ms, case.live.rtt_p50_ms),
        "p95": _both(case.sim.rtt_p95_ms, case.live.rtt_p95_ms),
    }


def _tone(deviation: float) -> str:
    return "" if deviation <= WIDE else "bad"


def _both(sim: float | None, live: float | None) -> str:
    """Return two numbers side by side, the simulated one first."""
    return " / ".join(DASH if value is None else amount(value, False) for value in (sim, live))


def _shares(case: Case) -> list[str]:
    """Return the share of each path of a set, under both engines."""
    if not case.paths.is_bonded:
        return []
    both = [one.shares or {} for one in (case.sim, case.live)]
    return [
        f"{path} " + " / ".join(f"{100 * s[path]:.0f}" if path in s else DASH for s in both)
        for path in case.paths.names
    ]
