"""System calls that no run needs: refused by a filter (seccomp(2)) that bubblewrap loads.

What they have in common: they speak to parts of the kernel that are there for who administers a
machine (mounts, modules, keys, tracing, new namespaces), or that have let programs out of sandboxes
(io_uring, userfaultfd, bpf). Each answers EPERM; ``clone3``, whose flags a filter cannot see,
answers ENOSYS, after which C libraries take ``clone``.
"""

from __future__ import annotations

import errno
import platform
import struct
from typing import NamedTuple


class Machine(NamedTuple):
    """A processor's calls: its name for the kernel's audit, and the numbers."""

    arch: int
    """``AUDIT_ARCH_*`` of linux/audit.h."""
    clone: int
    refused: dict[str, int]
    """By name, as in the kernel's tables (arch/x86/entry/syscalls, asm-generic/unistd.h)."""


_SINCE_2019 = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433,
    "pidfd_getfd": 438, "mount_setattr": 442,
}  # fmt: skip
"""The same numbers everywhere."""
MACHINES = {
    "x86_64": Machine(0xC000003E, 56, _SINCE_2019 | {
        "ptrace": 101, "syslog": 103, "pivot_root": 155, "adjtimex": 159, "chroot": 161,
        "acct": 163, "settimeofday": 164, "mount": 165, "umount2": 166, "swapon": 167,
        "swapoff": 168, "reboot": 169, "sethostname": 170, "setdomainname": 171, "iopl": 172,
        "ioperm": 173, "init_module": 175, "delete_module": 176, "quotactl": 179,
        "clock_settime": 227, "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250,
        "unshare": 272, "perf_event_open": 298, "name_to_handle_at": 303,
        "open_by_handle_at": 304, "clock_adjtime": 305, "setns": 308, "process_vm_readv": 310,
        "process_vm_writev": 311, "kcmp": 312, "finit_module": 313, "kexec_file_load": 320,
        "bpf": 321, "userfaultfd": 323,
    }),
    "aarch64": Machine(0xC00000B7, 220, _SINCE_2019 | {
        "umount2": 39, "mount": 40, "pivot_root": 41, "chroot": 51, "quotactl": 60, "acct": 89,
        "unshare": 97, "kexec_load": 104, "init_module": 105, "delete_module": 106,
        "clock_settime": 112, "syslog": 116, "ptrace": 117, "reboot": 142, "sethostname": 161,
        "setdomainname": 162, "settimeofday": 170, "adjtimex": 171, "add_key": 217,
        "request_key": 218, "keyctl": 219, "swapon": 224, "swapoff": 225, "perf_event_open": 241,
        "name_to_handle_at": 264, "open_by_handle_at": 265, "clock_adjtime": 266, "setns": 268,
        "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272, "finit_module": 273,
        "bpf": 280, "userfaultfd": 282, "kexec_file_load": 294,
    }),
}  # fmt: skip
CLONE3 = 435
NEW_SPACES = 0x7E020080
"""``CLONE_NEW*`` of linux/sched.h: namespaces of users, processes, networks, mounts and all."""
_X32 = 0x40000000
_NUMBER, _ARCH, _FIRST_ARGUMENT = 0, 4, 16
"""Offsets in ``struct seccomp_data``; both machines are little-endian."""
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _ANSWER = 0x20, 0x15, 0x35, 0x45, 0x06
"""Instructions of the filter's machine (linux/bpf_common.h)."""
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
"""``SECCOMP_RET_ALLOW``, ``SECCOMP_RET_ERRNO``."""


def call_filter(machine: str | None = None) -> bytes | None:
    """Return the filter as bubblewrap's ``--seccomp`` reads it; None for a machine not known."""
    known = MACHINES.get(machine or platform.machine())
    if known is None:
        return None
    lines: list[tuple[int, int, int, int]] = [
        (_LOAD, 0, 0, _ARCH),
        (_EQUAL, 1, 0, known.arch),
        _answer(errno.ENOSYS),  # calls of 32 bits
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        _answer(errno.ENOSYS),
        (_EQUAL, 0, 1, CLONE3),
        _answer(errno.ENOSYS),
    ]
    for number in sorted(known.refused.values()):
        lines += [(_EQUAL, 0, 1, number), _answer(errno.EPERM)]
    lines += [
        (_EQUAL, 0, 3, known.clone),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_ANY_BIT, 0, 1, NEW_SPACES),
        _answer(errno.EPERM),
        (_ANSWER, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("<HBBI", *line) for line in lines)


def _answer(number: int) -> tuple[int, int, int, int]:
    return _ANSWER, 0, 0, _REFUSE | number
