"""What can go wrong on real networks."""

from skyweave.errors import SkyweaveError


class FieldError(SkyweaveError):
    """The far end or an uplink does not do what a run needs."""
