"""Synthetic drives: presets, made into drives, and calibrated against measured ones."""

from skyweave.synthesis.generator import synthesise
from skyweave.synthesis.preset import Preset, load_preset, preset_names

__all__ = ["Preset", "load_preset", "preset_names", "synthesise"]
