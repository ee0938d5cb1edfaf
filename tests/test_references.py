"""The guard on references finds what does not exist, and nothing else."""

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "check-references"
MODEL = "# The model\n\n## 1. Paths\n\n### 1.2 Losses\n\nRFC 9000 §13.2 says it. So does §1.\n"
REFERENCES = "# References\n\n## The works\n\nRFC 9000, draft-ietf-ccwg-bbr, `tcp_cubic.c`\n"


@pytest.fixture
def found(tmp_path: Path):
    """Return a function: a file's text to the problems that the script finds in it."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(SCRIPT, tmp_path / "scripts")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "model.md").write_text(MODEL)
    (tmp_path / "docs" / "references.md").write_text(REFERENCES)
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)

    def run(name: str, text: str) -> list[str]:
        (tmp_path / name).write_text(text)
        command = [tmp_path / "scripts" / "check-references"]
        done = subprocess.run(command, capture_output=True, text=True)
        problems = done.stdout.splitlines()
        assert done.returncode == bool(problems), done.stderr
        return [problem.partition(": ")[2] for problem in problems]

    return run


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.rs", "//! docs/model.md §1.2, §1; RFC 9000 §2.1 and §2.2; draft-ietf-ccwg-bbr §4.\n"),
        ("a.rs", "//! Step by step after RFC 9000.\n\n/// §7.3: two halves.\nfn f() {}\n"),
        ("a.py", "'''What `tcp_cubic.c` does, by docs/model.md.'''\nX = 1  # §1.2: ours\n"),
        ("a.md", "[works](docs/references.md#the-works), [here](#self), https://x.org\n\n# Self\n"),
        ("a.py", "PLACE = 'https://example.org/root/file'\n"),
    ],
)
def test_what_exists_is_no_problem(found, name: str, text: str) -> None:
    assert found(name, text) == []


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.rs", "//! docs/model.md §1.3.\n", "docs/model.md has no section 1.3"),
        (
            "a.rs",
            "//! docs/model.md.\n\n/// §2: no such thing.\n",
            "docs/model.md has no section 2",
        ),
        ("a.rs", "//! Nothing.\n\n/// §1.2: whose?\n", "§1.2: say of which document"),
        ("a.py", "# as other/sheet.md says\n", "other/sheet.md is not in the repository"),
        ("a.py", "# RFC 9999\n", "RFC 9999 is not in docs/references.md: add it"),
        ("a.py", "# Doe et al. 2012\n", "Doe et al is not in docs/references.md: add it"),
        ("a.py", "# tcp_vegas.c\n", "tcp_vegas.c is not in docs/references.md: add it"),
        ("a.md", "[a](docs/nothing.txt)\n", "link to docs/nothing.txt, which does not exist"),
        ("a.md", "[a](docs/model.md#x)\n", "link to #x, a heading that docs/model.md lacks"),
        ("a.py", "P = '/root" + "/data'\n", "/root" + "/d… is a path of one machine"),
        ("a.rs", "\n" * 801, "longer than 800 lines: divide it"),
    ],
)
def test_what_does_not_exist_is_named(found, name: str, text: str, problem: str) -> None:
    assert found(name, text) == [problem]
