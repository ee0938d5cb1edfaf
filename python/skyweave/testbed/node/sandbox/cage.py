"""What a run sees of this machine, as arguments of bubblewrap: programs to read, two folders.

bubblewrap makes the view as root, then ``setpriv`` gives up the user, all groups and every
capability: the program is nobody to the kernel, not only in a namespace of its own. A filter
refuses system calls that no run needs.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import skyweave
from skyweave.testbed.node.sandbox.calls import call_filter
from skyweave.testbed.node.tools import PATH

USER = 64_917
"""The user and group of runs: a number that no system gives to anybody."""
INPUT, RESULTS = "/experiment", "/results"
TMP_BYTES = 64 * 2**20
MOST_FILES = 1024
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
_ETC = ("ld.so.cache", "alternatives", "localtime")
PASSWD = f"run:x:{USER}:{USER}::{RESULTS}:/bin/sh\n"
RESOLVER, FILTER = "resolv.conf", "calls.bpf"
AUTHORITIES = "/etc/ssl/certs"
"""Whose certificates are trusted: of use where names are."""
_FILTER_FD = "9"
_WITH_FILTER = f'exec "$@" {_FILTER_FD}<"$0"'
"""bubblewrap reads the filter of system calls from a descriptor."""
NEEDED = ("bwrap", "setpriv", "prlimit", "nsenter", "ip", "nft")


def lacking() -> str | None:
    """Return which program a sandbox needs and this machine lacks; ``None``: all are there."""
    gone = [name for name in NEEDED if shutil.which(name, path=PATH) is None]
    if not gone:
        return None
    return (
        f"there is no sandbox without {', '.join(gone)}; "
        "apt install bubblewrap util-linux iproute2 nftables"
    )


def furnish(folder: Path, resolver: str | None = None) -> None:
    """Write what a sandbox is made of into the folder around its results.

    That is a user, a filter, and who answers for names.
    """
    (folder / "passwd").write_text(PASSWD)
    if resolver is not None:
        (folder / RESOLVER).write_text(f"nameserver {resolver}\n")
    if (program := call_filter()) is not None:
        (folder / FILTER).write_bytes(program)


def cage(argv: Sequence[str], results: Path, tree: Path | None, limits: Sequence[str]) -> list[str]:
    """Return the command that runs ``argv`` in the sandbox; ``limits`` are those of ``prlimit``.

    The environment passes through: it has tokens, and arguments can be read by everybody. The
    folder around ``results`` has been furnished by :func:`furnish`.
    """
    seen = ["--tmpfs", "/", "--perms", "0755", "--dir", "/etc"]
    for name in _SYSTEM:
        place = Path(name)
        if place.is_symlink():
            seen += ["--symlink", str(place.readlink()), name]
        elif place.exists():
            seen += ["--ro-bind", name, name]
    for name in _ETC:
        seen += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    seen += ["--proc", "/proc", "--dev", "/dev"]
    seen += ["--size", str(TMP_BYTES), "--perms", "1777", "--tmpfs", "/tmp"]
    for place in _python():  # after /tmp: it may lie there
        for above in [one for one in reversed(place.parents) if one != Path("/")]:
            seen += ["--perms", "0755", "--dir", str(above)]
        seen += ["--ro-bind", str(place), str(place)]
    seen += ["--ro-bind", str(results.parent / "passwd"), "/etc/passwd"]
    if (names := results.parent / RESOLVER).exists():
        seen += ["--ro-bind", str(names), f"/etc/{RESOLVER}"]
        seen += ["--ro-bind-try", AUTHORITIES, AUTHORITIES]
    seen += ["--bind", str(results), RESULTS]
    if tree is not None:
        seen += ["--ro-bind", str(tree), INPUT]
    seen += ["--remount-ro", "/", "--chdir", RESULTS]
    program, filtered = results.parent / FILTER, ["--seccomp", _FILTER_FD]
    opened = ["sh", "-c", _WITH_FILTER, str(program)] if program.exists() else []
    return [
        *opened, "prlimit", *limits, "--core=0", f"--nofile={MOST_FILES}",
        "bwrap", "--die-with-parent", "--new-session", "--unshare-pid", "--unshare-ipc",
        "--unshare-uts", "--unshare-cgroup-try", "--hostname", "run",
        "--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID",
        "--cap-add", "CAP_SETPCAP", *(filtered if opened else []), *seen, "--",
        "setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--no-new-privs",
        "--inh-caps=-all", "--bounding-set=-all", *argv,
    ]  # fmt: skip


def _python() -> list[Path]:
    """Return the folders of Python and of this package that are not among the system's."""
    package = Path(skyweave.__file__).parent.parent
    places = [Path(sys.prefix), Path(sys.base_prefix), package]
    outside = [one for one in places if not one.is_relative_to("/usr")]
    return [
        one for number, one in enumerate(outside)
        if not any(one.is_relative_to(other) for other in outside[:number])
    ]  # fmt: skip
