"""The far end of measurements: services that start for one run, its token and its address.

* ``services``: iperf3, our QUIC, nginx, probes, each a process; ``firewall``: who may reach them
* ``gate``: the token, shown over TCP; ``lease``: all of it for one run; ``server``: orders
* ``knock``: the node's side of the gate; ``client``: measurements with these services
"""

from skyweave.testbed.measure.gate import Gate, Said
from skyweave.testbed.measure.knock import knock

__all__ = ["Gate", "Said", "knock"]
