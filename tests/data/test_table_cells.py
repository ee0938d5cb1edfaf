"""polars takes a table apart exactly as the CSV reader does, or leaves it to that."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skyweave.data.importers.base import Table, parse_number, parse_table
from skyweave.data.importers.cells import Cells, plain_cells
from skyweave.errors import DataError
from skyweave.model.textfile import Text

CELLS = st.sampled_from(
    ["1", "", " ", " 2.5\t", "-0", "1e3", ".5", "1.", "+7", "1_0", "nan", "inf", "-inf", "1e400",
     "0x1", "a", "é", "1,0", '"x"', '"a\nb"', "#", "1\x00", "\u00a03", "٣", "infinity", "1d5", "1e"]
)  # fmt: skip
ENDS = st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\n# a: b\n", "\n \n"])


@st.composite
def texts(draw: st.DrawFn) -> str:
    rows = draw(st.lists(st.lists(CELLS, min_size=1, max_size=3), min_size=1, max_size=4))
    head = draw(st.sampled_from(["", "# name: x\n", "\n", "#\n#\n", "# a\r\n"]))
    header = draw(st.sampled_from(["a,b", "a", "a,a", " a ,b", "a,b,c", '"a",b']))
    return head + header + "".join(draw(ENDS) + ",".join(row) for row in rows) + draw(ENDS)


def line_by_line(text: Text) -> Table:
    """The table as the CSV reader has it; a quote in a comment keeps polars away."""
    other = Text(text.name, text.body + '\n#"')
    assert plain_cells(other, ",") is None
    return parse_table(other)


@given(texts())
@example("a,b\n1,2\n3,4\n")
@example("# x\na,b\r\n1,2\r\n3,\r\n")
@example("a,b\n1,2,3\n4\n")
@example("a,b\n1\n2,3,4\n")
@example("a,b\n1,2\n\r3,4")
def test_both_readers_agree(body: str) -> None:
    found: list[tuple[dict[str, list[str]], list[int]] | str] = []
    for read in (parse_table, line_by_line):
        try:
            table = read(Text("x", body))
        except DataError as error:
            found.append(str(error))
        else:
            cells = {name: list(column) for name, column in table.columns.items()}
            found.append((cells, list(table.lines)))
    assert found[0] == found[1]


PLAIN = CELLS.filter(lambda cell: not set(cell) & set(',"\n\0#'))


@given(st.lists(PLAIN, min_size=1), st.booleans())
def test_numbers_are_those_of_one_cell_after_the_other(cells: list[str], empty_ok: bool) -> None:
    table = parse_table(Text("x", "n,m\n" + "".join(f"{cell},0\n" for cell in cells)))
    assert isinstance(table.column("n"), Cells)
    values, wrong = [], None
    for cell in cells:
        try:
            values.append(parse_number(cell, empty_ok, -5.0, 2000.0))
        except ValueError as error:
            wrong = str(error)
            break
    if wrong is None:
        found = table.numbers("n", empty_ok=empty_ok, minimum=-5.0, maximum=2000.0)
        np.testing.assert_array_equal(found, values)
    else:
        with pytest.raises(DataError, match=re.escape(wrong)):
            table.numbers("n", empty_ok=empty_ok, minimum=-5.0, maximum=2000.0)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_a_number_is_the_nearest_float(values: list[float]) -> None:
    rows = "".join(f"{value!r},{value:.3f}\n" for value in values)
    table = parse_table(Text("x", "n,m\n" + rows))
    np.testing.assert_array_equal(table.numbers("n"), values)
    np.testing.assert_array_equal(table.numbers("m"), [float(f"{value:.3f}") for value in values])


def test_what_is_plain_is_read_by_polars() -> None:
    table = parse_table(Text("x", "# name: y\ntime_s,a.rtt_ms\n0,1\n1,\n"))
    assert isinstance(table.column("a.rtt_ms"), Cells)
    assert list(table.lines) == [3, 4]
    assert math.isnan(table.numbers("a.rtt_ms", empty_ok=True)[1])
    with pytest.raises(DataError, match=r"x:4: a\.rtt_ms: the value is missing"):
        table.numbers("a.rtt_ms")
