"""Names, requests and reasons of others: no markup, nothing that steers the terminal, no way to end
what prints them."""

from __future__ import annotations

import io
import json
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fluid import SMALL, options
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from quic_ends import Serve as Begin
from quic_ends import get
from rich.panel import Panel
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from skyweave import _skyweave
from skyweave.cli import app as cli
from skyweave.cli import data, say
from skyweave.cli.data_tables import set_panel, statistics_tables
from skyweave.cli.progress import Progress
from skyweave.cli.quic import _say as say_fetched
from skyweave.cli.quic_progress import Show
from skyweave.console import Console, TextColumn
from skyweave.data import registry
from skyweave.data.plot import drive_figure, png
from skyweave.data.statistics import describe
from skyweave.errors import ConfigError
from skyweave.live import shell
from skyweave.model.drive import Drive
from skyweave.printing import visible
from skyweave.quic.fetch import Fetched, Notice, PathState
from skyweave.quic.fetch import Progress as FetchProgress
from skyweave.quic.listen import Listen
from skyweave.quic.serve import FileServer, Serve, Served
from skyweave.report.page.render import render_report
from skyweave.study.run.session import run_study
from skyweave.synthesis.generator import synthesise
from skyweave.synthesis.preset import load_preset

PIECES = (
    "[/]", "[/x]", "[bold]", "[", "]", "\\", ":boom:", "\x1b[2J", "\x1b]0;owned\x07", "\x9b31m",
    "\r", "\n", "\t", "\0", "\x7f", "\u202e", "\u2066", "\u200f", "\u2028", "\ud800", "\ufeff",
    "{task}", "%s", "$\\frac{$", "<script>", "]]>", "<!--", "\N{PILE OF POO}", "name",
)  # fmt: skip
HOSTILE = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=6).map("".join)
PATIENT = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
"""A busy machine is no failure."""
ALL = "".join(PIECES)
"""One text with everything in it."""


def is_harmless(text: str) -> bool:
    """Whether a terminal shows it, and does nothing else."""
    return all(
        one.isprintable() or unicodedata.category(one) == "Zs" or one == "\n" for one in text
    )


@PATIENT
@given(HOSTILE)
@example(ALL)
def test_what_is_visible_is_one_harmless_line(text: str) -> None:
    shown = visible(text)
    assert is_harmless(shown)
    assert "\n" not in shown
    assert visible(shown) == shown


def a_table(text: str) -> Table:
    table = Table(text, "b", title=text, caption=text)
    table.add_row(text, Text(text))
    return table


def bar(console: Console, text: str) -> None:
    columns = (TextColumn("{task.description}"), TextColumn("{task.fields[more]}"))
    with Bar(*columns, console=console) as shown:
        shown.add_task(text, total=1, more=text)


def status(console: Console, text: str) -> None:
    with console.status(text):
        pass


def log_of_fetch(console: Console, text: str) -> None:
    paths = (PathState(text, True, 1, 1, 1.0),)
    notices = tuple(Notice(kind, text, text) for kind in ("up", "down", "one"))
    with Show(console, text) as show:
        show.progress(FetchProgress(1, None, paths, notices))
    say_fetched(console, Fetched(1, 1.0, False, False, 1, paths * 2), Path(text.replace("\0", "")))


def study_progress(console: Console, text: str) -> None:
    del text
    shown = Progress(console)
    job: Any = SimpleNamespace(work=1.0, engine="live", label=ALL)
    shown.starts([job], 1)
    shown.begins("live", [job], 1)
    shown.finished(job)
    shown.ends("live")


PRINTERS: dict[str, Callable[[Console, str], None]] = {
    "line": lambda console, text: console.print(text, text),
    "text": lambda console, text: console.print(Text(text)),
    "table": lambda console, text: console.print(a_table(text)),
    "panel": lambda console, text: console.print(Panel(text)),
    "log": lambda console, text: console.log(text),
    "bar": bar,
    "status": status,
    "fetch": log_of_fetch,
    "study": study_progress,
}


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("printer", PRINTERS)
def test_every_way_to_print_is_harmless(printer: str, terminal: bool) -> None:
    @settings(PATIENT, max_examples=50)
    @given(HOSTILE)
    @example(ALL)
    def check(text: str) -> None:
        file = io.StringIO()
        PRINTERS[printer](Console(file=file, force_terminal=terminal, width=80), text)
        said = file.getvalue()
        said.encode()
        if not terminal:
            assert is_harmless(said), repr(said)
        for sign in ("\x1b]0;owned", "\x1b[2J", "\x9b", "\x07", "\0", "\u202e", "\u2028"):
            assert sign not in said, repr(said)

    check()


@PATIENT
@given(HOSTILE, st.sampled_from(["opened", "path", "asked", "failed", "closed"]))
@example(ALL, "asked")
def test_a_line_of_the_server_is_one_line(text: str, kind: str) -> None:
    file = io.StringIO()
    Console(file=file, soft_wrap=True).print(Served(kind, "192.0.2.1:7", text, None).words())
    assert is_harmless(file.getvalue())
    assert file.getvalue().count("\n") == 1
    assert file.getvalue().startswith("192.0.2.1:7: ")


