"""What a run's specification asks of the kernel, as settings in its own network namespace."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from skyweave.testbed.errors import TestbedError
from skyweave.testbed.node.settings.allowed import Qdisc, RouteCongestion, Setting, Sysctl
from skyweave.testbed.wire import KernelSettings

LEAST_BUFFER_BYTES = 4096


def settings_of(asked: KernelSettings, devices: Sequence[str]) -> list[Setting]:
    """Return the settings; ``devices`` are those of the run's uplinks.

    Buffers are those of TCP: the limits of UDP sockets are the machine's, and stay.

    Raises :class:`TestbedError` for values that the table of allowed ones refuses.
    """
    try:
        return list(_settings(asked, devices))
    except ValidationError as error:
        raise TestbedError(f"a kernel setting is not allowed: {error.errors()[0]['msg']}") from None


def _settings(asked: KernelSettings, devices: Sequence[str]) -> list[Setting]:
    found: list[Setting] = []
    if asked.congestion_control is not None:
        found += [
            RouteCongestion(destination="default", device=one, algorithm=asked.congestion_control)
            for one in devices
        ]
    for name, size in (("wmem", asked.send_buffer_bytes), ("rmem", asked.receive_buffer_bytes)):
        if size is not None:
            usual = max(LEAST_BUFFER_BYTES, min(size, 131_072))
            triple = f"{LEAST_BUFFER_BYTES} {usual} {size}"
            found.append(Sysctl(name=f"net.ipv4.tcp_{name}", value=triple))
    if asked.qdisc is not None:
        found += [Qdisc(device=one, discipline=asked.qdisc) for one in devices]
    return found
