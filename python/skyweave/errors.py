"""The errors that Skyweave raises on purpose: one clear sentence each."""

from collections.abc import Iterable
from pathlib import Path

LONGEST_SENTENCE = 2000
"""Characters of an error; the middle of what is longer is left out."""


class SkyweaveError(Exception):
    """What went wrong, where, and what to do; the command line prints it and exits with code 2."""

    def __str__(self) -> str:
        """Return the sentence, of a length that a person can read whatever it repeats."""
        said = super().__str__()
        if len(said) <= LONGEST_SENTENCE:
            return said
        half = LONGEST_SENTENCE // 2
        return f"{said[:half]} [...] {said[-half:]}"


class ConfigError(SkyweaveError):
    """A study file, an option or an argument that makes no sense."""


class DataError(SkyweaveError):
    """A data file that is missing, broken or not what it was said to be."""


class ResultsError(SkyweaveError):
    """A results folder that cannot be written, or that belongs to another plan."""


class DamagedError(ResultsError):
    """A file of results that is not there, or not what was written into it."""

    def __init__(self, file: Path, why: str) -> None:
        super().__init__(
            f"{file}: is damaged or not whole ({why}); "
            "give the same 'skyweave run' again: it does anew what is damaged"
        )
        self.file = file
        self.why = why


def suggest(word: str, known: Iterable[str]) -> str:
    """Help for who wrote ``word`` where one of ``known`` was expected: the closest, or all."""
    import difflib

    names = sorted(set(known))
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    if not close:
        close = [name for name in names if name.casefold() == word.casefold()]
    if close:
        return f"did you mean '{close[0]}'?"
    return f"known are {', '.join(names)}" if names else "none is known"


def unknown_name(what: str, name: str, known: Iterable[str]) -> str:
    """The sentence for a name that nothing has, with the closest one that exists."""
    return f"no {what} is called '{name}'; {suggest(name, known)}"


class Interrupted(BaseException):
    """Ctrl-C during a study, with the sentence that says how to continue.

    Not a ``KeyboardInterrupt``, which command-line frameworks swallow together with its words.
    """