class News:
    """What a server of the Rust side would tell."""

    fingerprint, port = "00", 1

    def __init__(self, request: str) -> None:
        self.told = 0

    def run(self, look: Callable[[str], None], hints: object = None) -> None:
        for text in (ALL, *PIECES):
            look(json.dumps([1, [["asked", "192.0.2.1:7", text.replace("\ud800", ""), None]]]))
            self.told += 1


def test_a_watcher_that_fails_ends_no_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(_skyweave, "QuicFileServer", News)
    server = FileServer(Serve(tmp_path, Listen("127.0.0.1:0", None, None, "busy", {})))
    calls = []

    def watch(connections: int, news: tuple[Served, ...]) -> None:
        calls.append(connections)
        raise OSError(ALL)

    server.run(watch)
    assert len(calls) == len(PIECES) + 1
    (said,) = (record.getMessage() for record in caplog.records)
    assert is_harmless(said)
    assert "\n" not in said

    def stop(connections: int, news: tuple[Served, ...]) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        server.run(stop)


def test_no_request_ends_a_server(serve: Begin, tmp_path: Path) -> None:
    server = serve()
    (server.root / "file").write_bytes(b"there")
    where, out = f"127.0.0.1:{server.port}", tmp_path / "out"
    for path in ("[/]", "[/x]", "[bold", ":boom:", "a%1b[2J", "a%0ab", "%c2%9b31m"):
        said = get(f"{where}/{path}", "--pin", server.pin, "--out", str(out), "--quiet")
        assert said.code == 2
        assert said.err.count("\n") == 1
    said = get(f"{where}/file", "--pin", server.pin, "--out", str(out), "--quiet")
    assert (said.code, out.read_bytes()) == (0, b"there")
    assert server.process.stderr is not None
    told = ""
    while "GET /file" not in told:  # the server tells a moment later than it answers
        line = server.process.stderr.readline()
        assert line, told
        told += line
    server.process.terminate()
    told += server.process.stderr.read()
    assert "GET /[/x]: no such file" in told
    assert "GET /:boom:" in told
    assert is_harmless(told)


@settings(PATIENT, max_examples=25)
@given(HOSTILE)
@example(ALL)
def test_an_error_is_one_harmless_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    def fail() -> None:
        raise ConfigError(text)

    monkeypatch.setattr(cli, "app", fail)
    with pytest.raises(SystemExit):
        cli.main()
    said = capsys.readouterr().err
    assert is_harmless(said)
    assert said.count("\n") == 1


@pytest.mark.filterwarnings("ignore:Glyph")
def test_a_study_with_hostile_words_gets_its_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "".join(f"\\U{ord(one):08x}" for one in ALL if one != "\ud800")
    words = f'"{words}"'
    text = SMALL
    for place in ('preset = "alaska"', 'kind = "satellite"', 'kind = "cellular"'):
        text = text.replace(place, f"{place}\nlabel = {words}")
    text = text.replace('"A small study"', words)
    for kind in ("cdf", "timeline", "boxes"):
        text += (
            f'\n[[figures]]\nid = "{kind}"\ntitle = {words}\nkind = "{kind}"\ndrives = "alaska"\n'
        )
    assert text.count(words) == 7
    study, out = tmp_path / "study.toml", tmp_path / "out"
    study.write_text(text)
    run_study(study, options(out), Progress(Console(stderr=True)))
    say.say(render_report(out))
    said = capsys.readouterr()
    assert is_harmless(said.out + said.err)
    assert "[/x]" in said.out
    page = (out / "report.html").read_text()
    assert "&lt;script&gt;" in page
    assert "<script" not in page
    assert "<!--name" not in page
    assert "\x1b" not in page


def test_names_of_drives_and_paths_are_only_names(
    capsys: pytest.CaptureFixture[str],
) -> None:
    drive = synthesise_named(ALL)
    data.wide_console().print(statistics_tables(ALL, describe([drive])))
    known = next(iter(registry.data_sets().values()))
    data.wide_console().print(set_panel(known, ALL))
    shell._say(
        {
            "links": {ALL: dict.fromkeys(
                ("delivered_packets", "delivered_bytes", "dropped_queue", "dropped_aqm",
                 "dropped_loss", "dropped_outage"), 1)},
            "lateness_us": {"p50": 1.0, "p99": 1.0, "max": 1.0},
            "offload": "tcp",
            "frames_read": 1,
            "reads": 1,
            "frames_written": 1,
            "writes": 1,
        }
    )  # fmt: skip
    said = capsys.readouterr()
    assert is_harmless(said.out + said.err)
    assert "[/x]" in said.out
    assert "[/x]" in said.err


@pytest.mark.filterwarnings("ignore:Glyph")
def test_a_drive_with_dollar_signs_is_drawn() -> None:
    assert png(drive_figure(synthesise_named("a$\\frac{$b"))).startswith(b"\x89PNG")


def synthesise_named(name: str) -> Drive:
    """A made-up drive that is called so, and its paths, too."""
    drive = synthesise(load_preset("alaska"), 1, 20.0)
    paths = {f"{name}{place}": path for place, path in enumerate(drive.paths.values())}
    return replace(drive, name=name, paths=paths)
