"""The pictures of lab 05 say in words what they show, and event files are read as numbers."""

import numpy as np
import pytest
import tensorflow as tf

from coursekit.imagenet.store import Span
from coursekit.pictures import feeding, tensorboard
from coursekit.pictures.tensorboard import Event, read_events


class Finished:
    """A store that was used."""

    spans = (Span("read", 0.0, 0.5), Span("decode", 0.5, 0.6), Span("train", 0.6, 1.0))
    seconds = 1.0


def test_pictures_say_what_they_show(described):
    """Samples by rank, and how long the network works."""
    feeding.show_order({"shard": [[[0, 2], [4]], [[1, 3], [5]]]}, 6)
    feeding.show_timeline({"slow": Finished()})
    events = [Event("epoch_loss", 0, 2.0), Event("epoch_loss", 1, 1.0)]
    tensorboard.show_scalars(events, ["epoch_loss"])
    tensorboard.show_histograms([Event("kernel", 0, np.array([[-1.0, 1.0, 5.0]]))], "kernel")

    assert described()[0].endswith("shard: rank 0 gets 0 2 4, rank 1 gets 1 3 5.")
    assert described()[1].endswith("for this part of the time: slow 40%.")
    assert described()[2] == "Scalars: epoch_loss goes from 2 to 1 in 2 steps."
    assert "from -1 to 1 after the first epoch" in described()[3]


def test_what_comes_twice_or_never_is_marked(drawn):
    """Sample 1 comes on both ranks and has a frame each time; sample 3 is in a row of its own, and in the words."""
    feeding.show_order({"careless": [[[0, 1]], [[1, 2]]]}, 4)

    ((figure, words),) = drawn
    (axes,) = figure.axes
    boxes = {text: text.get_bbox_patch() for text in axes.texts if text.get_bbox_patch()}
    widths = sorted((text.get_text().strip(), box.get_linewidth()) for text, box in boxes.items())
    assert widths == [("0", 1.0), ("1", 2.0), ("1", 2.0), ("2", 1.0), ("3", 1.0)]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["rank 0", "rank 1", "no rank"]
    assert words.endswith("rank 1 gets 1 2, in epoch 1 more than once: 1, in epoch 1 on no rank: 3.")


def test_of_many_epochs_the_first_and_the_last_are_shown(drawn):
    """Six hills are enough; the words tell of the same epochs."""
    steps = [Event("kernel", epoch, np.array([[-1.0 - epoch, 1.0 + epoch, 5.0]])) for epoch in range(20)]
    tensorboard.show_histograms(steps, "kernel")

    ((figure, words),) = drawn
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names == ["epoch 0", "epoch 4", "epoch 8", "epoch 11", "epoch 15", "epoch 19"]
    assert words.endswith("from -1 to 1 after the first epoch, from -20 to 20 after the last.")


def test_scalars_and_histograms_are_read_and_nothing_else(tmp_path):
    """Texts and images are left out, folders in the folder too; an empty folder has no events."""
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default():
        tf.summary.scalar("loss", 0.5, 3)
        tf.summary.text("note", "hello", 3)
        tf.summary.histogram("weights", [1.0, 2.0], 4)
    writer.close()
    (tmp_path / "empty").mkdir()

    scalar, histogram = read_events(tmp_path)

    assert scalar == Event("loss", 3, 0.5)
    assert (histogram.tag, histogram.step, float(histogram.value[:, 1].max())) == ("weights", 4, 2.0)
    with pytest.raises(FileNotFoundError, match=r"there are no events in .*empty: Keras writes into"):
        read_events(tmp_path / "empty")


def test_the_tenth_event_file_comes_after_the_ninth(tmp_path):
    """A process numbers its event files; what the newest one says comes last, also when the numbers grow a digit."""
    for step in range(12):
        folder = tmp_path / str(step)
        with tf.summary.create_file_writer(str(folder)).as_default():
            tf.summary.scalar("loss", float(step), step=step)
        (file,) = folder.iterdir()
        file.rename(tmp_path / f"events.out.tfevents.1700000000.host.1.{step}.v2")

    assert [event.step for event in read_events(tmp_path)] == [*range(12)]
