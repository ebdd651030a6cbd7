"""The pictures: right numbers, a text alternative on each, one colour per rank, and enough contrast."""

import base64
import io
from html.parser import HTMLParser

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex, to_rgba_array
from matplotlib.lines import Line2D
from matplotlib.text import Text
from PIL import Image

from coursekit import pictures
from coursekit.pictures import training as training_pictures
from coursekit.throughput import picture

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def shell():
    """An IPython shell, without which nothing is displayed."""
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


@pytest.fixture
def data():
    """A small data set."""
    rng = np.random.default_rng(3)
    x = rng.uniform(-0.5, 0.5, 50)
    return x, 2 * x + rng.uniform(-0.5, 0.5, 50)


def test_loss_surface_is_the_mean_squared_error(data):
    """The surface from the moments of the data equals the loss computed point by point."""
    x, y = data
    slopes, offsets = np.array([-1.0, 0.5, 2.0]), np.array([0.0, 0.3])
    expected = [[np.mean((m * x + b - y) ** 2) for m in slopes] for b in offsets]

    assert pictures.loss_surface(slopes, offsets, x, y) == pytest.approx(np.array(expected))


def test_distance_between_ranks_is_that_of_the_farthest_rank():
    """The distance is taken from rank 0 to the rank farthest from it, after every step."""
    histories = [np.zeros((2, 2)), np.array([[0.0, 1.0], [3.0, 4.0]]), np.array([[2.0, 0.0], [0.0, 0.0]])]

    assert pictures.distance_between_ranks(histories).tolist() == [2.0, 5.0]


@pytest.mark.usefixtures("shell")
def test_every_picture_carries_its_text_alternative(data):
    """A picture arrives in the notebook as PNG, with words and the numbers of this run for those who cannot see it."""
    histories = [np.array([[0.0, 1.0], [1.0, 0.5], [2.0, 0.0]]), np.array([[0.5, 1.0], [1.0, 0.4], [1.9, 0.1]])]
    with capture_output() as captured:
        pictures.before_and_after(histories, histories[:1] * 2, *data, "broadcast")
    (shown,) = captured.outputs

    assert base64.b64decode(shown.data["image/png"]).startswith(PNG_SIGNATURE)
    alt = shown.metadata["image/png"]["alt"]
    numbers = (
        "0.14 apart",
        "(2.21, 0)",
        "(2, 0)",
        "rank 1 from (0.5, 1) to (1.9, 0.1)",
        "rank 1 from (0, 1) to (2, 0)",
    )
    assert [one for one in numbers if one not in alt] == []
    assert "before 0.14, after 0" in captured.stdout


@pytest.mark.usefixtures("shell")
def test_panels_are_images_that_wrap_and_name_themselves(data):
    """As HTML each panel is an image with words of its own; together they are the figure, at twice its pixels.

    Two stand side by side in the 828 pixels that JupyterLab leaves of 1280 beside its file browser.
    """
    figure, (left, right) = pictures.panels(2)
    histories = {"<all> samples": np.array([[0.5, 0.8], [2.0, 0.0]])}
    pictures.draw_trajectories(left, histories, *data, "Descent")
    pictures.draw_losses(right, {"a": np.array([[2.0, 0.0], [2.0, 0.0]])}, *data)
    with capture_output() as captured:
        pictures.show(figure, "The path goes down.")
    images = Images(captured.outputs[0].data["text/html"]).found
    pixels = [Image.open(io.BytesIO(base64.b64decode(one["src"].partition("base64,")[2]))).size for one in images]
    loss = f"{np.mean((2 * data[0] - data[1]) ** 2):.3g}"

    first, second = (one["alt"] for one in images)
    assert first.startswith("The path goes down. Descent")
    assert "<all> samples from (0.5, 0.8) to (2, 0)" in first
    assert f"a from {loss} to {loss}" in second
    assert sum(width for width, _ in pixels) == 2 * 820
    assert pixels == [(2 * int(one["width"]), 2 * int(one["height"])) for one in images]


