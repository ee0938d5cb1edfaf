"""Figures for narrow screens: panels in one column, nothing beyond the edges."""

from __future__ import annotations

from matplotlib.figure import Figure

from skyweave.report.figures.narrow import WIDTH_IN, stack


def wide(labels: str = "SL+VZ") -> Figure:
    figure = Figure(figsize=(9.4, 3.0), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    for axes in (left, right):
        axes.plot([0, 1], [0, 1], label="a rather long name of a network")
        axes.set_yticks([0, 1], [labels, labels])
        axes.set_title("some words", loc="left")
    right.twinx().plot([0, 1], [5, 6], label="another")
    handles = [*left.get_lines(), *right.get_lines()]
    figure.legend(handles, ["a rather long name"] * 2, loc="outside lower right", ncols=4)
    right.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def test_panels_stand_below_each_other_and_nothing_is_cut() -> None:
    figure = wide()
    assert stack(figure)
    figure.draw_without_rendering()
    left, right, twin = figure.axes
    assert left.get_position().y0 > right.get_position().y1
    assert left.get_position().x0 == right.get_position().x0
    assert right.get_position().bounds == twin.get_position().bounds
    assert all(tick.label1.get_visible() for tick in right.yaxis.get_major_ticks())
    assert right.get_legend() is None
    assert len(figure.legends) == 2
    paper = figure.bbox
    for legend in figure.legends:
        box = legend.get_window_extent()
        assert paper.x0 <= box.x0 <= box.x1 <= paper.x1
    assert figure.get_figwidth() == WIDTH_IN


def test_panels_are_as_high_as_the_words_along_them() -> None:
    figure = wide()
    figure.axes[0].set_ylabel("many words " * 4)
    assert stack(figure)
    words, axes = figure.axes[0].yaxis.label, figure.axes[0]
    assert words.get_window_extent().height <= axes.get_window_extent().height


def test_a_figure_whose_labels_leave_no_room_says_so() -> None:
    assert not stack(wide("a label that is as wide as the whole of the screen, and more"))
