"""Two engines under one study file: expansion, refusals, order, and what is said about time."""

from __future__ import annotations

import io
import json
import platform
import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from fluid import SMALL, fluid, load, options, synthesise, tree

from skyweave.cli import app as cli
from skyweave.cli.progress import Progress
from skyweave.console import Console
from skyweave.errors import ConfigError
from skyweave.live import check, engine
from skyweave.live.traffic import iperf
from skyweave.model import config
from skyweave.model.config import Run
from skyweave.model.record import Record
from skyweave.report.page.render import render_report
from skyweave.study.compile.drives import Makers
from skyweave.study.compile.expand import run_key
from skyweave.study.run import engines, session
from skyweave.study.run.session import Prepared, prepare, run_study
from skyweave.study.run.sources import sources

BOTH = SMALL + 'engine = ["sim", "live"]\n'
LIVE = {
    "engine": "live",
    "kernel": "6.18.5",
    "source": "own",
    "lateness_us": {"p50": 20.0, "p99": 2300.0, "max": 9900.0},
}


def on_kernel(run: Run) -> Record:
    """The fluid engine as a live one: its provenance, and nulls where a kernel reports nothing."""
    record = fluid(run)
    samples = record.samples.with_columns(reorder_buffer_bytes=None, lost_packets=None)
    samples = samples.cast(dict(record.samples.schema))
    return replace(record, samples=samples, provenance=dict(LIVE))


def refusing_blest(run: Run) -> str | None:
    if any(one.scheduler == "blest" for one in run.connections):
        return "the kernel has no scheduler 'blest'."
    return None


