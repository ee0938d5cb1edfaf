"""What a study file can say, checked."""

from skyweave.study.language.cells import Cells
from skyweave.study.language.described import DescribedPath, Outage, Presence, Steps
from skyweave.study.language.figures import FigureSpec, ReportSpec
from skyweave.study.language.flows import FlowGroup
from skyweave.study.language.handovers import Handovers
from skyweave.study.language.orbits import Fibre, FibreDelay, OrbitDelay
from skyweave.study.language.plan import Compare, DriveSource, PathSpec, StudyInfo
from skyweave.study.language.rates import RateForecast
from skyweave.study.language.settings import Settings
from skyweave.study.language.starts import StartRule

__all__ = [
    "Cells",
    "Compare",
    "DescribedPath",
    "DriveSource",
    "Fibre",
    "FibreDelay",
    "FigureSpec",
    "FlowGroup",
    "Handovers",
    "OrbitDelay",
    "Outage",
    "PathSpec",
    "Presence",
    "RateForecast",
    "ReportSpec",
    "Settings",
    "StartRule",
    "Steps",
    "StudyInfo",
]
