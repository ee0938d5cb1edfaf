"""Templates: everything in them is escaped, and shown as :func:`skyweave.printing.visible` does."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from skyweave.printing import visible_lines
from skyweave.testbed.api.guards import office_of
from skyweave.testbed.pages import words
from skyweave.testbed.pages.guards import Visitor

PLACE = "/pages"
NAVIGATION = (
    ("Nodes", "nodes", "nodes.see"),
    ("Calendar", "calendar", "calendar.see"),
    ("Runs", "runs", "runs.see"),
    ("Submit", "submit", "experiments.submit"),
    ("Triggers", "triggers", "experiments.see"),
    ("Profiles", "profiles", "artefacts.read"),
    ("Tokens", "tokens", "tokens"),
    ("People", "people", "people"),
    ("Audit", "audit", "audit.see"),
)


def _shown(value: Any) -> Any:
    """Return what a template writes: foreign text without characters that hide or turn it."""
    return visible_lines(value) if isinstance(value, str) and not _is_ours(value) else value


def _is_ours(value: str) -> bool:
    return isinstance(value, Markup)


_TEMPLATES = Environment(
    loader=PackageLoader("skyweave.testbed.pages"), autoescape=True, undefined=StrictUndefined,
    finalize=_shown, trim_blocks=True, lstrip_blocks=True,
)  # fmt: skip
_TEMPLATES.filters.update(
    moment=words.moment, span=words.span, size=words.size, dish=words.dish, radio=words.radio
)


def page(
    request: Request, template: str, visitor: Visitor | None, status: int = 200, **more: Any
) -> HTMLResponse:
    """Return a page; ``visitor`` sees the way to what is open to them."""
    now = office_of(request).now()
    section = request.url.path.removeprefix(PLACE).split("/")[1:2]
    links = [
        (title, f"{PLACE}/{name}", [name] == section)
        for title, name, right in NAVIGATION
        if visitor is not None and visitor.may(right)
    ]
    here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    text = _TEMPLATES.get_template(f"{template}.html.j2").render(
        visitor=visitor, links=links, place=PLACE, here=here, now=now,
        ago=lambda when: words.ago(when, now), **more,
    )  # fmt: skip
    return HTMLResponse(text, status)
