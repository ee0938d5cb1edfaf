"""The command line, one module a command."""

from skyweave.cli.app import main

__all__ = ["main"]
