"""What can go wrong with a world."""

from skyweave.errors import SkyweaveError


class LiveError(SkyweaveError):
    """The emulated world could not be made, or ended before its time."""
