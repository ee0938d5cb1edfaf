"""What a study calls its drives and paths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from skyweave.plotting.style import roles
from skyweave.results.pathset import PathSet


@dataclass(frozen=True)
class Namer:
    """Labels of drives and paths as the study gives them."""

    plan: dict[str, Any]

    def path(self, name: str) -> str:
        """Return a path's label, e.g. Starlink."""
        return str(self.plan["paths"].get(name, {}).get("label") or name)

    def role(self, name: str) -> str:
        """Return the colour role of a path."""
        return roles({key: str(spec["kind"]) for key, spec in self.plan["paths"].items()})[name]

    def cell(self, cell: PathSet) -> str:
        """Return a path set's label, e.g. Starlink + AT&T."""
        return " + ".join(self.path(name) for name in cell.names)

    def drives(self, name: str) -> str:
        """Return the label of a group of drives."""
        for source in self.plan["drives"]:
            if source["name"] == name:
                return str(source["label"] or name)
        return name
