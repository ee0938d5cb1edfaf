"""The unit of systemd that keeps an orchestrator running: without root, without capabilities."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

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
ExecStart={program} -I -m skyweave.cli testbed up --data {data} --listen {listen} --url {url}{more}
DynamicUser=yes
StateDirectory={state}
StateDirectoryMode=0700
Restart=always
RestartSec=2
TimeoutStopSec=30
UMask=0077
{secret}NoNewPrivileges=yes
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


class Oidc(NamedTuple):
    """An OpenID provider, as the options of ``testbed up`` describe it."""

    issuer: str
    client: str
    secret: Path | None = None
    """The file that holds the secret."""


def unit(
    name: str, listen: str, url: str, program: Path | None = None, oidc: Oidc | None = None
) -> str:
    """Return the text of a unit whose folder is ``/var/lib/NAME``.

    The secret of an OpenID provider stays root's: systemd reads it and hands it over
    (``LoadCredential=``). Raises :class:`ConfigError` for words that systemd would take apart.
    """
    program = program or Path(sys.executable)
    words, more, secret = [name, listen, url, str(program)], "", ""
    if oidc is not None:
        words += [oidc.issuer, oidc.client]
        more = f" --oidc-issuer {oidc.issuer} --oidc-client {oidc.client}"
    if oidc is not None and oidc.secret is not None:
        words.append(str(oidc.secret))
        more += " --oidc-secret %d/oidc"
        secret = f"LoadCredential=oidc:{oidc.secret}\n"
        if not oidc.secret.is_absolute():
            raise ConfigError(f"--oidc-secret {oidc.secret}: give its absolute path")
    for word in words:
        if not word or not set(word) <= _PLAIN or word.startswith("-"):
            raise ConfigError(f"{word[:80]!r}: a unit takes letters, digits and /._-+:[] alone")
    if "/" in name or name.startswith("."):
        raise ConfigError(f"{name}: is the name of a folder in {STATE}; give it without slashes")
    return _TEXT.format(
        program=program, data=STATE / name, listen=listen, url=url, state=name, more=more,
        secret=secret,
    )  # fmt: skip
