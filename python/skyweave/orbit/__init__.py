"""Satellites: what a path through a constellation does over time, from geometry.

* ``spec``: what a study file says about an orbit; ``places``: cities and coordinates
* ``catalogue``: files of elements and of gateways; ``path``: from a spec to an ``OrbitPath``
* ``passes``, ``moment`` (one sky), ``tables`` and ``words``: what ``skyweave orbit`` says of it
* pictures: ``plot_sky`` (``gso``), ``plot_map`` (``globe``, ``coastlines``), ``plot_rtt``

The computing is done in ``crates/orbit``; docs/orbits.md says what is modelled.
"""

from skyweave.orbit.path import Handover, OrbitPath, Outage, fibre_rtt_ms, orbit_path
from skyweave.orbit.places import PLACES, Place
from skyweave.orbit.spec import OrbitSpec

__all__ = [
    "PLACES",
    "Handover",
    "OrbitPath",
    "OrbitSpec",
    "Outage",
    "Place",
    "fibre_rtt_ms",
    "orbit_path",
]
