"""Orders under the orchestrator's signature: a node keeps them, and can prove why it did what."""

from __future__ import annotations

from pydantic import ValidationError

from skyweave.testbed.errors import RefusedError
from skyweave.testbed.wire.keys import PrivateKey, is_signed
from skyweave.testbed.wire.orders import Numbered, Signed

PURPOSE = b"skyweave testbed order 1\n"
"""Goes before what is signed, so that no signature for another purpose is an order."""


def seal(key: PrivateKey, numbered: Numbered) -> Signed:
    """Sign an order."""
    text = numbered.model_dump_json()
    return Signed(text=text, signature=key.sign(PURPOSE + text.encode()))


def unseal(signed: Signed, orchestrator_key: str, node: str) -> Numbered:
    """Return the order in it; :class:`RefusedError` if it is not the orchestrator's for ``node``.

    The caller compares ``sequence`` and ``fence`` with what it has seen.
    """
    if not is_signed(orchestrator_key, PURPOSE + signed.text.encode(), signed.signature):
        raise RefusedError("an order is not signed by the orchestrator that this node joined")
    try:
        numbered = Numbered.model_validate_json(signed.text)
    except ValidationError:
        raise RefusedError(
            "an order is of a kind that this version does not know; update Skyweave here"
        ) from None
    if numbered.node != node:
        raise RefusedError(f"an order is for '{numbered.node}', and this is '{node}'")
    order = numbered.order
    if order.kind == "start" and order.specification.node != node:
        raise RefusedError(f"a run is for '{order.specification.node}', and this is '{node}'")
    return numbered
