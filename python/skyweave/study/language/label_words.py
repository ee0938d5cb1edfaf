"""Values of settings in one word, as labels of runs say them."""

from __future__ import annotations

from typing import Any, Literal

from skyweave.algorithms import catalogue
from skyweave.model import config


def as_queue(queue: Literal["infinite"] | config.Queue) -> config.Queue:
    """Return the queue that a plan means."""
    return config.InfiniteQueue() if queue == "infinite" else queue


def queue_label(given: Literal["infinite"] | config.Queue) -> str:
    """Return a queue in words, e.g. ``infinite`` or ``droptail 1000 packets``."""
    queue = as_queue(given)
    if isinstance(queue, config.InfiniteQueue):
        return "infinite"
    if isinstance(queue, config.CoDel):
        return f"codel {queue.target_ms:g} ms, {queue.packets} packets"
    parts = [
        f"{amount} {unit}"
        for amount, unit in ((queue.packets, "packets"), (queue.bytes, "bytes"))
        if amount is not None
    ]
    return "droptail " + " and ".join(parts or ["unbounded"])


def loss_label(loss: Literal["path"] | float | dict[str, float]) -> str | float:
    """Return a loss in one word.

    >>> loss_label({"sat": 0.005})
    'sat=0.005'
    """
    if not isinstance(loss, dict):
        return loss
    return ", ".join(f"{name}={ratio:g}" for name, ratio in loss.items())


def workload_label(workload: Literal["bulk"] | config.Workload) -> str:
    """Return a workload in one word, with its settings.

    >>> workload_label(config.Workload(kind="requests", object_bytes=[1000, 5000], count=9))
    'requests(object_bytes=1000/5000, count=9)'
    """
    if workload == "bulk":
        return workload
    told = workload.model_dump(exclude={"kind"}, exclude_unset=True)
    words = [f"{name}={_word(value)}" for name, value in told.items()]
    return f"{workload.kind}({', '.join(words)})"


def _word(value: Any) -> str:
    """Return a value of a workload: the name in a table that has one, else what it sets."""
    if isinstance(value, dict):
        if "csv" in value:
            return str(value.get("name", "a table"))
        if "name" in value:
            return catalogue.label(value)
        are_numbers = all(isinstance(one, int | float) for one in value.values())
        return " ".join(f"{key} {one}" for key, one in value.items()) if are_numbers else "given"
    return "/".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
