"""A comparison of drives: write the study, run it, render its report, answer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from skyweave.comparison.answer import frame
from skyweave.comparison.gather import Gathered, per_file
from skyweave.comparison.writing import DRIVES, Choices, study_text
from skyweave.data.writers import drive_text, write_text
from skyweave.errors import ConfigError
from skyweave.report import render_report
from skyweave.study.run.observer import Steadied, StudyObserver
from skyweave.study.run.session import StudyOptions, run_study

STUDY = "study.toml"


@dataclass(frozen=True)
class Comparison:
    """What came out: the table, the study file that was run, the report, and what was read."""

    table: pl.DataFrame
    study: Path
    report: Path
    gathered: Gathered


def prepare(gathered: Gathered, out: Path, choices: Choices, restart: bool = False) -> None:
    """Write the study of a comparison and its drives into ``out``; nothing is run.

    Raises :class:`ConfigError` where ``out`` holds another study, unless ``restart``.
    """
    per_file("--rtt", choices.rtt_ms, len(gathered.networks))
    text = study_text(gathered, choices)
    drives = {
        out / DRIVES / f"{number:04d}.csv": drive_text(drive)
        for number, drive in enumerate(gathered.drives, start=1)
    }
    _make_room(out, {out / STUDY: text, **drives}, restart)
    for file, content in {**drives, out / STUDY: text}.items():
        write_text(file, content)


def _make_room(out: Path, texts: dict[Path, str], restart: bool) -> None:
    """Refuse a folder with another study in it; its old drives go with ``restart``."""
    there = [out / STUDY, *sorted((out / DRIVES).glob("*.csv"))]
    other = [file for file in there if file.is_file() and _differs(file, texts.get(file))]
    if other and not restart:
        raise ConfigError(
            f"--out {out}: holds another study ({other[0].name}); give another --out, or --restart "
            "to write over it"
        )
    for file in other:
        file.unlink()


def _differs(file: Path, text: str | None) -> bool:
    return text is None or file.read_bytes() != text.encode()


def ask(
    gathered: Gathered,
    out: Path,
    choices: Choices | None = None,
    observer: StudyObserver | None = None,
    jobs: int | None = None,
    restart: bool = False,
) -> Comparison:
    """Compare the networks of drives; the study, its records and its report are in ``out``."""
    prepare(gathered, out, choices or Choices(), restart)
    run_study(out / STUDY, StudyOptions(out=out, jobs=jobs, restart=restart), observer)
    rendered = render_report(out, Steadied(observer or StudyObserver()).drawn)
    return Comparison(frame(rendered), out / STUDY, rendered.page, gathered)
