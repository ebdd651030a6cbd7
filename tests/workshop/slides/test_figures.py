"""Figures are drawn by scripts from named data, and say where it comes from; words and hatches can be read."""

import json
import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from coursekit.errors import CourseKitError
from workshop.slides.drawing import draw_landscape, loss_at
from workshop.slides.figures import draw
from workshop.slides.sources import load_published

ROOT = Path(__file__).parents[3]

SCRIPT = """
from workshop.slides.drawing import canvas
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
RECORDED = {"command": "workshop record try", "machine": "2 cores of X", "date": "2026-01-02"}


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
    origins = {"results": "Recorded on 2 cores of X, 2026-01-02: workshop record try."}
    assert (drawn.caption, drawn.origins) == ("What is seen.", origins)


def test_who_published_a_figure_stands_below_it():
    """A caption has the first name of each source: credit is on the slide, not in its notes alone."""
    missing = {}
    for path in (ROOT / "slides/figures").glob("*.py"):
        figure = runpy.run_path(str(path))
        tables = [name.removeprefix("published/") for name in figure["DATA"] if name.startswith("published/")]
        names = {re.split(r"[,:]| et al", load_published(ROOT, table).source)[0].split()[-1] for table in tables}
        missing[path.stem] = {name for name in names if name not in figure["CAPTION"]}

    assert {name: names for name, names in missing.items() if names} == {} != missing


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"words": '["One.", "Two."]'}, " 1 .* 2 .*figure.alternatives"),
        ({"words": '""'}, " 1 .* 0 .*figure.alternatives"),
        ({"data": '("bench",)'}, "'bench'.*figure.unknown-data"),
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

    with pytest.raises(CourseKitError, match=r"bars.py.*CAPTION, words.*figure.incomplete"):
        draw(lecture.root, "bars", lecture.root / "out")


def test_hatches_are_pictures_of_a_few_kilobytes(lecture):
    """No pattern is left, of which a browser that prints makes megabytes; words and axes stay shapes."""
    write(lecture)
    script = (lecture.root / "slides/figures/bars.py").read_text()
    lecture.write("figures/bars.py", script.replace("[height])", '[height], hatch="//")'))
    draw(lecture.root, "bars", lecture.root / "out")
    svg = (lecture.root / "out/bars.svg").read_text()

    assert ("<pattern" in svg, svg.count("<image ")) == (False, 1)
    assert len(svg) < 100_000


def test_a_legend_of_hatches_is_one_picture(lecture):
    """Bar and legend are a picture each: a patch of a legend that is one alone lies far from its words."""
    write(lecture)
    script = (lecture.root / "slides/figures/bars.py").read_text()
    shown = script.replace("[height])", '[height], hatch="//", label="high")\n        axes.legend()')
    lecture.write("figures/bars.py", shown)
    draw(lecture.root, "bars", lecture.root / "out")
    svg = (lecture.root / "out/bars.svg").read_text()

    assert (svg.count("<image "), "legend_1" in svg) == (2, False)


@pytest.fixture
def samples():
    """Give a cloud of points."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=40)
    return x, 1.5 * x + 0.25 + rng.normal(size=40)


@pytest.fixture
def moments(samples):
    """Give what recorders keep of the points."""
    x, y = samples
    return {"x": x.mean(), "y": y.mean(), "xx": (x * x).mean(), "xy": (x * y).mean(), "yy": (y * y).mean()}


@pytest.mark.parametrize(("slope", "offset"), [(0, 0), (1.5, 0.25), (-3, 7)])
def test_loss_is_that_of_the_samples(samples, moments, slope, offset):
    """The moments say as much as all samples."""
    x, y = samples

    assert loss_at(moments, slope, offset) == pytest.approx(np.mean((slope * x + offset - y) ** 2))


def test_cross_stands_at_the_best_line(samples, moments):
    """It is where NumPy's least squares are."""
    axes = Figure().subplots()
    draw_landscape(axes, moments, (0, 3), (-1, 1))

    (cross,) = axes.lines
    assert (cross.get_xdata()[0], cross.get_ydata()[0]) == pytest.approx(tuple(np.polyfit(*samples, 1)))
