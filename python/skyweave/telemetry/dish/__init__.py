"""A Starlink dish: read, recorded, faked.

* ``client``: asks a dish; ``status``, ``history`` and ``sky_map`` read what it says
* ``fake``: a dish that is none, of a ``world`` and with ``faults``; ``api``: its schema

``client`` and ``fake`` need the extra ``skyweave[dish]``.
"""

from skyweave.telemetry.dish.errors import DishError
from skyweave.telemetry.dish.history import History
from skyweave.telemetry.dish.sky_map import SkyMap, parse_map
from skyweave.telemetry.dish.status import status_row
from skyweave.telemetry.dish.world import Second, World

__all__ = ["DishError", "History", "Second", "SkyMap", "World", "parse_map", "status_row"]
