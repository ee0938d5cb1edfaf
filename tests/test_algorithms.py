"""The catalogue of algorithms: what it lists runs, what it refuses is one sentence."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import skyweave as sw
from skyweave.algorithms import catalogue
from skyweave.algorithms.golden_links import LINKS, golden_path
from skyweave.algorithms.plot import run_control
from skyweave.cli import app as cli
from skyweave.cli.algorithms import markdown


def invoke(*words: str):
    return CliRunner().invoke(cli.app, ["algorithms", *words], env={"COLUMNS": "200"})


def test_list_and_show_know_every_algorithm():
    listed = json.loads(invoke("list", "--json").output)
    shown = invoke("list").output
    for one in listed:
        assert one["name"] in shown
        page = invoke("show", one["name"]).output
        assert one["title"] in page
        for parameter in one["parameters"]:
            assert parameter["name"] in page


def test_the_page_of_the_docs_is_what_the_tables_say():
    page = Path(__file__).resolve().parent.parent / "docs" / "algorithms.md"
    assert page.read_text() == markdown(), "run: skyweave algorithms docs > docs/algorithms.md"


@pytest.mark.parametrize("link", [link.name for link in LINKS])
def test_every_control_carries_data_on_every_golden_link(link):
    for name in catalogue.names("congestion"):
        totals = run_control(name, link, sw.simulate).record.totals["connections"][0]
        assert totals["goodput_mbps"] > 0.5, name


def test_every_parameter_can_be_set_to_its_default():
    for one in catalogue.catalogue():
        for parameter in one.parameters:
            catalogue.check(one.kind, {"name": one.name, parameter.name: parameter.default})


def test_parameters_reach_the_algorithm():
    def packets(hystart: str) -> int:
        choice = {"name": "cubic", "hystart": hystart}
        record = run_control(choice, "steady", sw.simulate).record
        return record.totals["connections"][0]["paths"]["steady"]["lost_packets"]

    assert packets("off") > packets("hystart++")


def test_controls_say_what_they_do():
    events = run_control("bbr", "steady", sw.simulate).record.events["event"].to_list()
    phases = [event for event in events if event in ("startup", "drain", "probe-bw", "probe-rtt")]
    assert phases[:3] == ["startup", "drain", "probe-bw"]
    assert "probe-rtt" in phases


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        ("cubik", "no congestion control is called 'cubik'; did you mean 'cubic'?"),
        ({"name": "cubic", "beta": 1}, "cubic has no parameter 'beta'; known are hystart"),
        (
            {"name": "cubic", "hystart": "maybe"},
            "hystart of cubic is 'maybe'; it must be one of hystart++, off",
        ),
    ],
)
def test_a_choice_that_makes_no_sense(choice, sentence):
    with pytest.raises(sw.ConfigError) as caught:
        catalogue.check("congestion", choice)
    assert str(caught.value).startswith(sentence)


def test_plot_writes_a_picture_or_says_why_not(tmp_path):
    out = tmp_path / "two.png"
    assert invoke("plot", "newreno", "bbr", "--link", "loss", "--out", str(out)).exit_code == 0
    assert out.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(sw.ConfigError, match="no link is called 'los'; did you mean 'loss'"):
        golden_path("los")
    bad = invoke("plot", "cubic", "--out", str(tmp_path / "two.pdf"))
    assert isinstance(bad.exception, sw.ConfigError)
