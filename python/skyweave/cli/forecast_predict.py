"""``skyweave forecast compare | train | run``: predictors of a measured series.

Errors are :class:`SkyweaveError` and pass through to the main command, which prints their sentence
and exits with code 2.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress as Bar
from rich.table import Table

from skyweave.console import Console
from skyweave.data.writers import write_text
from skyweave.errors import ConfigError
from skyweave.forecast.measurement import UNITS, Kind
from skyweave.forecast.predictors import PLAIN, PREDICTORS, Predictor, predictor
from skyweave.forecast.predictors.compare import Comparison, Verdict, compare
from skyweave.forecast.predictors.file import read_predictor, to_file
from skyweave.forecast.predictors.history import EDGE_S, LENGTH_S, PERIOD_S
from skyweave.forecast.predictors.point import Walk, walk
from skyweave.forecast.predictors.scores import Score
from skyweave.forecast.predictors.seconds import in_seconds
from skyweave.forecast.predictors.serve import serve
from skyweave.forecast.predictors.target import Target
from skyweave.forecast.predictors.train import train_all
from skyweave.forecast.readers import read_measurement
from skyweave.forecast.split import Split
from skyweave.printing import put

DEFAULT = "slot-linear"
COMPARED = "at 1, at 5, at 15, mean 5, mean 15"
PLAIN_NAMES = ",".join(one.name for one in PLAIN)
LEARNED = "at 1, at 2, at 3, at 5, at 8, at 12, at 16, at 20"

Column = Annotated[str | None, typer.Option(help="Which series, if there are several.")]
TimeColumn = Annotated[str | None, typer.Option(help="The clock of a CSV.")]
KindOption = Annotated[Kind | None, typer.Option(help="What the values are; else by name.")]
Targets = Annotated[str, typer.Option(help="'at N' seconds ahead, 'mean N': until then.")]
Period = Annotated[int, typer.Option(min=1, max=LENGTH_S // 2 - 1, help="Slot period in s.")]
Edge = Annotated[int, typer.Option(min=0, help="A slot's first second, modulo the period (UTC).")]


def compare_series(
    files: Annotated[list[Path], typer.Argument(help="Ping log, CSV, iperf3 JSON, data set.")],
    column: Column = None,
    time_column: TimeColumn = None,
    kind: KindOption = None,
    targets: Targets = COMPARED,
    predictors: Annotated[
        str, typer.Option(help=f"Some of: {', '.join(PREDICTORS)}.")
    ] = PLAIN_NAMES,
    split: Annotated[
        Split, typer.Option(help="Learn from the first 80 %, or leave whole drives out.")
    ] = "time",
    period: Period = PERIOD_S,
    edge: Edge = EDGE_S,
    as_json: Annotated[bool, typer.Option("--json", help="Numbers for programs.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write the numbers here (JSON).")] = None,
) -> None:
    """Say how well each predictor foresees measured series that it has not learned from."""
    wanted = _targets(targets)
    chosen = [predictor(name.strip()) for name in predictors.split(",") if name.strip()]
    if not chosen:
        raise ConfigError("--predictors: name at least one")
    found = []
    for file in files:
        rows = _rows(file, kind, column, time_column, period, edge)
        with _bar(f"{rows.series.name}: predictors") as progress:
            compared = compare(rows, chosen, wanted, split, progress)
        found.append(_facts(rows, compared))
        if not as_json:
            _say(rows, compared)
    facts = {"command": _command(files, column, split, targets), "load": os.getloadavg()[0]}
    text = json.dumps(facts | {"series": found}, indent=1, allow_nan=False)
    if as_json:
        put(text)
    if out is not None:
        write_text(out, text + "\n")


def train(
    file: Annotated[Path, typer.Argument(help="Ping log, CSV, iperf3 JSON, data set.")],
    out: Annotated[Path, typer.Option(help="Write the predictor here (JSON).")],
    column: Column = None,
    time_column: TimeColumn = None,
    kind: KindOption = None,
    name: Annotated[str, typer.Option("--predictor", help=", ".join(PREDICTORS))] = DEFAULT,
    targets: Targets = LEARNED,
    period: Period = PERIOD_S,
    edge: Edge = EDGE_S,
) -> None:
    """Let a predictor learn from a measured series."""
    chosen, wanted = predictor(name), _targets(targets)
    rows = _rows(file, kind, column, time_column, period, edge)
    to_file(name, rows, edge, train_all(chosen, rows, wanted)).write(out)
    Console(soft_wrap=True).print(
        f"{out}: '{name}' for {len(wanted)} targets, out of {len(rows.series)} seconds of "
        f"{rows.series.name}"
    )


def run(
    trained: Annotated[Path, typer.Argument(help="A predictor of 'forecast train'.")],
    file: Annotated[Path, typer.Argument(help="The series to foresee.")],
    out: Annotated[Path, typer.Option(help="Write the forecasts here (JSON).")],
    column: Column = None,
    time_column: TimeColumn = None,
    kind: KindOption = None,
    every: Annotated[int, typer.Option(min=1, max=3600, help="Seconds between forecasts.")] = 1,
    of: Annotated[
        str | None, typer.Option("--as", help="down_mbps, up_mbps or rtt_ms; else by kind.")
    ] = None,
) -> None:
    """Write what a predictor says of a series second by second, for studies and players."""
    known = read_predictor(trained)
    series = in_seconds(read_measurement(file, kind or known.quantity, column, time_column))
    made = serve(known, series, every, of)
    made.write(out)
    said = f"{out}: {len(made.updates)} forecasts, one each {every} s"
    Console(soft_wrap=True).print(said)


def _targets(text: str) -> list[Target]:
    found = [Target.parse(part) for part in text.split(",") if part.strip()]
    if not found:
        raise ConfigError("--targets: name at least one, 'mean 15' for instance")
    return list(dict.fromkeys(found))


def _rows(
    file: Path,
    kind: Kind | None,
    column: str | None,
    time_column: str | None,
    period: int,
    edge: int,
) -> Walk:
    if edge >= period:
        raise ConfigError(f"--edge {edge}: a slot of {period} s begins at 0 to {period - 1}")
    return walk(in_seconds(read_measurement(file, kind, column, time_column)), period, edge)


def _say(rows: Walk, found: Comparison) -> None:
    console = Console(soft_wrap=True)
    series, how = rows.series, "the first 80 % learned from, the rest judged"
    if found.split == "drives":
        how = f"whole drives left out in turn, {found.folds} groups of them"
    console.print(f"{series.name}: {len(series)} seconds; {how}")
    table = Table(box=None)
    for name in ("target", "predictor", f"error ({UNITS[series.kind]})", "WAPE"):
        table.add_column(name, justify="left" if name in ("target", "predictor") else "right")
    table.add_column("better than last", justify="right")
    table.add_column("in the 80 % band", justify="right")
    for target, scores in found.scores.items():
        for place, (name, one) in enumerate(scores.items()):
            table.add_row(
                str(target) if place == 0 else "",
                name,
                f"{one.mae:.2f}",
                _percent(one.wape),
                "" if name == "last" else _skill(one),
                _percent(one.cover),
            )
    console.print(table)
    for target, verdict in found.verdicts.items():
        console.print(f"{target}: {_words(verdict)}", highlight=False)


def _words(verdict: Verdict) -> str:
    """Return who is best, in a sentence."""
    if verdict.best is None:
        return "nothing is better than the last value beyond doubt."
    if not verdict.ties:
        return f"'{verdict.best}' is better than all others."
    others = ", ".join(f"'{name}'" for name in verdict.ties)
    return f"'{verdict.best}' is better than the last value, and not beyond doubt than {others}."


def _skill(one: Score) -> str:
    low, high = 100 * one.skill_low, 100 * one.skill_high
    return f"{100 * one.skill:.0f} % [{low:.0f}, {high:.0f}]"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _facts(rows: Walk, found: Comparison) -> dict[str, Any]:
    """Return a comparison for programs."""
    return {
        "name": rows.series.name,
        "kind": rows.series.kind,
        "unit": UNITS[rows.series.kind],
        "seconds": len(rows.series),
        "split": found.split,
        "folds": found.folds,
        "targets": [
            {
                "target": str(target),
                "best": found.verdicts[target].best,
                "ties": list(found.verdicts[target].ties),
                "predictors": {name: one.facts() for name, one in scores.items()},
            }
            for target, scores in found.scores.items()
        ],
    }


def _command(files: Sequence[Path], column: str | None, split: str, targets: str) -> str:
    named = f" --column {column}" if column else ""
    listed = " ".join(str(file) for file in files)
    return f"skyweave forecast compare {listed}{named} --split {split} --targets '{targets}'"


@contextmanager
def _bar(words: str) -> Iterator[Any]:
    """Show a bar on standard error while predictors are compared."""
    console = Console(stderr=True)
    with Bar(console=console, transient=True, disable=not console.is_terminal) as bar:

        def steps(all_of_them: Sequence[Predictor]) -> Iterator[Predictor]:
            yield from bar.track(all_of_them, description=words)

        yield steps
