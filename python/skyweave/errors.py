"""The errors that Skyweave raises on purpose: one clear sentence each."""


class SkyweaveError(Exception):
    """What went wrong, where, and what to do; the command line prints it and exits with code 2."""


class ConfigError(SkyweaveError):
    """A study file, an option or an argument that makes no sense."""


class DataError(SkyweaveError):
    """A data file that is missing, broken or not what it was said to be."""


class ResultsError(SkyweaveError):
    """A results folder that cannot be written, or that belongs to another plan."""