class Images(HTMLParser):
    """The images of a piece of HTML."""

    def __init__(self, text):
        """Read the text."""
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Keep the attributes of an image."""
        if tag == "img":
            self.found.append(dict(attrs))


@pytest.fixture
def drawn(monkeypatch, data):
    """Return every figure of the labs, with as many ranks as there are colours."""
    figures = []
    for module in (pictures, training_pictures, picture):
        monkeypatch.setattr(module, "show", lambda figure, alt: figures.append((figure, alt)))
    rng = np.random.default_rng(2)
    ranks = [rng.normal(size=(20, 2)) for _ in pictures.COLORS]
    losses = [list(rng.uniform(1, 7, 20)) for _ in ranks]
    figure, (left, middle, right) = pictures.panels(3)
    pictures.draw_data(left, *data, {"line": (2, 0)})
    pictures.draw_trajectories(middle, {"long": rng.normal(size=(pictures.MANY_STEPS + 1, 2))}, *data)
    pictures.draw_losses(right, pictures.by_rank(ranks), *data)
    figures.append((figure, "drawn"))
    pictures.before_and_after(ranks, ranks, *data, "broadcast")
    pictures.show_shards([np.array([rank]) for rank in range(8)], num_samples=8)
    pictures.show_limit(np.array([0.1, 0.5]), np.array([1.0, 2.0]), 1.0)
    training_pictures.show_batches([(np.zeros((8, 4, 4, 3)), np.arange(8)) for _ in ranks])
    training_pictures.show_rates({count: [0.01, 0.01 * count] for count in (1, 2, 4)})
    result = {"history": {"loss": [3.0, 1.0], "accuracy": [0.3, 0.8]}, "validation": {"accuracy": 0.75}}
    training_pictures.show_training([{"losses": one, **result} for one in losses], "SmallCNN")
    training_pictures.show_run([{"losses": one, "accuracy": 0.5} for one in losses], "SmallCNN")
    training_pictures.show_modes({(mode, size): 0.5 for mode in (False, True) for size in (4, 16)})
    training_pictures.show_same(np.array(losses[0]), np.array(losses[1]))
    figures.append(picture.draw_throughput([picture.Row(1, [9.0], 0.1), picture.Row(2, [8.0, 7.0])]))
    return figures


def test_all_figures_keep_the_contrast_that_is_asked_for(drawn):
    """On the ground of the figures, which is white and opaque, all text has a contrast of 4.5 or more, all lines 3."""
    assert {to_hex(figure.get_facecolor(), keep_alpha=True) for figure, _ in drawn} == {"#ffffffff"}
    assert {alt.endswith(".") or alt == "drawn" for _, alt in drawn} == {True}

    faint = {}
    for figure, alt in drawn:
        for artist in figure.findobj(lambda one: one.get_visible() and isinstance(one, (Text, Line2D, LineCollection))):
            asked = 4.5 if isinstance(artist, Text) else 3
            colors = to_rgba_array(artist.get_color(), artist.get_alpha())
            lowest = min((contrast_to_white(color) for color in colors), default=21)
            if lowest < asked:
                faint[alt[:40], str(artist)] = round(lowest, 2)

    assert faint == {}


def contrast_to_white(color):
    """Return the contrast of WCAG 2.2 between white and a colour that lies on it."""
    *rgb, alpha = color
    mixed = alpha * np.array(rgb) + 1 - alpha
    linear = np.where(mixed <= 0.04045, mixed / 12.92, ((mixed + 0.055) / 1.055) ** 2.4)
    return 1.05 / (linear @ [0.2126, 0.7152, 0.0722] + 0.05)


def test_a_path_that_runs_away_is_drawn_until_it_leaves(data):
    """Its first step outside ends it, and the legend says so; a path that comes back is drawn whole."""
    away = np.array([[0.5, 0.8], [1.0, 9.0], [1.0, -99.0]])
    back = np.array([[0.5, 0.8], [1.0, 9.0], [2.0, 0.0]])
    _, (axes,) = pictures.panels(1)
    pictures.draw_trajectories(axes, {"away": away, "back": back}, *data)
    drawn = {line.get_label(): len(line.get_xydata()) for line in axes.lines}

    assert (drawn["away, until it leaves"], drawn["back"]) == (2, 3)
