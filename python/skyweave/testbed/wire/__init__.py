"""What nodes, servers and the orchestrator say to each other: docs/testbed.md.

* ``names``: names, numbers and limits of all messages; ``run``: the specification of a run
* ``orders``: orchestrator to node, under a signature (``sealed``); ``events``: node to orchestrator
* ``joining``: invitations, and how a key becomes known; ``keys``: Ed25519
* ``http_signature``: requests signed as RFC 9421 says; ``pinning``: whose certificate is trusted
"""

from skyweave.testbed.wire.events import (
    Accepted,
    Artefact,
    Clock,
    Declared,
    DishFigures,
    Event,
    Events,
    Finished,
    Fired,
    Frozen,
    Heartbeat,
    HeartbeatAnswer,
    Held,
    RadioFigures,
    Ready,
    Refused,
    Started,
    Stored,
)
from skyweave.testbed.wire.http_signature import (
    Claim,
    Nonces,
    Request,
    WrongClockError,
    claim_of,
    sign,
)
from skyweave.testbed.wire.joining import Invitation, Join, Joined, Problem
from skyweave.testbed.wire.keys import PrivateKey, is_signed
from skyweave.testbed.wire.names import Message
from skyweave.testbed.wire.orders import Numbered, Orders, Release, Serve, Signed, Start, Stop
from skyweave.testbed.wire.pinning import fetch_certificate, trusting
from skyweave.testbed.wire.run import (
    Command,
    FarEnd,
    Input,
    KernelSettings,
    Limits,
    Origin,
    RunSpecification,
    Study,
)
from skyweave.testbed.wire.sealed import seal, unseal

__all__ = [
    "Accepted", "Artefact", "Claim", "Clock", "Command", "Declared", "DishFigures", "Event",
    "Events", "FarEnd", "Finished", "Fired", "Frozen", "Heartbeat", "HeartbeatAnswer", "Held",
    "Input", "Invitation", "Join", "Joined", "KernelSettings", "Limits", "Message", "Nonces",
    "Numbered", "Orders", "Origin", "PrivateKey", "Problem", "RadioFigures", "Ready", "Refused",
    "Release", "Request", "RunSpecification", "Serve", "Signed", "Start", "Started", "Stop",
    "Stored", "Study", "WrongClockError", "claim_of", "fetch_certificate", "is_signed", "seal",
    "sign", "trusting", "unseal",
]  # fmt: skip
