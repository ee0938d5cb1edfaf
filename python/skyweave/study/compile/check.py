"""Checks figures and criteria against the runs of a plan, before anything runs."""

from __future__ import annotations

from collections.abc import Iterable

from skyweave.errors import ConfigError, suggest
from skyweave.results.selection import Selection, Setting
from skyweave.study.language.criteria import (
    Across,
    Agreement,
    BestUnder,
    Between,
    Bound,
    CloseTo,
    Contrast,
    Criterion,
    FirstInShare,
    GainShare,
    Ordering,
    Overlap,
    Published,
    RatioBand,
    Trend,
    Window,
)
from skyweave.study.language.figures import OF_CAPACITY, FigureSpec
from skyweave.study.language.labels import (
    SETTINGS,
    Labels,
    different,
    matches,
    number_of,
    pairs_of,
    settings_of,
    with_linked,
)
from skyweave.study.language.plan import Plan


def check_selections(plan: Plan, published: Published, labels: list[Labels]) -> None:
    """Raise :class:`ConfigError` for a figure or a criterion that the runs cannot fill.

    Those on drives that were left out (no data) pass: the report says that they were not tested.
    """
    sources = [source.name for source in plan.drives]
    present = {item["drives"] for item in labels}
    for figure in plan.figures:
        if figure.kind == "engines":
            _check_engines(f"figure '{figure.id}'", figure, figure.cells, labels)
        elif figure.drives in present:
            _check_figure(figure, labels, sources)
    for criterion in published.criteria:
        what = f"criterion '{criterion.id}'"
        if isinstance(criterion, Agreement):
            if criterion.drives not in ("all", *sources):
                _known(what, "drives", criterion.drives, sources)
            _check_engines(what, criterion, criterion.cells, labels)
            continue
        chosen = [criterion]
        if isinstance(criterion, Contrast):
            chosen.append(criterion.model_copy(update={"drives": criterion.than}))
        chosen += [criterion.model_copy(update={"drives": name}) for name in criterion.assumed]
        for one in chosen:
            if one.drives not in sources:
                hint = suggest(one.drives, sources)
                raise ConfigError(f"{what}: unknown drives '{one.drives}': {hint}")
            if one.drives in present:
                free = set(SETTINGS) if isinstance(criterion, Across) else set()
                runs = _check(what, one, labels, free)
                if isinstance(criterion, Across):
                    _check_values(what, criterion, runs)
                _check_cells(what, cells_of(criterion), runs)
                if isinstance(criterion, Window) and criterion.path is not None:
                    _known(what, "path", criterion.path, criterion.cells[0].names)


def cells_of(criterion: Criterion) -> tuple[str, ...]:
    """Return the path sets that a criterion names."""
    if isinstance(criterion, Ordering | Bound | Window | Across):
        return criterion.cells
    if isinstance(criterion, RatioBand):
        return (criterion.numerator, criterion.denominator)
    if isinstance(criterion, CloseTo):
        return (criterion.cell, criterion.minus) if criterion.minus else (criterion.cell,)
    return ()


def _check_engines(
    what: str, chosen: Selection, cells: Iterable[str], labels: list[Labels]
) -> None:
    """Check what compares engines; with runs of one engine alone it has nothing to compare.

    That is no mistake of the file: ``--engine`` may have said so, and the report says so.
    """
    for key in chosen.where:
        _known(what, "setting", key, [name for name in SETTINGS if name != "engine"])
    _check_cells(what, cells, labels)
    if len({item["engine"] for item in labels}) < 2:
        return
    pairs, _ = pairs_of((str(number), item) for number, item in enumerate(labels))
    both = [item for _, _, item in pairs if not cells or item["paths"] in cells]
    if not any(matches(item, chosen) for item in both):
        raise ConfigError(
            f"{what}: no simulated run has a live one that is equal in all else; "
            'correct it, or set engine = ["sim", "live"] for such runs'
        )


