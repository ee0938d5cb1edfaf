"""A whole testbed on this machine, in namespaces of its own: ``skyweave lab testbed``.

* ``places``: whose machines there are, and by which links they reach the rest of the world
* ``links``: these links, for the relay; ``inside``: the namespaces, the relay, and all programs
* ``town``: that process seen from the host; ``orchestrator``: serves both sides
* ``people``: accounts, invitations and experiments; ``telling``: what is going on, in lines
* ``aware``: what knows the LEO link of a node (predictor, transport, and a ``camera``)
* ``start``: all of it in order; ``check``: how soon the triggered run is on the dashboard
"""

__all__: list[str] = []
