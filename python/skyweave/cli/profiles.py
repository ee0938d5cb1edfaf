"""``NAME=PROFILE`` on a command line to a path: presets, drives, traces and numbers.

A profile is a source, keys, or both, with commas between: ``alaska/starlink``,
``drive.csv/VZ,rtt=60``, ``down=20,up=5,rtt=50,loss=0.001``,
``down=lte.down,up=lte.up,rtt=50,queue=infinite``.
"""

from __future__ import annotations

from pathlib import Path

from skyweave.data import load, traces
from skyweave.errors import ConfigError, suggest
from skyweave.model import config
from skyweave.model.drive import Drive
from skyweave.model.steps import UNLIMITED_MBPS
from skyweave.study.compile.links import LinkSettings, build_path
from skyweave.study.language.plan import PathSpec
from skyweave.synthesis import preset_names, synthesise

KEYS = {
    "down": "Mbit/s to the client, or a file (mahimahi, or a .csv of times and rates)",
    "up": "Mbit/s from the client, or a file",
    "rtt": "round-trip time of the empty path in ms; half each way",
    "loss": "share of packets lost each way, 0 to 1",
    "queue": "packets, 'infinite' or 'codel'",
}
LONGEST_S = 3600.0
"""Length of a drive made from a preset; it repeats."""


def parse_path(text: str, seed: int) -> config.Path:
    """Return the path that ``NAME=PROFILE`` means; ``seed`` chooses the drive of a preset.

    Raises :class:`ConfigError` with the part that is wrong, :class:`DataError` for files.
    """
    name, equals, profile = text.partition("=")
    if not equals or not name or not profile:
        raise ConfigError(f"--path '{text}': must be NAME=PROFILE, e.g. lte=down=20,up=5,rtt=50")
    parts = [part.strip() for part in profile.split(",") if part.strip()]
    source = parts.pop(0) if parts and parts[0].partition("=")[0] not in KEYS else None
    keys = _keys(text, parts)
    if source is None:
        return _described(text, name, keys)
    return _recorded(text, name, source, keys, seed)


def _keys(text: str, parts: list[str]) -> dict[str, str]:
    keys: dict[str, str] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if key not in KEYS or not equals or not value:
            hint = suggest(key, KEYS)
            raise ConfigError(f"--path '{text}': '{part}' is not KEY=VALUE of a path; {hint}")
        keys[key] = value
    return keys


def _described(text: str, name: str, keys: dict[str, str]) -> config.Path:
    """Return a path of which all is said by keys."""
    if "down" not in keys and "up" not in keys:
        raise ConfigError(f"--path '{text}': says no capacity; add down=MBPS, up=MBPS or a file")
    rtt_ms = _number(text, "rtt", keys.get("rtt", "0"))
    down, up = (_capacity(text, key, keys.get(key)) for key in ("down", "up"))
    empty = config.Link(capacity=down, delay=config.ConstantDelay(ms=rtt_ms / 2))
    path = config.Path(name=name, down=empty, up=empty.model_copy(update={"capacity": up}))
    return _adjusted(text, path, {key: keys[key] for key in keys if key not in ("down", "up")})


def _recorded(text: str, name: str, source: str, keys: dict[str, str], seed: int) -> config.Path:
    """Return a path of a drive, with what the keys change about it."""
    drive, own = _drive(text, source, seed)
    if own is None and len(drive.paths) > 1:
        names = ", ".join(drive.paths)
        raise ConfigError(f"--path '{text}': '{source}' has paths {names}; write {source}/ONE")
    own = own or next(iter(drive.paths))
    if own not in drive.paths:
        raise ConfigError(
            f"--path '{text}': '{source}' has no path '{own}'; {suggest(own, drive.paths)}"
        )
    trace = drive.paths[own]
    if trace.rtt_ms is None and "rtt" not in keys:
        raise ConfigError(f"--path '{text}': '{source}' has no round-trip times; add rtt=MS")
    spec = PathSpec(
        rtt_ms="trace" if trace.rtt_ms is not None else 1.0,
        loss="trace" if trace.loss_ratio is not None else "none",
    )
    direction = "down" if trace.downlink_mbps is not None else "up"
    settings = LinkSettings(
        "down" if direction == "down" else "up", drive.duration_s, config.DropTail(packets=1000)
    )
    path = build_path(name, trace, spec, settings, drive.name).model_copy(update={"name": name})
    return _adjusted(text, _repeating(path, drive.duration_s), keys)


def _drive(text: str, source: str, seed: int) -> tuple[Drive, str | None]:
    """Return the drive of a source and the path of it that is named, if one is."""
    head, _, own = source.partition("/")
    if head in preset_names():
        return synthesise(head, seed, LONGEST_S), own or None
    file, inner = Path(source), None
    if not file.exists() and "/" in source:
        file, inner = Path(source.rpartition("/")[0]), source.rpartition("/")[2]
    if not file.is_file():
        hint = suggest(head, preset_names())
        raise ConfigError(f"--path '{text}': '{source}' is neither a preset nor a file; {hint}")
    drives = load(file, None)
    return drives[0], inner


def _repeating(path: config.Path, period_s: float) -> config.Path:
    """Return a path that begins again when its drive is over."""

    def link(one: config.Link) -> config.Link:
        update = {
            key: value.model_copy(update={"repeat_s": period_s})
            for key in ("capacity", "delay", "loss")
            if "repeat_s" in type(value := getattr(one, key)).model_fields
        }
        return one.model_copy(update=update)

    return path.model_copy(update={"down": link(path.down), "up": link(path.up)})


def _adjusted(text: str, path: config.Path, keys: dict[str, str]) -> config.Path:
    """Return the path with what the keys say instead."""
    common: dict[str, object] = {}
    if "rtt" in keys:
        common["delay"] = config.ConstantDelay(ms=_number(text, "rtt", keys["rtt"]) / 2)
    if "loss" in keys:
        ratio = _number(text, "loss", keys["loss"])
        if ratio > 1:
            raise ConfigError(f"--path '{text}': loss={keys['loss']} is a share, 0 to 1")
        common["loss"] = config.Bernoulli(ratio=ratio)
    if "queue" in keys:
        common["queue"] = _queue(text, keys["queue"])
    links = {}
    for key in ("down", "up"):
        own = {"capacity": _capacity(text, key, keys[key])} if key in keys else {}
        links[key] = getattr(path, key).model_copy(update={**common, **own})
    return path.model_copy(update=links)


def _capacity(text: str, key: str, value: str | None) -> config.Capacity:
    if value is None:
        return config.ConstantRate(mbps=UNLIMITED_MBPS)
    if Path(value).is_file():
        return traces.read_capacity(Path(value))
    return config.ConstantRate(mbps=_number(text, key, value))


def _queue(text: str, value: str) -> config.Queue:
    if value == "infinite":
        return config.InfiniteQueue()
    if value == "codel":
        return config.CoDel()
    if not value.isdigit() or int(value) == 0:
        raise ConfigError(f"--path '{text}': queue={value} must be packets, 'infinite' or 'codel'")
    return config.DropTail(packets=int(value))


def _number(text: str, key: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise ConfigError(f"--path '{text}': {key}={value} must be {KEYS[key]}")
    return number
