"""From a study file to records: plan, expansion, parallel and resumable runs."""

from skyweave.study.compile.drives import Makers
from skyweave.study.compile.expand import Job
from skyweave.study.language.plan import Plan
from skyweave.study.run.observer import StudyObserver
from skyweave.study.run.session import Prepared, StudyOptions, prepare, run_study

__all__ = [
    "Job",
    "Makers",
    "Plan",
    "Prepared",
    "StudyObserver",
    "StudyOptions",
    "prepare",
    "run_study",
]