def _check_figure(figure: FigureSpec, labels: list[Labels], sources: list[str]) -> None:
    """Check the selections, the settings and the names that a figure uses."""
    what = f"figure '{figure.id}'"
    for key in sorted(figure.varies):
        _known(what, "setting", key, SETTINGS)
    present = {item["drives"] for item in labels}
    for other in figure.beside:
        _known(what, "drives", other.drives, sources)
    for key in figure.where_any:
        _known(what, "setting", key, SETTINGS)
    for chosen in (figure, *(one for one in figure.beside if one.drives in present)):
        runs = _check(what, chosen, labels, figure.varies)
        if figure.kind in OF_CAPACITY and any(one["engine"] == "field" for one in runs):
            raise ConfigError(
                f"{what}: kind '{figure.kind}' shows what links could carry, and of real networks "
                "nobody knows that; take another kind"
            )
        _check_cells(what, figure.cells, runs)
        if figure.reference is not None:
            _known(what, "congestion", figure.reference, {r["congestion"] for r in runs})
            for parameter in (figure.x, figure.y):
                _check_number(what, str(parameter), runs)


def _check_values(what: str, criterion: Across, runs: list[Labels]) -> None:
    """Check the settings that a criterion compares, and their values."""
    if isinstance(criterion, Trend):
        _check_number(what, criterion.along, runs)
    if isinstance(criterion, BestUnder):
        _check_number(what, criterion.parameter, runs)
        _known(what, "congestion", criterion.reference, {r["congestion"] for r in runs})
        return
    for key in ("by", "than"):
        if hasattr(criterion, key):
            _known(what, "setting", getattr(criterion, key), SETTINGS)
    for key in getattr(criterion, "where_any", {}):
        _known(what, "setting", key, SETTINGS)
    values: list[Setting] = []
    if isinstance(criterion, FirstInShare):
        values = [criterion.winner]
    elif isinstance(criterion, Between):
        values = [criterion.first, *criterion.second]
    elif isinstance(criterion, Overlap):
        values = [criterion.first, criterion.second]
    elif isinstance(criterion, GainShare):
        values = [criterion.first, criterion.base, criterion.best]
    if isinstance(criterion, FirstInShare | Between | Overlap | GainShare):
        for value in values:
            if all(r[criterion.by] != value for r in runs):
                _known(what, criterion.by, str(value), {str(r[criterion.by]) for r in runs})


def _check_number(what: str, key: str, runs: list[Labels]) -> None:
    """Refuse something along which nothing varies as a number."""
    found = [number_of(item, item["control"], key) for item in different(runs)]
    if all(number is None for number in found):
        known = {k for item in runs for k in item["control"]} - {"name"}
        raise ConfigError(
            f"{what}: it has no number '{key}' to vary: {suggest(key, [*known, *SETTINGS])}"
        )


def _known(what: str, kind: str, name: str, known: Iterable[str]) -> None:
    """Refuse a name that nothing has."""
    if name not in (names := list(known)):
        raise ConfigError(f"{what}: unknown {kind} '{name}': {suggest(name, names)}")


def _check(what: str, chosen: Selection, labels: list[Labels], varies: set[str]) -> list[Labels]:
    """Return the runs of a selection; refuse an empty or an ambiguous one."""
    for key in chosen.where:
        if key not in SETTINGS:
            raise ConfigError(f"{what}: unknown setting '{key}': {suggest(key, SETTINGS)}")
    runs = [item for item in labels if matches(item, chosen)]
    if not runs:
        raise ConfigError(
            f"{what}: no run is on drives '{chosen.drives}' {chosen.direction} with "
            f"{chosen.where or 'these settings'}; correct it, or add such a [[compare]]"
        )
    found = settings_of(runs)
    fixed = [key for key in SETTINGS if key not in with_linked(varies)]
    open_keys = [key for key in fixed if len({str(s[key]) for s in found}) > 1]
    if open_keys:
        options = ", ".join(dict.fromkeys(str(item[open_keys[0]]) for item in found))
        raise ConfigError(
            f"{what}: its runs differ in {open_keys[0]} ({options}); "
            f"choose one: where = {{{open_keys[0]} = …}}"
        )
    _check_engine_follows(what, found, varies)
    return runs


def _check_engine_follows(what: str, found: list[Labels], varies: set[str]) -> None:
    """Refuse runs of one workload under both engines where the workload alone is to vary."""
    if "engine" in varies:
        return
    both = [
        item for item in found if {**item, "engine": "sim"} in found and item["engine"] != "sim"
    ]
    if both:
        raise ConfigError(
            f"{what}: its runs of {both[0]['workload']} are of both engines; "
            'choose one: where = { engine = "sim" } or { engine = "live" }'
        )


def _check_cells(what: str, cells: Iterable[str], runs: list[Labels]) -> None:
    known = {item["paths"] for item in runs}
    for cell in cells:
        if cell not in known:
            raise ConfigError(f"{what}: no run of path set '{cell}': {suggest(cell, known)}")
