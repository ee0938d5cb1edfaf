"""A study runs in parallel, resumes after any death, and never mixes plans."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fluid import SMALL, fluid, options, tree

import skyweave as sw
from skyweave.errors import ConfigError, Interrupted, ResultsError, SkyweaveError
from skyweave.model.config import Run
from skyweave.model.record import Record
from skyweave.report.page.render import render_report
from skyweave.results.store import Store
from skyweave.study import Job, StudyObserver
from skyweave.study.run import runner
from skyweave.study.run.session import run_study


@pytest.fixture
def study(tmp_path: Path) -> Path:
    file = tmp_path / "study.toml"
    file.write_text(SMALL)
    return file


def test_parallel_equals_serial(study: Path, tmp_path: Path) -> None:
    run_study(study, options(tmp_path / "one", jobs=1))
    run_study(study, options(tmp_path / "four", jobs=4))
    assert tree(tmp_path / "one") == tree(tmp_path / "four")
    assert len(list((tmp_path / "one" / "records").iterdir())) == 6


def test_resume_after_sigkill_is_byte_identical(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "killed"
    script = Path(__file__).with_name("killable.py")
    killed = subprocess.run([sys.executable, script, study, out], check=False, timeout=120)
    assert killed.returncode == -signal.SIGKILL
    names = [path.name for path in (out / "records").iterdir()]
    assert sum(not name.startswith(".") for name in names) == 3
    assert any(".draft-" in name for name in names)

    runs = 0

    def counting(run: Run) -> Record:
        nonlocal runs
        runs += 1
        return fluid(run)

    run_study(study, options(out, engine=counting))
    run_study(study, options(tmp_path / "calm"))
    assert runs == 3
    render_report(out)
    render_report(tmp_path / "calm")
    assert tree(out) == tree(tmp_path / "calm")


def test_other_plan_is_refused_and_restart_takes_only_its_records(
    study: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    run_study(study, options(out))
    old = {path.name for path in (out / "records").iterdir()}
    (out / "records" / "mine").mkdir()
    (out / "notes.txt").write_text("keep me")
    before = tree(out)
    study.write_text(SMALL.replace('"bbr"', '"cubic"').replace('"small"', '"other"'))
    with pytest.raises(ResultsError, match=r"holds results of 'small'.*but this is 'other'"):
        run_study(study, options(out))
    assert tree(out) == before
    run_study(study, options(out, restart=True))
    new = {path.name for path in (out / "records").iterdir()}
    assert not (old & new)
    assert "mine" in new
    assert (out / "notes.txt").read_text() == "keep me"


def test_restart_of_the_same_plan_runs_all_again(study: Path, tmp_path: Path) -> None:
    run_study(study, options(tmp_path / "out"))
    first = tree(tmp_path / "out")
    runs: list[Run] = []

    def counting(run: Run) -> Record:
        runs.append(run)
        return fluid(run)

    run_study(study, options(tmp_path / "out", engine=counting))
    assert not runs
    run_study(study, options(tmp_path / "out", engine=counting, restart=True))
    assert len(runs) == 6
    assert tree(tmp_path / "out") == first


def test_new_code_version_is_another_plan(study: Path, tmp_path: Path) -> None:
    run_study(study, options(tmp_path / "out"))
    with pytest.raises(ResultsError, match=r"code test.*code newer"):
        run_study(study, options(tmp_path / "out", code_version="newer"))


def test_unwritable_out_fails_before_anything_runs(study: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    def never(_run: Run) -> Record:
        raise AssertionError("must not run")

    with pytest.raises(ResultsError, match=r"cannot be written .*choose another folder"):
        run_study(study, options(tmp_path / "file" / "out", engine=never))


def test_folder_in_use(study: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "out")
    store.prepare()
    with store.locked(), pytest.raises(ResultsError, match="another skyweave is running"):
        run_study(study, options(tmp_path / "out"))


def test_failed_run_keeps_the_others_and_says_which(study: Path, tmp_path: Path) -> None:
    out, calls = tmp_path / "out", iter(range(100))

    def failing(run: Run) -> Record:
        if next(calls) == 2:
            raise ValueError("no such thing")
        return fluid(run)

    with pytest.raises(SkyweaveError, match=r"SL\+VZ down on alaska-1.*no such thing"):
        run_study(study, options(out, engine=failing))
    assert 2 <= len(list((out / "records").iterdir())) < 6
    with pytest.raises(ResultsError, match="runs are not there; finish the study"):
        render_report(out)
    run_study(study, options(out))
    assert len(list((out / "records").iterdir())) == 6


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals to a thread")
def test_ctrl_c_keeps_finished_runs(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, main_thread = tmp_path / "out", threading.main_thread().ident
    assert main_thread is not None
    calls, stopping, stop = iter(range(100)), threading.Event(), runner._stop

    def announced(pool: ThreadPoolExecutor) -> None:
        stopping.set()
        stop(pool)

    def interrupting(run: Run) -> Record:
        """Two runs pass; the third presses Ctrl-C, and from then on none ends before it is felt."""
        call = next(calls)
        if call == 2:
            signal.pthread_kill(main_thread, signal.SIGINT)
        if call >= 2:
            assert stopping.wait(60)
        return fluid(run)

    monkeypatch.setattr(runner, "_stop", announced)
    with pytest.raises(Interrupted, match="give the same command again to continue"):
        run_study(study, options(out, engine=interrupting))
    kept = list((out / "records").iterdir())
    assert len(kept) >= 1
    run_study(study, options(out))
    run_study(study, options(tmp_path / "calm"))
    assert tree(out) == tree(tmp_path / "calm")


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals to a thread")
def test_ctrl_c_in_a_finaliser_is_felt(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python drops what a finaliser raises; the study ends all the same."""
    calls, stopping, stop = iter(range(100)), threading.Event(), runner._stop
    dropped: list[object] = []

    class Finalised:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    class Watching(StudyObserver):
        def finished(self, job: Job) -> None:
            Finalised()

    def announced(pool: ThreadPoolExecutor) -> None:
        stopping.set()
        stop(pool)

    def waiting(run: Run) -> Record:
        """One run passes; the others end when Ctrl-C was felt."""
        assert next(calls) == 0 or stopping.wait(60)
        return fluid(run)

    monkeypatch.setattr(runner, "_stop", announced)
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: dropped.append(lost.exc_type))
    with pytest.raises(Interrupted, match="give the same command again"):
        run_study(study, options(tmp_path / "out", engine=waiting), Watching())
    assert dropped == [KeyboardInterrupt]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_provenance_has_no_clock(study: Path, tmp_path: Path) -> None:
    prepared = run_study(study, options(tmp_path / "out"))
    record = Record.read(tmp_path / "out" / "records" / prepared.jobs[0].key)
    facts = record.provenance
    assert facts["plan_hash"] == prepared.frozen["plan_hash"]
    assert (facts["seed"], facts["study"], facts["code_version"]) == (1, "small", "test")
    assert Run.model_validate(facts["run"]) == prepared.jobs[0].run


