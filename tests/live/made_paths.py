"""Paths for tests of the live engine."""

from __future__ import annotations

from skyweave.model import config


def link(mbps: float = 50.0, ms: float = 0.0, **more: object) -> config.Link:
    """A link of constant capacity and delay."""
    return config.Link.model_validate(
        {"capacity": {"kind": "constant", "mbps": mbps}, "delay": {"kind": "constant", "ms": ms}}
        | more
    )


def path(name: str, mbps: float = 50.0, ms: float = 0.0, **more: object) -> config.Path:
    """A path whose links are alike; ``backup`` and ``present`` are its own, the rest the links'."""
    own = {key: more.pop(key) for key in ("backup", "present") if key in more}
    both = link(mbps, ms, **more)
    return config.Path.model_validate({"name": name, "down": both, "up": both} | own)
