"""Kernel settings for the time of a run: known names, data for values, restored after any crash."""

from skyweave.testbed.node.settings.allowed import (
    AnySetting,
    Qdisc,
    RouteCongestion,
    Setting,
    Sysctl,
)
from skyweave.testbed.node.settings.leases import Leases

__all__ = ["AnySetting", "Leases", "Qdisc", "RouteCongestion", "Setting", "Sysctl"]
