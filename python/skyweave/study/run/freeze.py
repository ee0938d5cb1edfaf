"""The plan as a results folder holds it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from skyweave.study.compile.expand import Job


def freeze(
    plan: dict[str, Any],
    published: dict[str, Any],
    jobs: list[Job],
    notes: list[str],
    code_version: str,
) -> dict[str, Any]:
    """Return what ``plan.json`` holds: the plan, what it expanded into, and a hash of both.

    Titles, figures and criteria are kept but not hashed: they can be changed, and the report be
    made anew, without running anything again.
    """
    runs = [{"key": job.key, "labels": job.labels} for job in jobs]
    decides = {
        "plan": {key: plan[key] for key in ("drives", "paths", "settings", "compare")},
        "runs": runs,
        "code_version": code_version,
    }
    text = json.dumps(decides, sort_keys=True)
    return {
        "plan_hash": hashlib.sha256(text.encode()).hexdigest()[:12],
        "code_version": code_version,
        "plan": plan,
        "published": published,
        "notes": notes,
        "runs": runs,
    }
