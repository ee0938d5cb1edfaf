"""Synthetic drives: presets, made into drives, and calibrated against measured ones."""

from skyweave.synthesis.generator import synthesise
from skyweave.synthesis.preset import (
    Coverage,
    Dynamics,
    Loss,
    Outage,
    PathPreset,
    Point,
    Preset,
    Quantity,
    RunMeans,
    load_preset,
    preset_names,
)

__all__ = [
    "Coverage",
    "Dynamics",
    "Loss",
    "Outage",
    "PathPreset",
    "Point",
    "Preset",
    "Quantity",
    "RunMeans",
    "load_preset",
    "preset_names",
    "synthesise",
]
