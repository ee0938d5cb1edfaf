"""The notebook runs from its first cell to its last, and shows what it says.

Its cells are run here one after the other, as a kernel does: a kernel and its thirty packages for
one notebook would be installed by whoever types ``make demo``.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[1] / "examples" / "compare.ipynb"


@pytest.fixture(scope="module")
def run() -> tuple[dict[str, Any], list[Any]]:
    """What is defined at the end, and what the last expression of each cell was."""
    told = json.loads(NOTEBOOK.read_text())
    assert told["nbformat"] == 4
    names: dict[str, Any] = {"__name__": "__main__"}
    shown = []
    for cell in told["cells"]:
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == []
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, cell["id"], "exec"), names)
        if last is not None:
            shown.append(eval(compile(ast.Expression(last.value), cell["id"], "eval"), names))
    return names, shown


def test_the_notebook_answers(run: tuple[dict[str, Any], list[Any]]) -> None:
    names, _ = run
    answer = names["answer"]
    bonded = answer.filter(answer["gain"].is_not_null())
    assert bonded["transport"].to_list() == ["mptcp upstream", "mpquic"]
    assert (bonded["gain"] > 1).all()


def test_what_a_notebook_shows_is_html_and_foreign_text_is_escaped(
    run: tuple[dict[str, Any], list[Any]],
) -> None:
    names, shown = run
    pages = [value._repr_html_() for value in shown]
    assert all("<table" in page for page in pages)
    drive, record = shown[0], names["record"]
    assert "starlink" in drive._repr_html_()
    assert "<svg" in record._repr_html_()
    bad = type(drive)("<b>\x1b[2J", "<script>", dict(drive.paths))
    assert "<b>" not in bad._repr_html_()
    assert "<script>" not in bad._repr_html_()
    assert "\x1b" not in bad._repr_html_()


def test_a_record_is_a_picture(run: tuple[dict[str, Any], list[Any]]) -> None:
    names, _ = run
    upper, lower = names["figure"].axes
    goodput = names["record"].goodput_mbps()
    drawn = upper.get_lines()[-1]
    assert drawn.get_ydata().tolist() == goodput["goodput_mbps"].to_list()
    assert len(lower.get_lines()) == 2
    with pytest.raises(names["sw"].ResultsError, match="no samples of connection 3"):
        names["record"].plot(3)


def test_the_scheduler_of_the_notebook_matters(run: tuple[dict[str, Any], list[Any]]) -> None:
    names, _ = run
    minrtt, own = names["beside"].iter_rows(named=True)
    assert own["goodput_mbps"] > 1.3 * minrtt["goodput_mbps"]
    assert own["in_order_wait_p99_ms"] < minrtt["in_order_wait_p99_ms"] / 2
