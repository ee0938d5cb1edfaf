"""Where runs happen: their own namespaces, no capabilities, limits, no way to the owner's network.

* ``groups``: control groups; ``network``: the namespace and its devices; ``rules``: its firewall
* ``forwarding``: what else the machine forwards; ``cage``: files
* ``tree``: what a stranger sent, unpacked; ``sandbox``: one run
"""

from skyweave.testbed.node.sandbox.cage import lacking
from skyweave.testbed.node.sandbox.forwarding import can_forward6, forwards6, guard, unguard
from skyweave.testbed.node.sandbox.groups import Group, Groups, Hierarchy
from skyweave.testbed.node.sandbox.network import Counters, counters, default_devices
from skyweave.testbed.node.sandbox.rules import Ways
from skyweave.testbed.node.sandbox.sandbox import Ground, Sandbox
from skyweave.testbed.node.sandbox.tree import brings_python, unpack

__all__ = [
    "Counters", "Ground", "Group", "Groups", "Hierarchy", "Sandbox", "Ways", "brings_python",
    "can_forward6", "counters", "default_devices", "forwards6", "guard", "lacking", "unguard",
    "unpack",
]  # fmt: skip
