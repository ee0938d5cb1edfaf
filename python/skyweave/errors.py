"""The errors that Skyweave raises on purpose: one clear sentence each."""

import difflib
from collections.abc import Iterable


class SkyweaveError(Exception):
    """What went wrong, where, and what to do; the command line prints it and exits with code 2."""


class ConfigError(SkyweaveError):
    """A study file, an option or an argument that makes no sense."""


class DataError(SkyweaveError):
    """A data file that is missing, broken or not what it was said to be."""


class ResultsError(SkyweaveError):
    """A results folder that cannot be written, or that belongs to another plan."""


def unknown_name(what: str, name: str, known: Iterable[str]) -> str:
    """The sentence for a name that nothing has, with the closest ones that exist."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean '{close[0]}'?" if close else f"known are {', '.join(names)}"
    return f"no {what} is called '{name}'; {hint}"
