"""Make python/skyweave/orbit/coastlines.json from Natural Earth's land.

    npm pack world-atlas@2.0.2 && tar xzf world-atlas-2.0.2.tgz
    python scripts/coastlines.py package/land-110m.json python/skyweave/orbit/coastlines.json

Natural Earth is in the public domain; world-atlas, which packs it as TopoJSON, has the ISC licence.
"""

import json
import sys
from itertools import accumulate
from pathlib import Path

Point = tuple[int, int]
HEAD = {
    "what": "Outlines of land, closed, as lon, lat, lon, lat, … in tenths of a degree",
    "source": "Natural Earth 4.1.0, 1:110m land (naturalearthdata.com), by npm world-atlas 2.0.2",
    "licence": "public domain",
}


def main(source: Path, target: Path) -> None:
    """Convert one file."""
    world = json.loads(source.read_text())
    (land,) = world["objects"]["land"]["geometries"]
    arcs = [decode(arc, world["transform"]) for arc in world["arcs"]]
    outlines = [join(ring, arcs) for polygon in land["arcs"] for ring in polygon[:1]]
    lines = ",\n".join(
        json.dumps([part for point in outline for part in point], separators=(",", ":"))
        for outline in outlines
        if len(outline) > 3
    )
    head = ",\n".join(
        f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in HEAD.items()
    )
    target.write_text(f'{{{head},\n"outlines": [\n{lines}\n]}}\n')


def decode(arc: list[list[int]], transform: dict[str, list[float]]) -> list[Point]:
    """Undo quantising and differences (TopoJSON 1.0, section 2.1.2); in tenths of a degree."""
    scale, translate = transform["scale"], transform["translate"]
    columns = [
        [round(10 * (step * scale[axis] + translate[axis])) for step in accumulate(deltas)]
        for axis, deltas in enumerate(zip(*arc, strict=True))
    ]
    return list(zip(*columns, strict=True))


def join(ring: list[int], arcs: list[list[Point]]) -> list[Point]:
    """One ring from its arcs, ~n being arc n backwards; without points that rounding made equal."""
    points: list[Point] = []
    for index in ring:
        arc = arcs[index] if index >= 0 else arcs[~index][::-1]
        points += [point for n, point in enumerate(arc) if not points or n or point != points[-1]]
    return [point for n, point in enumerate(points) if n == 0 or point != points[n - 1]]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
