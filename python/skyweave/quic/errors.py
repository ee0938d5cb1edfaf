"""What can go wrong between two ends."""

from skyweave.errors import SkyweaveError


class QuicError(SkyweaveError):
    """A transfer or a server that could not begin or broke off."""
