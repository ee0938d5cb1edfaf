"""What bonding would give: logs of several networks in, a study and its answer out."""

from skyweave.compare.answer import frame, sentences
from skyweave.compare.ask import Comparison, ask, prepare
from skyweave.compare.gather import Gathered, Reading, gather
from skyweave.compare.networks import Network, network_of
from skyweave.compare.writing import Choices, study_text

__all__ = [
    "Choices",
    "Comparison",
    "Gathered",
    "Network",
    "Reading",
    "ask",
    "frame",
    "gather",
    "network_of",
    "prepare",
    "sentences",
    "study_text",
]
