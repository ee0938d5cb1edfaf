"""Lets the tests of reports use the fluid engine of the tests of studies."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "study"))
