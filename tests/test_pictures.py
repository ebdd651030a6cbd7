"""The pictures: right numbers, a text alternative on each, one colour per rank."""

from __future__ import annotations

import base64

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from coursekit import pictures

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
    """A picture arrives in the notebook as PNG, with words for those who cannot see it."""
    histories = [np.array([[0.0, 1.0], [1.0, 0.5], [2.0, 0.0]]), np.array([[0.5, 1.0], [1.0, 0.4], [1.9, 0.1]])]
    with capture_output() as captured:
        pictures.before_and_after(histories, histories[:1] * 2, *data, "broadcast")
    (shown,) = captured.outputs

    assert base64.b64decode(shown.data["image/png"]).startswith(PNG_SIGNATURE)
    assert shown.metadata["image/png"]["alt"] == (
        "Trajectories of 2 ranks over the loss surface before and after broadcast. "
        "The ranks end 0.14 apart before and 0 apart after."
    )
    assert captured.stdout == "largest distance between ranks at the end: before 0.14, after 0\n"


@pytest.mark.usefixtures("shell")
def test_shards_picture_says_who_owns_how_much():
    """The text alternative of the shards counts the samples of every rank."""
    with capture_output() as captured:
        pictures.show_shards([np.array([0, 2, 4]), np.array([1, 3])], num_samples=6)

    assert captured.outputs[0].metadata["image/png"]["alt"] == "The ranks hold 3, 2 samples; together they use 5 of 6."


def test_long_trajectories_are_thinned_but_keep_their_ends():
    """A path of ten thousand steps is drawn with a few hundred points, first and last among them."""
    thinned = pictures.thin(np.arange(10_001))

    assert len(thinned) == 400
    assert (thinned[0], thinned[-1]) == (0, 10_000)
