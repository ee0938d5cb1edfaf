"""Logs of all cells become grids, and broken ones a sentence."""

import gzip

import numpy as np
import pytest
from small_cells import grid

from skyweave.errors import ConfigError, DataError
from skyweave.radio import pooled, read_cells
from skyweave.radio.logs import held

HEADER = "lat,lon,timestamp,freq,cid,rsrp,rsrq,type\n"
ROWS = """34.0,-118.0,1000.25,850,7,-90,-10,PCell
34.0,-118.0,1000.75,850,7,-80,-10,PCell
34.0,-118.0,1000.75,66461,7,-30,-10,1_SCell
34.0,-118.0,1001.30,850,9,-100,-12,neighbor-intra
34.4,-118.4,1005.30,850,9,-101,-12,neighbor-intra
"""


@pytest.fixture
def log(tmp_path):
    def write(rows, header=HEADER):
        folder = tmp_path / "att"
        folder.mkdir(exist_ok=True)
        (folder / "log.csv").write_text(header + rows)
        return folder / "log.csv"

    return write


def test_a_second_holds_the_mean_power_of_its_reports(log):
    found = read_cells(log(ROWS))
    assert found.operator == "att"
    assert found.start.timestamp() == 1000.25
    assert list(zip(found.earfcn, found.pci, strict=True)) == [(850, 7), (850, 9)]
    mean_power = 10 * np.log10((1e-9 + 1e-8) / 2)
    assert found.series(850, 7).values[0] == pytest.approx(mean_power)


def test_levels_that_no_phone_reports_are_dropped_and_counted(log):
    assert read_cells(log(ROWS)).dropped == 1


def test_a_cell_outlasts_its_report_by_the_hold_and_no_more(log):
    found = read_cells(log(ROWS), hold_s=2)
    assert found.visible.tolist() == [1, 2, 2, 1, 0, 1]
    assert read_cells(log(ROWS), hold_s=0).visible.tolist() == [1, 1, 0, 0, 0, 1]


def test_positions_between_reports_lie_on_a_line(log):
    found = read_cells(log(ROWS))
    assert found.lat_deg == pytest.approx([34.0, 34.0, 34.1, 34.2, 34.3, 34.4])
    assert found.lon_deg[-1] == pytest.approx(-118.4)


def test_gzip_and_another_operator(log, tmp_path):
    place = tmp_path / "x.csv.gz"
    place.write_bytes(gzip.compress((HEADER + ROWS).encode()))
    assert read_cells(place, "other").operator == "other"


def test_held_never_fills_the_beginning():
    values = np.array([[np.nan, 1.0, np.nan, np.nan, 4.0]])
    assert held(values, 1)[0, 1:].tolist()[:2] == [1.0, 1.0]
    assert np.isnan(held(values, 1)[0, [0, 3]]).all()


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("34,-118,1000,850,7,strong,0,PCell\n", "log.csv:2: rsrp: 'strong' is not a number"),
        ("34,-118,1000,850,7,-30,0,PCell\n", "no row is between -140 and -44 dBm"),
        ("94,-118,1000,850,7,-90,0,PCell\n", "lat: 94 is above 90"),
        ("34,-118,1000,850.5,7,-90,0,PCell\n", "freq: 850.5 is not a whole number"),
        ("34,-118,1000,850,504,-90,0,PCell\n", "cid: 504 is above 503"),
        ("34,-118,0,850,7,-90,0,P\n34,-118,1e9,850,7,-90,0,P\n", "log.csv:3: .* a day or more"),
    ],
)
def test_broken_logs_are_refused_with_file_and_line(log, rows, words):
    with pytest.raises(DataError, match=words):
        read_cells(log(rows))


def test_a_missing_column_and_a_negative_hold(log):
    with pytest.raises(DataError, match="no column 'rsrp'"):
        read_cells(log("34,-118,1,850,7\n", "lat,lon,timestamp,freq,cid\n"))
    with pytest.raises(ConfigError, match="less than 0"):
        read_cells(log(ROWS), hold_s=-1)


def test_pooled_drives_share_cells():
    one = grid("att", {(850, 1): [-90, -91], (850, 2): [-95, -96]})
    two = grid("att", {(850, 2): [-70], (900, 1): [-80]})
    both = pooled([one, two])
    assert both.seconds == 3
    assert both.visible.tolist() == [2, 2, 2]
    assert both.series(850, 2).values.tolist() == [-95, -96, -70]
    with pytest.raises(DataError, match="not of"):
        pooled([one, grid("tmobile", {(1, 1): [-90]})])
    with pytest.raises(DataError, match="never heard"):
        both.series(1, 1)
