"""The options that all commands of ``skyweave orbit`` share: the fields of an ``OrbitSpec``."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

import typer
from pydantic import ValidationError

from skyweave.errors import ConfigError
from skyweave.orbit.spec import OrbitSpec, Policy

DEFAULT_CONSTELLATION = "starlink"
_OTHER_END = (
    "nothing says what is behind the satellites; give --gateway PLACE or --gateways FILE.csv for "
    "a bent pipe, or --to PLACE for links between satellites"
)


@dataclass(frozen=True)
class Request:
    """What the shared options say."""

    given: dict[str, Any]
    """Fields of an :class:`OrbitSpec`; what was not given is not there."""
    seed: int

    @property
    def has_other_end(self) -> bool:
        """Whether something is behind the satellites."""
        return bool(self.given.keys() & {"to", "gateways"})

    def spec(self) -> OrbitSpec:
        """The whole path; :class:`ConfigError` names the option that makes no sense."""
        if not self.has_other_end:
            raise ConfigError(_OTHER_END)
        return _validated(self.given)

    def sky(self) -> OrbitSpec:
        """The same for what the terminal alone sees: without another end, the gateway is beside it.

        Then whatever satellite the terminal sees can serve.
        """
        if self.has_other_end:
            return self.spec()
        beside = {"gateways": [self.given["terminal"]], "gateway_min_elevation_deg": 0}
        return _validated({**self.given, **beside})


def with_orbit(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the shared options; it gets them as its first argument, a :class:`Request`.

    Typer reads signatures, so the wrapper's is put together: shared options, then its own.
    """
    shared = inspect.signature(_request, eval_str=True).parameters
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]

    @functools.wraps(command)
    def wrapper(**words: Any) -> None:
        request = _request(**{name: words.pop(name) for name in shared})
        command(request, **words)

    merged = [p.replace(kind=p.KEYWORD_ONLY) for p in (*shared.values(), *own)]
    wrapper.__signature__ = inspect.Signature(merged)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {p.name: p.annotation for p in merged}
    del wrapper.__wrapped__
    return wrapper


PlaceHelp = 'a city, or "LAT,LON" or "LAT,LON,METRES"'


