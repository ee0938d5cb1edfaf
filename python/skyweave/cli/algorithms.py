"""``skyweave algorithms``: what there is, what can be set, and what it does on a link."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from skyweave.algorithms import catalogue
from skyweave.algorithms.catalogue import Algorithm, Kind
from skyweave.algorithms.golden_links import LINKS
from skyweave.console import Console
from skyweave.errors import ConfigError, ResultsError
from skyweave.printing import put

algorithms_app = typer.Typer(
    help="Schedulers, congestion controls, ABR algorithms: list, explain, plot.",
    no_args_is_help=True,
)
HEADINGS: dict[Kind, str] = {
    "scheduler": "Schedulers",
    "congestion": "Congestion controls",
    "abr": "Adaptive bitrate (ABR) algorithms",
}


@algorithms_app.command("list")
def list_all(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
) -> None:
    """List every algorithm with its source."""
    if as_json:
        put(json.dumps([asdict(one) for one in catalogue.catalogue()]))
        return
    for kind, heading in HEADINGS.items():
        table = Table(title=heading, title_justify="left", title_style="bold", box=None)
        for column in ("name", "what it is", "source"):
            table.add_column(column, no_wrap=column == "name")
        for one in catalogue.catalogue():
            if one.kind == kind:
                table.add_row(one.name, one.title, one.source)
        Console().print(table)
        Console().print()


@algorithms_app.command()
def show(name: Annotated[str, typer.Argument(help="Name of an algorithm.")]) -> None:
    """Explain one algorithm: source, and parameters with units, defaults and ranges."""
    one = catalogue.find(name)
    console = Console()
    kind = catalogue.WORDS[one.kind]
    console.print(Text.assemble((one.name, "bold"), f": {one.title} ({kind})"))
    console.print(f"Source: {one.source}")
    if not one.parameters:
        console.print("It has no parameters.")
        return
    table = Table(box=None)
    for column in ("parameter", "default", "range", "what it does", "default from"):
        table.add_column(column, no_wrap=column == "parameter")
    for parameter in one.parameters:
        default = str(parameter.default).lower() + (f" {parameter.unit}" if parameter.unit else "")
        table.add_row(parameter.name, default, parameter.range, parameter.meaning, parameter.source)
    console.print(table)
    where = " of a workload of kind adaptive" if one.kind == "abr" else ""
    console.print(f"\nIn a study file{where}: {one.kind} = {_example(one)}")


def _example(one: Algorithm) -> str:
    first = one.parameters[0]
    value = first.default if not isinstance(first.default, str) else f'"{first.default}"'
    return f'{{ name = "{one.name}", {first.name} = {str(value).lower()} }}'


@algorithms_app.command()
def plot(
    controls: Annotated[list[str], typer.Argument(help="Congestion controls, e.g. cubic bbr.")],
    link: Annotated[
        str, typer.Option(help=f"One of {', '.join(link.name for link in LINKS)}.")
    ] = "steady",
    out: Annotated[
        Path | None, typer.Option(help="PNG to write; controls-LINK.png if not given.")
    ] = None,
) -> None:
    """Draw window, round-trip time and goodput of congestion controls on a named link."""
    from skyweave.algorithms.plot import controls_figure, run_control
    from skyweave.engine.simulator import simulate

    for name in controls:
        catalogue.check("congestion", name)
    file = out or Path(f"controls-{link}.png")
    if file.suffix != ".png":
        raise ConfigError(f"--out {file}: must end in .png")
    figure = controls_figure([run_control(name, link, simulate) for name in controls], link)
    try:
        figure.savefig(file, dpi=150)
    except OSError as error:
        raise ResultsError(
            f"{file}: cannot be written ({error.strerror}); choose another place"
        ) from error
    put(str(file))


@algorithms_app.command()
def docs() -> None:
    """Print docs/algorithms.md, which is made from the same tables."""
    put(markdown(), end="")


def markdown() -> str:
    """The page of the docs that lists every algorithm and parameter."""
    lines = [
        "# Schedulers, congestion controls, ABR algorithms",
        "",
        "Made by `skyweave algorithms docs`; a test keeps it so. In a study file an algorithm is a",
        'name (`scheduler = "blest"`) or a table with parameters',
        '(`congestion = { name = "cubic", hystart = "off" }`); a list of them expands.',
    ]
    for kind, heading in HEADINGS.items():
        lines += ["", f"## {heading}"]
        for one in catalogue.catalogue():
            if one.kind == kind:
                lines += ["", f"### {one.name}", "", f"{one.title}. Source: {one.source}."]
                lines += _parameter_table(one)
    return "\n".join(lines) + "\n"


def _parameter_table(one: Algorithm) -> list[str]:
    if not one.parameters:
        return []
    rows = [
        f"| `{p.name}` | {str(p.default).lower()} | {p.unit} | {p.range} "
        f"| {p.meaning} | {p.source} |"
        for p in one.parameters
    ]
    head = "| parameter | default | unit | range | what it does | default from |"
    return ["", head, "| --- | --- | --- | --- | --- | --- |", *rows]
