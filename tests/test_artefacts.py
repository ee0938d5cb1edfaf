"""The table of all artefacts is complete, and says what the committed evidence says."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "scripts" / "artefacts"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    loader = SourceFileLoader("artefacts_script", str(SCRIPT))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, loader.name, module)
    loader.exec_module(module)
    return module


def test_table_and_readmes_are_what_the_evidence_says() -> None:
    said = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True)
    assert (said.returncode, said.stderr) == (0, "")


def test_a_missing_or_doubled_id_is_named(script: ModuleType) -> None:
    found = [f"{work}-{name}" for work, names in script.IDS.items() for name in names.split()]
    assert len(found) == 54
    assert script.wrong_ids(found) == []
    assert script.wrong_ids(found[1:]) == ["studies/artefacts.toml: artefact S0-F18a is missing"]
    assert "S9-X is unknown" in script.wrong_ids([*found, "S9-X"])[0]
    assert "S0-T1 stands there twice" in script.wrong_ids([*found, "S0-T1"])[0]


def evidence(script: ModuleType, folder: Path, held: dict[str, Any]) -> Any:
    script.EVIDENCE = folder
    (folder / "e.json").write_text(json.dumps(held))
    return script.line({"id": "S0-T1", "what": "w", "evidence": "e.json"})


def test_a_grade_is_that_of_the_evidence(script: ModuleType, tmp_path: Path) -> None:
    one = {
        "id": "S0-T1",
        "grade": "preliminary",
        "said": "reproduced",
        "counts": {"preliminary": 2},
    }
    found = evidence(script, tmp_path, {"artefacts": [one | {"runs": 5, "put_in": "links"}]})
    assert (found.grade, found.criteria) == ("preliminary (reproduced)", "2 preliminary")
    assert script.tally([found]) == "1 preliminary"


def test_rows_of_a_few_recordings_are_preliminary(script: ModuleType, tmp_path: Path) -> None:
    rows = [{"id": "S0-T1", "grade": grade} for grade in ("reproduced", "direction only")]
    assert evidence(script, tmp_path, {"rows": rows}).grade == "preliminary (direction only)"
    with pytest.raises(SystemExit, match="has no row S0-T1"):
        evidence(script, tmp_path, {"rows": []})


def test_what_has_no_evidence_has_no_grade(script: ModuleType, tmp_path: Path) -> None:
    script.EVIDENCE = tmp_path
    found = script.line({"id": "S0-T1", "what": "w", "evidence": "none.json"})
    assert found.grade == "no evidence committed"
    assert script.tally([found]) == "1 without committed evidence"


def test_a_test_that_is_gone_is_named(script: ModuleType) -> None:
    here = "tests/test_artefacts.py"
    told = {"id": "S4-ALG", "what": "w", "tests": [f"{here}::test_a_test_that_is_gone_is_named"]}
    assert script.line(told).grade == "input or identity"
    with pytest.raises(SystemExit, match="there is no test"):
        script.line(told | {"tests": [f"{here}::test_that_never_was"]})