def test_broken_plan_file_and_bad_jobs(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_study(study, options(out))
    (out / "plan.json").write_text("{")
    with pytest.raises(ResultsError, match=r"plan.json: cannot be read"):
        run_study(study, options(out))
    with pytest.raises(ConfigError, match="--jobs 0"):
        run_study(study, options(tmp_path / "x", jobs=0))
    with pytest.raises(ConfigError, match="--seeds 0"):
        run_study(study, options(tmp_path / "x", seeds=0))


def test_plan_json_is_what_ran(study: Path, tmp_path: Path) -> None:
    prepared = run_study(study, options(tmp_path / "out"))
    held = json.loads((tmp_path / "out" / "plan.json").read_text())
    assert {run["key"] for run in held["runs"]} == {job.key for job in prepared.jobs}
    assert list(held["plan"]["paths"]) == ["SL", "VZ"]


class Watching(StudyObserver):
    """Notes each call, and from which thread it came."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.threads: set[int] = set()

    def starts(self, todo: Sequence[Job], kept: int) -> None:
        self.note(f"starts {len(todo)} kept {kept}")

    def begins(self, engine: str, jobs: Sequence[Job], at_a_time: int) -> None:
        self.note(f"begins {len(jobs)} {engine} by {at_a_time}")

    def finished(self, job: Job) -> None:
        self.note("finished")

    def ends(self, engine: str) -> None:
        self.note(f"ends {engine}")

    def note(self, call: str) -> None:
        self.calls.append(call)
        self.threads.add(threading.get_ident())


def test_an_observer_hears_of_every_run(
    study: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    seen, again = Watching(), Watching()
    sw.run_study(study, options(tmp_path / "out", jobs=2), seen)
    finished = ["finished"] * 6
    assert seen.calls == ["starts 6 kept 0", "begins 6 sim by 2", *finished, "ends sim"]
    assert seen.threads == {threading.get_ident()}
    sw.run_study(study, options(tmp_path / "out"), again)
    assert again.calls == ["starts 0 kept 6"]
    assert capfd.readouterr() == ("", "")


def test_an_observer_that_fails_ends_nothing(
    study: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Failing(Watching):
        def finished(self, job: Job) -> None:
            super().finished(job)
            raise ValueError("closing tag '[/x]'\x1b[2J")

    seen = Failing()
    sw.run_study(study, options(tmp_path / "out"), seen)
    assert seen.calls[-7:] == [*["finished"] * 6, "ends sim"]
    assert len(list((tmp_path / "out" / "records").iterdir())) == 6
    (said,) = (record.getMessage() for record in caplog.records)
    assert "observer failed" in said
    assert "'[/x]'\\x1b[2J" in said


def test_an_observer_hears_the_end_after_ctrl_c(study: Path, tmp_path: Path) -> None:
    class Stopping(Watching):
        def finished(self, job: Job) -> None:
            raise KeyboardInterrupt

    seen = Stopping()
    with pytest.raises(Interrupted):
        sw.run_study(study, options(tmp_path / "out"), seen)
    assert seen.calls[-1] == "ends sim"
    kept = len(list((tmp_path / "out" / "records").iterdir()))
    assert kept >= 1
    sw.run_study(study, options(tmp_path / "out"), again := Watching())
    assert again.calls[0] == f"starts {6 - kept} kept {kept}"