def _request(
    terminal: Annotated[str, typer.Option(metavar="PLACE", help=f"Where you are: {PlaceHelp}.")],
    to: Annotated[
        str | None,
        typer.Option(metavar="PLACE", help="Far end of links between satellites (implies isl)."),
    ] = None,
    gateway: Annotated[
        list[str] | None,
        typer.Option(metavar="PLACE", help="Where a bent pipe may come down; repeat it."),
    ] = None,
    gateways: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Gateways as a CSV with the columns name, lat, lon."),
    ] = None,
    via: Annotated[
        Literal["gateway", "isl"] | None,
        typer.Option(help="Bent pipe or links between satellites; else as --to or gateways say."),
    ] = None,
    constellation: Annotated[
        str,
        typer.Option(metavar="NAME|FILE", help="Built-in, or elements: .tle .txt .json .csv[.gz]."),
    ] = DEFAULT_CONSTELLATION,
    policy: Annotated[
        Policy | None,
        typer.Option(
            metavar="POLICY",
            help=f"Which satellite is taken: {', '.join(get_args(Policy))}. "
            "Default highest-elevation, for isl shortest-path.",
        ),
    ] = None,
    min_elevation: Annotated[
        float | None, typer.Option(metavar="DEG", help="Terminal's mask. Default 25.")
    ] = None,
    gateway_elevation: Annotated[
        float | None, typer.Option(metavar="DEG", help="Other end's mask. Default 25.")
    ] = None,
    gso_avoidance: Annotated[
        float | None,
        typer.Option(metavar="DEG", help="Angle to keep from the geostationary arc. Default 0."),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(metavar="UTC", help="2026-05-15T12:00:00; else the epoch of the elements."),
    ] = None,
    slot: Annotated[
        str | None,
        typer.Option(metavar="S|none", help="How often a satellite is chosen. Default 15."),
    ] = None,
    slot_offset: Annotated[
        float | None,
        typer.Option(metavar="S", help="Slots begin there in Unix time modulo slot. Default 12."),
    ] = None,
    gap: Annotated[
        float | None,
        typer.Option(metavar="S", help="Outage after each handover. Default 0."),
    ] = None,
    acceleration: Annotated[
        float | None,
        typer.Option(metavar="TIMES", help="How much faster satellites fly. Default 1."),
    ] = None,
    step: Annotated[
        float | None, typer.Option(metavar="S", help="Spacing of the RTT series. Default 1.")
    ] = None,
    extra_rtt: Annotated[
        float | None,
        typer.Option(metavar="MS", help="Added to each RTT: processing, scheduling. Default 0."),
    ] = None,
    max_age_days: Annotated[
        float | None,
        typer.Option(metavar="DAYS", help="Elements farther off are not used. Default 60."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="For the policy random.")] = 0,
) -> Request:
    """Take the shared options; only what was given goes into the fields."""
    other_end, inferred = _other_end(to, gateway, gateways, via)
    given = {
        "constellation": constellation, "terminal": terminal, **other_end, "via": via or inferred,
        "policy": policy or ("shortest-path" if inferred == "isl" else None),
        "min_elevation_deg": min_elevation, "gateway_min_elevation_deg": gateway_elevation,
        "gso_avoidance_deg": gso_avoidance, "start": start, "slot_s": slot,
        "slot_offset_s": slot_offset, "gap_s": gap, "acceleration": acceleration, "step_s": step,
        "extra_rtt_ms": extra_rtt, "max_age_days": max_age_days,
    }  # fmt: skip
    return Request({name: value for name, value in given.items() if value is not None}, seed)


def _other_end(
    to: str | None, gateway: list[str] | None, gateways: str | None, via: str | None
) -> tuple[dict[str, Any], str]:
    """Return the fields of the other end, and ``via`` as they imply it."""
    down = gateway or gateways
    if gateway and gateways:
        raise ConfigError("--gateway and --gateways exclude each other; put all places into FILE")
    if gateways and not gateways.removesuffix(".gz").endswith(".csv"):
        raise ConfigError(f"--gateways {gateways}: is no CSV file; places go with --gateway PLACE")
    if to is not None and down:
        raise ConfigError("--to (isl) and gateways (bent pipe) exclude each other; leave one out")
    if via == "isl" and to is None:
        raise ConfigError("--via isl needs the far end; give --to PLACE")
    if via == "gateway" and to is not None:
        raise ConfigError("--to is the far end of isl; with --via gateway give --gateway PLACE")
    if to is not None:
        return {"to": to}, "isl"
    return ({"gateways": down} if down else {}), "gateway"


_OPTIONS = {
    "min_elevation_deg": "min-elevation", "gateway_min_elevation_deg": "gateway-elevation",
    "gso_avoidance_deg": "gso-avoidance", "slot_s": "slot", "slot_offset_s": "slot-offset",
    "gap_s": "gap", "step_s": "step", "extra_rtt_ms": "extra-rtt", "max_age_days": "max-age-days",
}  # fmt: skip


def _validated(given: dict[str, Any]) -> OrbitSpec:
    try:
        return OrbitSpec.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        field = str(first["loc"][0]) if first["loc"] else "via"
        option = _OPTIONS.get(field, field)
        if field == "gateways" and not isinstance(given["gateways"], str):
            option = "gateway"
        said = first["msg"].removeprefix("Value error, ")
        if field == "start":
            said = "is no date and time; write UTC like 2026-05-15T12:00:00"
        found = "" if "called" in said else f" (found '{_plain(first['input'])}')"
        raise ConfigError(f"--{option}: {said[:1].lower()}{said[1:]}{found}") from None


def _plain(value: Any) -> str:
    return " ".join(str(value).split())
