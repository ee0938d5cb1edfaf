"""Own probes, ten a second, that never wait for the last reply.

* ``probe``: what a probe is; ``pinger``: sends on time, joins replies, says what was lost
* ``icmp``, ``udp``, ``tcp``, ``dns``: a kind of probe each
* ``echo``: the server that answers ``udp``; ``route``: hops and their segments
"""

from skyweave.telemetry.probes.echo import EchoServer, Limits
from skyweave.telemetry.probes.pinger import Counts, Pinger, Sample
from skyweave.telemetry.probes.probe import Probe, ProbeError

__all__ = ["Counts", "EchoServer", "Limits", "Pinger", "Probe", "ProbeError", "Sample"]
