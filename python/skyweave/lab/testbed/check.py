"""How soon the lab has a finished triggered run on its dashboard: by the interface and by the page.

The page is fetched as a browser does it: signed in by a one-time code, with a cookie.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, field
from typing import Any

import httpx2

from skyweave.errors import SkyweaveError
from skyweave.lab.testbed.places import ADMIN
from skyweave.lab.testbed.start import Lab, Row
from skyweave.testbed.client import FINAL, Testbed
from skyweave.testbed.wire.pinning import trusting

AIM_S = 180.0
PAGE_S = 30.0
WANTED = ("record.json", "results/context.json", "results/goodput.json", "drive.csv")
"""Files that a finished triggered run has on the dashboard."""


class CheckError(SkyweaveError):
    """The lab ran, and did not show what it is there to show."""


@dataclass
class Check:
    """Asked with all runs, again and again: is it there? Then ``found`` says when and what."""

    lab: Lab
    found: dict[str, Any] = field(default_factory=dict)

    def __call__(self, rows: list[Row]) -> bool:
        """Return whether both experiments have a finished run that the dashboard shows."""
        now = time.monotonic() - self.lab.began_s
        for row in rows:
            if row["experiment"] == self.lab.first and row["state"] in FINAL:
                self.found.setdefault("first_run_s", round(now, 1))
                self.found.setdefault("first_run", row["state"])
        fired = [row for row in rows if row["experiment"] == self.lab.triggered]
        if fired:
            self.found.setdefault("fired_s", round(now, 1))
        done = [row for row in fired if row["state"] == "done"]
        if not done or "first_run" not in self.found:
            return False
        with self.lab.people.as_(ADMIN) as admin:
            details = admin.run(done[-1]["id"])
            if not all(one["stored"] for one in details["artefacts"]):
                return False
            self._examine(admin, details)
        return True

    def _examine(self, admin: Testbed, details: dict[str, Any]) -> None:
        """Look at the run by interface and page; :class:`CheckError` if something is not there."""
        run = details["run"]
        names = {one["artefact"]["name"] for one in details["artefacts"]}
        if missing := [one for one in WANTED if one not in names]:
            raise CheckError(f"run {run['id']} left no {', '.join(missing)}")
        context = json.loads(details["context"] or "{}")
        samples = len(context.get("context", ()))
        if context.get("trigger") != run["trigger"] or not samples:
            raise CheckError(f"run {run['id']} does not say what its trigger saw")
        page = page_of(admin, self.lab.desk.sign_in_code(ADMIN), f"/pages/runs/{run['id']}")
        for words in (run["trigger"], ">done<", "What the trigger saw", *WANTED):
            if words not in page:
                raise CheckError(f"the page of run {run['id']} does not show '{words}'")
        self.found |= {
            "seconds": round(time.monotonic() - self.lab.began_s, 1), "aim_s": AIM_S,
            "trigger": run["trigger"], "samples_in_context": samples,
            "fired_to_started_s": round(_fired_to_started(details, context), 3),
            "files": len(names), "load": os.getloadavg()[0],
        }  # fmt: skip


def _fired_to_started(details: dict[str, Any], context: dict[str, Any]) -> float:
    return float(details["run"]["started_unix_s"] - context["time_unix_s"])


def page_of(testbed: Testbed, code: str, path: str) -> str:
    """Return a page of the dashboard as a browser gets it that signs in by a one-time code."""
    login = testbed.login
    try:
        with httpx2.Client(
            base_url=login.url, timeout=PAGE_S, verify=trusting(login.certificate),
            follow_redirects=True,
        ) as browser:  # fmt: skip
            browser.post("/pages/sign-in", data={"secret": code, "to": path})
            answer = browser.get(path)
    except httpx2.HTTPError as error:
        raise CheckError(f"{path}: the dashboard does not answer ({str(error)[:150]})") from None
    if answer.status_code != 200:
        raise CheckError(f"{path}: the dashboard answers {answer.status_code}")
    return answer.text
