"""Runs a study whose engine kills its own process with SIGKILL in the middle of a run."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from fluid import fluid, options

from skyweave.model.config import Run
from skyweave.model.record import Record
from skyweave.study.run.session import run_study

AFTER = 3


def main(study: Path, out: Path) -> None:
    """Finish three runs, leave a half-written draft of the fourth, die."""
    calls = 0

    def engine(run: Run) -> Record:
        nonlocal calls
        calls += 1
        if calls > AFTER:
            draft = out / "records" / f".half.draft-{os.getpid()}"
            draft.mkdir()
            (draft / "samples.parquet").write_bytes(b"half a file")
            os.kill(os.getpid(), signal.SIGKILL)
        return fluid(run)

    run_study(study, options(out, engine=engine))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
