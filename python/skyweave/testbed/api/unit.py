"""The unit of systemd that keeps an orchestrator running: without root, without capabilities."""

from __future__ import annotations

import sys
from pathlib import Path

from skyweave.errors import ConfigError

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:[]")
_TEXT = """\
[Unit]
Description=Skyweave orchestrator of a testbed
Documentation=https://www.freedesktop.org/software/systemd/man/systemd.service.html
Wants=network-online.target
After=network-online.target

[Service]
Type=exec
ExecStart={program} -I -m skyweave.cli testbed up --data {data} --listen {listen} --url {url}
DynamicUser=yes
StateDirectory={state}
StateDirectoryMode=0700
Restart=always
RestartSec=2
TimeoutStopSec=30
UMask=0077
NoNewPrivileges=yes
CapabilityBoundingSet=
ProtectSystem=strict
ProtectHome=read-only
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service

[Install]
WantedBy=multi-user.target
"""
STATE = Path("/var/lib")


def unit(name: str, listen: str, url: str, program: Path | None = None) -> str:
    """Return the text of a unit whose folder is ``/var/lib/NAME``.

    Raises :class:`ConfigError` for words that systemd would take apart.
    """
    program = program or Path(sys.executable)
    for word in (name, listen, url, str(program)):
        if not word or not set(word) <= _PLAIN:
            raise ConfigError(f"{word[:80]!r}: a unit takes letters, digits and /._-+:[] alone")
    if "/" in name or name.startswith("."):
        raise ConfigError(f"{name}: is the name of a folder in {STATE}; give it without slashes")
    return _TEXT.format(
        program=program, data=STATE / name, listen=listen, url=url, state=name
    )  # fmt: skip
