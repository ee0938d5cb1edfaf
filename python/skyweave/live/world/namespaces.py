"""Namespaces that threads and processes of this library are in. Nothing heavy is imported here.

Programs of the testbed enter a network with it, and need nothing of what makes one.
"""

from __future__ import annotations

import ctypes
import os

_CLONE_NEWNS, _CLONE_NEWNET = 0x00020000, 0x40000000


def new_network() -> int:
    """Move this thread into a new network namespace; return a descriptor of it."""
    _system("unshare", _CLONE_NEWNET)
    return this_network()


def new_mounts() -> None:
    """Move this process into a mount namespace of its own."""
    _system("unshare", _CLONE_NEWNS)


def this_network() -> int:
    """Return a descriptor of the network namespace that this thread is in."""
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def enter_network(namespace: int) -> None:
    """Move this thread into a network namespace."""
    _system("setns", namespace, _CLONE_NEWNET)


def _system(name: str, *arguments: int) -> None:
    """Call what Python has from 3.12 on only."""
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), "namespace")
