"""The unit of systemd that keeps a node, or a measurement server, running."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

from skyweave.errors import ConfigError

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+")
_TEXT = """\
[Unit]
Description=Skyweave {words}
Documentation=https://www.freedesktop.org/software/systemd/man/systemd.service.html
Wants=network-online.target
After=network-online.target

[Service]
Type=exec
ExecStart={program} -I -m skyweave.cli {command} --home {home}
Restart=always
RestartSec=5
# what it leaves when it is killed is ended by the next start, by its own marks
KillMode=mixed
TimeoutStopSec=60
Delegate=yes
UMask=0077
NoNewPrivileges=yes
ProtectHome={protect_home}
ProtectClock=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
RestrictRealtime=yes
SystemCallArchitectures=native
CapabilityBoundingSet={capabilities}

[Install]
WantedBy=multi-user.target
"""
_COMMANDS = {"node": "node run", "server": "measure serve"}
_WORDS = {"node": "node of a testbed", "server": "measurement server of a testbed"}
_CAPABILITIES = {
    "node": "CAP_SYS_ADMIN CAP_NET_ADMIN CAP_NET_RAW CAP_SETUID CAP_SETGID CAP_SETPCAP CAP_CHOWN "
    "CAP_DAC_OVERRIDE CAP_FOWNER CAP_KILL CAP_SYS_PTRACE",
    "server": "CAP_NET_ADMIN CAP_NET_BIND_SERVICE CAP_SETUID CAP_SETGID CAP_KILL CAP_CHOWN "
    "CAP_DAC_OVERRIDE",
}


def unit(kind: Literal["node", "server"], home: Path, program: Path | None = None) -> str:
    """Return the text of a unit; ``program`` is the Python to run, this one if not given.

    Raises :class:`ConfigError` for names that systemd would take apart.
    """
    program = program or Path(sys.executable)
    for place in (program, home):
        if not place.is_absolute() or not set(str(place)) <= _PLAIN:
            raise ConfigError(f"{place}: a unit needs an absolute path of letters and digits")
    in_home = any(one.is_relative_to("/root") or one.is_relative_to("/home")
                  for one in (program, program.resolve(), home))  # fmt: skip
    return _TEXT.format(
        words=_WORDS[kind], program=program, command=_COMMANDS[kind], home=home,
        protect_home="no" if in_home else "yes", capabilities=_CAPABILITIES[kind],
    )  # fmt: skip
