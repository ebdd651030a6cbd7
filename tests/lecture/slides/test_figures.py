"""Figures are drawn by scripts from named data, and say where it comes from."""

from __future__ import annotations

import json

import pytest

from coursekit.errors import CourseKitError
from coursekit.lecture.slides.figures import draw

SCRIPT = """
from coursekit.lecture.slides.drawing import canvas
DATA = {data}
CAPTION = "What is seen."
def draw(*data):
    figures = []
    for height in {heights}:
        figure, (axes,) = canvas()
        axes.bar([0], [height])
        figures.append(figure)
    return figures
def words(*data):
    return {words}
"""
RECORDED = {"command": "coursekit record try", "machine": "2 cores of X", "date": "2026-01-02"}


def write(lecture, data="()", heights="[1]", words='"A bar."'):
    """Write the figure `bars`."""
    lecture.write("figures/bars.py", SCRIPT.format(data=data, heights=heights, words=words))


def test_a_figure_without_data_is_called_a_model(lecture):
    """One figure makes one file; its mark says that no run is behind it; letters are shapes and need no font."""
    write(lecture)
    drawn = draw(lecture.root, "bars", lecture.root / "out")
    svg = (lecture.root / "out/bars.svg").read_text()

    assert (drawn.files, drawn.alts) == (("bars.svg",), ("A bar.",))
    assert (drawn.caption, drawn.origins) == ("What is seen.", {"model": "A model: no run is behind it."})
    assert "<text" not in svg


def test_a_sequence_makes_a_file_and_words_for_each_step(lecture):
    """Steps are numbered from 1; drawing them again gives the same bytes."""
    write(lecture, heights="[1, 2]", words='["One.", "Two & more."]')
    first = draw(lecture.root, "bars", lecture.root / "first")
    draw(lecture.root, "bars", lecture.root / "second")

    assert first.files == ("bars-1.svg", "bars-2.svg")
    assert first.html(2).splitlines()[1] == '<img src="figures/bars-2.svg" alt="Two &amp; more.">'
    for file in first.files:
        assert (lecture.root / "first" / file).read_bytes() == (lecture.root / "second" / file).read_bytes()


def test_a_figure_of_a_run_says_which(lecture):
    """The origin of recorded data names machine, day and command."""
    lecture.write("recorders/try.py", "")
    lecture.write("results/try.json", json.dumps({"recorded": RECORDED, "pictures": {}, "data": {"height": 3}}))
    write(lecture, data='("results/try",)', heights='[data[0]["height"]]', words="f\"{data[0]['height']} high.\"")
    drawn = draw(lecture.root, "bars", lecture.root / "out")

    assert drawn.alts == ("3 high.",)
    origins = {"results": "Recorded on 2 cores of X, 2026-01-02: coursekit record try."}
    assert (drawn.caption, drawn.origins) == ("What is seen.", origins)


def test_a_figure_of_published_data_says_whose(lecture):
    """The origin of published data names its source and its machine."""
    lecture.write("published/net.toml", 'source = "Somebody, 2017."\nmachine = "256 GPUs"\n[[rows]]\nheight = 2\n')
    write(lecture, data='("published/net",)', heights='[data[0].rows[0]["height"]]')

    drawn = draw(lecture.root, "bars", lecture.root / "out")
    assert drawn.origins == {"published": "Published: Somebody, 2017. On 256 GPUs."}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"words": '["One.", "Two."]'}, r"draw\(\) makes 1 step\(s\), words\(\) 2 text\(s\)"),
        ({"words": '""'}, r"draw\(\) makes 1 step\(s\), words\(\) 1 text\(s\)"),
        ({"data": '("bench",)'}, "'bench' is not the data of a figure"),
    ],
)
def test_a_wrong_script_is_refused(lecture, changes, message):
    """Steps and text alternatives must go together, and data must be of a known kind."""
    write(lecture, **changes)

    with pytest.raises(CourseKitError, match=message):
        draw(lecture.root, "bars", lecture.root / "out")


def test_an_unfinished_script_is_refused(lecture):
    """A script without a text alternative or a caption is not a figure."""
    lecture.write("figures/bars.py", "DATA = ()\ndef draw(): ...\n")

    with pytest.raises(CourseKitError, match=r"slides/figures/bars.py does not define CAPTION, words"):
        draw(lecture.root, "bars", lecture.root / "out")
