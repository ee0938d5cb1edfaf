"""The engine over real networks: a study's paths are network interfaces of this machine.

At the other end is a measurement server, of a testbed or one's own. What sends and receives is that
of the engine ``live``: the kernel's TCP and Multipath TCP, our multipath QUIC, and own probes.

* ``far``: the server's address, ports and token; ``knock``: the gate before it
* ``uplinks``: interfaces; ``check``: what cannot be, said before
* ``line``, ``words``: what both sides say to each other; ``serve``: the server; ``client``: our end
* ``carry``, ``probes``: one run; ``translate``: what the far side saw, by our clock and our paths
* ``beside``, ``profile``: the drive that a run leaves; ``engine``: a run to its record
"""

from skyweave.field.errors import FieldError
from skyweave.field.far import FarEnd

__all__ = ["FarEnd", "FieldError"]
