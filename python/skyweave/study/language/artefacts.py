"""The artefacts of a publication: ``[[artefacts]]`` of ``published.toml``."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import Field

from skyweave.model.validated import StudyModel, complaint


class Artefact(StudyModel):
    """A figure, a table or a claim of a publication, and the criteria that say what is in it."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_/\-]*$")]
    text: str
    criteria: tuple[str, ...] = Field(min_length=1)
    """Ids of criteria; ``*`` stands for anything."""

    def has(self, criterion: str) -> bool:
        """Tell whether a criterion belongs to this artefact."""
        return any(fnmatchcase(criterion, pattern) for pattern in self.criteria)


def check_artefacts(artefacts: Sequence[Artefact], criteria: Sequence[str]) -> None:
    """Refuse artefacts without a criterion, and criteria that belong to several."""
    seen: set[str] = set()
    for artefact in artefacts:
        if artefact.id in seen:
            raise complaint("artefacts", f"artefact '{artefact.id}' stands there twice")
        seen.add(artefact.id)
        for pattern in artefact.criteria:
            if not any(fnmatchcase(one, pattern) for one in criteria):
                said = f"artefact '{artefact.id}': no criterion is called '{pattern}'"
                raise complaint("artefacts", said)
    for one in criteria:
        owners = [artefact.id for artefact in artefacts if artefact.has(one)]
        if len(owners) > 1:
            said = f"criterion '{one}' belongs to several artefacts: {', '.join(owners)}"
            raise complaint("artefacts", said)
