"""What bonding would give: logs of several networks in, a study and its answer out."""

from skyweave.comparison.answer import frame, sentences
from skyweave.comparison.api import compare
from skyweave.comparison.ask import Comparison, ask, prepare
from skyweave.comparison.gather import Gathered, Reading, gather, gather_drives
from skyweave.comparison.networks import Network, network_of
from skyweave.comparison.writing import Choices, study_text

__all__ = [
    "Choices",
    "Comparison",
    "Gathered",
    "Network",
    "Reading",
    "ask",
    "compare",
    "frame",
    "gather",
    "gather_drives",
    "network_of",
    "prepare",
    "sentences",
    "study_text",
]
