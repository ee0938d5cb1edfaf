"""The README and the docs say what is true: their code runs, their commands and links exist."""

import os
import pty
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from skyweave import _skyweave
from skyweave.cli import app as cli

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def fenced(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), flags=re.S)


def test_the_python_of_the_readme_runs(capsys):
    (code,) = fenced(ROOT / "README.md", "python")
    exec(compile(code, "README.md", "exec"), {})
    (said,) = fenced(ROOT / "README.md", "text")
    assert capsys.readouterr().out == said


def commands() -> list[str]:
    lines = [line for page in PAGES for block in fenced(page, "sh") for line in block.splitlines()]
    found = [line.split("#")[0].strip() for line in lines]
    return sorted({line for line in found if line.startswith("skyweave ")})


@pytest.mark.parametrize("command", commands())
def test_the_commands_of_the_docs_exist_with_their_options(command):
    words = shlex.split(command)[1:]
    depth = 2 if cli.COMMANDS[words[0]].home.endswith("_app") else 1
    shown = CliRunner().invoke(cli.app, [*words[:depth], "--help"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0, shown.output
    for option in re.findall(r"(--[a-z-]+)", command):
        assert option in shown.output, option


def test_the_make_targets_of_the_docs_exist():
    makefile = (ROOT / "Makefile").read_text()
    for page in PAGES:
        text = page.read_text()
        named = re.findall(r"`make ([a-z]+)`", text)
        named += [w for b in fenced(page, "sh") for w in re.findall(r"^make ([a-z]+)", b, re.M)]
        for target in named:
            assert re.search(rf"^{target}:", makefile, flags=re.M), f"{page.name}: make {target}"


def test_building_shows_progress_on_a_terminal_and_only_there():
    plan = ["make", "--dry-run", "--always-make", "--no-print-directory", "setup"]
    silent = subprocess.run(plan, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    outer, terminal = pty.openpty()
    seen = subprocess.run(
        plan, cwd=ROOT, stdout=subprocess.PIPE, stderr=terminal, text=True, check=True
    ).stdout
    os.close(terminal)
    os.close(outer)
    for tool in ("pip install", "maturin develop"):
        assert [("--quiet" in line) for line in silent.splitlines() if tool in line] == [True]
        assert [("--quiet" in line) for line in seen.splitlines() if tool in line] == [False]


def test_links_between_pages_lead_somewhere():
    for page in [*PAGES, *sorted((ROOT / "studies").glob("*/README.md"))]:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_versions_agree():
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text())
    assert _skyweave.build_info()["version"] == cargo["workspace"]["package"]["version"]


def test_one_version_stands_in_changelog_citation_and_locks():
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert newest is not None
    assert newest[1] == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    own = {
        tomllib.loads(f.read_text())["package"]["name"]
        for f in (ROOT / "crates").glob("*/Cargo.toml")
    }
    locks = [
        "Cargo.lock",
        *(ROOT / "crates").glob("*/fuzz/Cargo.lock"),
        "examples/own-scheduler/Cargo.lock",
    ]
    for lock in locks:
        packages = tomllib.loads((ROOT / lock).read_text())["package"]
        wrong = [
            one["name"] for one in packages if one["name"] in own and one["version"] != version
        ]
        assert wrong == [], lock
    assert _skyweave.build_info()["profile"] == "release"


def test_every_requirement_of_the_package_is_locked():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    listed = (ROOT / "requirements.in").read_text().splitlines()
    for requirement in project["dependencies"]:
        assert requirement in listed