@pytest.fixture(autouse=True)
def _fake_live(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in for the kernel."""
    monkeypatch.setattr(check, "refusal", refusing_blest)
    monkeypatch.setattr(engine, "run_live", on_kernel)


def prepared(folder: Path, text: str, **changed: object) -> Prepared:
    file = folder / "study.toml"
    file.write_text(text)
    return prepare(file, options(folder / "out", **changed))


def test_a_list_of_engines_expands_and_keys_differ(tmp_path: Path) -> None:
    jobs = prepared(tmp_path, BOTH).jobs
    assert len(jobs) == 2 * 6
    assert len({job.key for job in jobs}) == 12
    sim = [job for job in jobs if job.labels["engine"] == "sim"]
    live = [job for job in jobs if job.labels["engine"] == "live"]
    assert [job.run for job in sim] == [job.run for job in live]
    assert {job.engine for job in live} == {"live"}
    assert [job.key for job in sim] == [job.key for job in prepared(tmp_path, SMALL).jobs]
    assert (
        run_key(sim[0].run, "v")
        == run_key(sim[0].run, "v", "sim")
        != run_key(sim[0].run, "v", "live")
    )


def test_the_option_replaces_what_the_file_says(tmp_path: Path) -> None:
    for text in (SMALL, BOTH):
        for name in ("sim", "live"):
            found = prepared(tmp_path, text, engine_name=name)
            assert {job.engine for job in found.jobs} == {name}
            assert len(found.jobs) == 6
            assert f"engine '{name}'" in found.frozen["notes"][0]


def test_figures_about_the_other_engine_are_left_out_with_a_note(tmp_path: Path) -> None:
    figure = '\n[[figures]]\nid = "f"\ntitle = "t"\ndrives = "alaska"\n'
    text = BOTH + figure + 'where = { engine = "live" }\n'
    assert len(prepared(tmp_path, text).plan.figures) == 1
    found = prepared(tmp_path, text, engine_name="sim")
    assert not found.plan.figures
    assert "need another engine: figure 'f'" in found.frozen["notes"][1]
    with pytest.raises(ConfigError, match=r"its runs differ in engine \(sim, live\)"):
        prepared(tmp_path, BOTH + figure)


TWO_PLAYERS = """
[[compare]]
drives = "alaska"
paths = "SL"
engine = {engine}
workload = {{ kind = "video", player = "discard" }}

[[compare]]
drives = "alaska"
paths = "SL"
engine = "live"
workload = {{ kind = "video", player = "wait" }}

[[figures]]
id = "f"
title = "t"
kind = "compare"
drives = "alaska"
by = "workload"
"""


def test_players_are_compared_across_engines_if_each_has_one(tmp_path: Path) -> None:
    alone = SMALL[: SMALL.index("[[compare]]")]
    assert prepared(tmp_path, alone + TWO_PLAYERS.format(engine='"sim"')).plan.figures
    with pytest.raises(ConfigError, match=r"its runs of video\(player=wait\) are of both engines"):
        prepared(tmp_path, alone + TWO_PLAYERS.format(engine='"sim"').replace("discard", "wait"))
    with pytest.raises(ConfigError, match=r"of both engines; choose one: where = \{ engine"):
        prepared(tmp_path, alone + TWO_PLAYERS.format(engine='["sim", "live"]'))


def test_size_of_both(tmp_path: Path) -> None:
    size = prepared(tmp_path, BOTH).size
    assert (size["runs"], size["simulated_runs"], size["live_runs"]) == (12, 6, 6)
    assert (size["simulated_s"], size["live_s"]) == (60, 60)


def test_what_the_kernel_cannot_do_is_refused_before_anything_runs(tmp_path: Path) -> None:
    text = BOTH + 'scheduler = "blest"\n'
    with pytest.raises(ConfigError) as caught:
        prepared(tmp_path, text)
    said = str(caught.value)
    assert said == (
        f"{tmp_path / 'study.toml'}: the kernel has no scheduler 'blest'; "
        "run it with --engine sim, or change the setting"
    )
    assert len(prepared(tmp_path, text, engine_name="sim").jobs) == 6


def test_a_build_without_the_live_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "skyweave.live.check", None)
    with pytest.raises(ConfigError, match=r"study.toml: has live runs, but .*--engine sim"):
        prepared(tmp_path, BOTH)


def keys(folder: Path, **changed: object) -> dict[str, list[str]]:
    jobs = prepared(folder, BOTH, **changed).jobs
    return {name: [job.key for job in jobs if job.engine == name] for name in ("sim", "live")}


def test_records_of_another_kernel_or_live_engine_cannot_pass_for_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(engines.ROOT / "skyweave", tmp_path / "code" / "skyweave")
    monkeypatch.setattr(engines, "ROOT", tmp_path / "code")
    first = keys(tmp_path)
    assert keys(tmp_path) == first
    outside = tmp_path / "code" / "skyweave" / "algorithms" / "catalogue.py"  # a live run needs it
    outside.write_text(outside.read_text() + "\n")
    edited = keys(tmp_path)
    monkeypatch.setattr(platform, "release", lambda: "99.1")
    elsewhere = keys(tmp_path)
    monkeypatch.setattr(iperf, "refusal", lambda run: None)
    by_iperf3 = keys(tmp_path, source="iperf3")
    seen = [first, edited, elsewhere, by_iperf3]
    assert len({tuple(one["live"]) for one in seen}) == 4
    assert len({tuple(one["sim"]) for one in seen}) == 1


def test_the_code_of_live_runs_is_all_that_they_import() -> None:
    program = (
        "import json, sys\n"
        "import skyweave.live.engine, skyweave.live.init\n"
        "print(json.dumps([m for m in sys.modules if m.startswith('skyweave')]))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    loaded = set(json.loads(done.stdout)) - {"skyweave._skyweave"}  # compiled; hashed by itself
    named = set(sources(engines.LIVE_CODE, engines.ROOT))
    assert loaded <= named
    assert {"skyweave.algorithms.catalogue", "skyweave.live.init", "skyweave.live.agent"} <= named
    assert not any(name.startswith(("skyweave.report", "skyweave.cli")) for name in named)


def test_what_iperf3_cannot_do_is_refused_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(iperf, "refusal", lambda run: "iperf3 is missing; install it")
    with pytest.raises(ConfigError, match="iperf3 is missing; install it; run it with --engine"):
        prepared(tmp_path, BOTH, source="iperf3")
    with pytest.raises(ConfigError, match="has no live runs, and --source iperf3 is for those"):
        prepared(tmp_path, SMALL, source="iperf3")


def test_a_cluster_has_no_live_runs(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"6 of its runs are live .*leave out --cluster"):
        prepared(tmp_path, BOTH, cluster="tcp://x:1", jobs=None)


def test_bad_engine_has_its_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"study.toml:\d+: .*'sim', 'live' or 'field'"):
        prepared(tmp_path, SMALL + 'engine = "real"\n')


class Watched:
    """Two engines that note when each run begins and ends."""

    def __init__(self) -> None:
        self.lock, self.now = threading.Lock(), {"sim": 0, "live": 0}
        self.most, self.order = {"sim": 0, "live": 0}, ""
        self.together = False

    def sim(self, run: Run) -> Record:
        return self._run("sim", run)

    def live(self, run: Run) -> Record:
        return self._run("live", run)

    def _run(self, name: str, run: Run) -> Record:
        with self.lock:
            self.now[name] += 1
            self.order += name[0]
            self.most[name] = max(self.most[name], self.now[name])
            self.together |= all(self.now.values())
        record = fluid(run) if name == "sim" else on_kernel(run)
        with self.lock:
            self.now[name] -= 1
        return record


def test_live_runs_come_last_and_alone(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(BOTH)
    seen, said = Watched(), io.StringIO()
    console = Console(file=said, width=100)
    run_study(
        tmp_path / "study.toml",
        options(tmp_path / "out", engine=seen.sim, live=seen.live, jobs=4),
        Progress(console),
    )
    assert seen.order == "s" * 6 + "l" * 6
    assert seen.most["live"] == 1
    assert not seen.together
    lines = said.getvalue().splitlines()
    assert lines[0] == "6 live runs take about 60 s in real time."
    assert lines[-1] == "6/6 live runs, about 0 s left"
    assert "1/6 live runs, about 50 s left" in lines


def test_live_jobs_at_a_time(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(BOTH)
    both = threading.Barrier(2, timeout=60)

    def waiting(run: Run) -> Record:
        both.wait()  # passes only if two runs are under way at once
        return on_kernel(run)

    said = io.StringIO()
    two = options(tmp_path / "out", live=waiting, live_jobs=2)
    run_study(tmp_path / "study.toml", two, Progress(Console(file=said, width=100), live_jobs=2))
    assert said.getvalue().startswith("6 live runs take about 30 s in real time.")
    with pytest.raises(ConfigError, match="--live-jobs 0: must be at least 1"):
        run_study(tmp_path / "study.toml", options(tmp_path / "out", live_jobs=0))


def test_live_runs_resume(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(BOTH)
    calls = iter(range(100))

    def failing(run: Run) -> Record:
        if next(calls) == 2:
            raise OSError("a namespace is gone")
        return on_kernel(run)

    with pytest.raises(Exception, match="a namespace is gone; finished runs are kept"):
        run_study(tmp_path / "study.toml", options(tmp_path / "out", live=failing))
    assert len(list((tmp_path / "out" / "records").iterdir())) >= 6 + 2

    def never(_run: Run) -> Record:
        raise AssertionError("simulated again")

    run_study(tmp_path / "study.toml", options(tmp_path / "out", engine=never))
    run_study(tmp_path / "study.toml", options(tmp_path / "calm"))
    assert tree(tmp_path / "out") == tree(tmp_path / "calm")
    assert len(render_report(tmp_path / "out").panels) == 2


def test_live_progress_on_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(BOTH)
    said = io.StringIO()
    console = Console(file=said, force_terminal=True, width=100)
    run_study(tmp_path / "study.toml", options(tmp_path / "out"), Progress(console))
    assert "6/6 live runs" in said.getvalue()
    assert "ready in 0:00" in said.getvalue()


def test_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(session, "default_engine", lambda: fluid)
    monkeypatch.setattr(session, "default_makers", lambda: Makers(synthesise, load))
    monkeypatch.setenv("COLUMNS", "120")
    file = tmp_path / "study.toml"
    file.write_text(BOTH + 'scheduler = ["minrtt", "blest"]\n')

    def call(*words: object) -> int:
        monkeypatch.setattr(sys, "argv", ["skyweave", "run", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        return int(caught.value.code or 0)

    assert call(file, "--out", tmp_path / "o", "--dry-run") == 2
    said = capsys.readouterr().err
    assert said.startswith(f"skyweave: {file}: the kernel has no scheduler 'blest'; run it with")
    assert len(said.splitlines()) == 1
    assert call(file, "--out", tmp_path / "o", "--dry-run", "--engine", "sim") == 0
    assert capsys.readouterr().out.startswith("8 runs, 80 simulated seconds")
    file.write_text(BOTH)
    assert call(file, "--out", tmp_path / "o", "--dry-run") == 0
    said = capsys.readouterr().out
    assert "6 runs, 60 simulated seconds" in said
    assert "6 live runs take about 60 s in real time." in said
    assert not (tmp_path / "o").exists()
    assert call(file, "--out", tmp_path / "o", "--engine", "live") == 0
    assert len(list((tmp_path / "o" / "records").iterdir())) == 6
    assert "Live runs flagged as late: 6; the report names them." in capsys.readouterr().out
    assert call(file, "--out", tmp_path / "o", "--dry-run", "--live-jobs", 0) == 2


def test_the_run_of_both_engines_is_the_same_description(tmp_path: Path) -> None:
    assert "engine" not in config.Run.model_fields
    prepared_one = prepared(tmp_path, SMALL + 'engine = "live"\n')
    assert {job.engine for job in prepared_one.jobs} == {"live"}
