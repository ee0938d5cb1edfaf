"""``python -m skyweave.cli``."""

from skyweave.cli import main

main()
