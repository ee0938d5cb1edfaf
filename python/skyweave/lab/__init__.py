"""The closed loop: an orbit's schedule, and all that should be seen of it, held against each other.

* ``link``: the emulated link over a schedule, with disturbances at edges that are known
* ``closed_loop``: fake dish, echo server and trigger in an emulated world, as real commands
* ``judge``: what was seen, against what was there; ``draw``: the picture of it
"""

__all__: list[str] = []
