"""What an answer returns is asked for its kind before a check touches it, in the words of that contract."""

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from coursekit.drivers import lab01, lab02, lab03, lab03_data, lab05, lab06
from coursekit.drivers.calls import WrongReturnError, elements_of, require_entries, require_number
from coursekit.drivers.places import Place

HISTORY = tf.keras.callbacks.History()


def returning(value):
    """Return an answer that returns this, whatever it is given."""

    def answer(*_, **__):
        return value

    return answer


@pytest.mark.parametrize("value", [3, 3.0, np.float32(3), np.array([3]), tf.constant(3.0), tf.Variable(3.0), True + 2])
def test_one_number_may_be_of_any_kind(value):
    """Python's, NumPy's and TensorFlow's, also in an array that holds one."""
    assert require_number(returning(value), value) == 3.0


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "None"),
        ("3", "a str"),
        ([3], "a list of 1"),
        ({"a": 3}, "a dict"),
        (Path("epoch-003"), "a PosixPath"),
        (HISTORY, "a History"),
        (np.zeros(2), r"an array or tensor of shape \(2,\)"),
        (tf.keras.optimizers.SGD, "the class SGD, without parentheses"),
    ],
)
def test_what_is_not_one_number_is_told(value, words):
    """Text is no number, and a list is none, even where Python or NumPy would make one of it."""
    with pytest.raises(WrongReturnError, match=rf"^answer returned {words} for the rate.*\[answer.wrong-type\]$"):
        require_number(returning(value), value, part="the rate")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "returned None; a dictionary of numbers"),
        ([1.0, 2.0], "returned a list of 2; a dictionary of numbers"),
        ({"loss": None}, "returned None for 'loss'; a number"),
        ({"loss": 1.0, "accuracy": [1.0]}, "returned a list of 1 for 'accuracy'; a number"),
    ],
)
def test_entries_are_told_by_their_names(value, words):
    """Of a dictionary the entry that does not fit is named, with what was expected of it."""
    with pytest.raises(WrongReturnError, match=words):
        require_entries(returning(value), value)
    assert require_entries(returning(value), {"loss": tf.constant(0.5), 3: 1}) == {"loss": 0.5, "3": 1.0}


@pytest.mark.parametrize(
    ("use", "value", "words"),
    [
        (lab03.all_plans, None, "returned None; a tuple of batch size, rate and steps"),
        (lab03.all_plans, 3.0, "returned a float; a tuple of batch size, rate and steps"),
        (lab03.all_plans, (4, 0.1), "returned a tuple of 2; a tuple of batch size, rate and steps"),
        (lab03.all_plans, (4, None, 5), "returned None for the rate; a number"),
        (lab03.all_rates, None, "returned None; a number"),
    ],
)
def test_plans_and_rates(use, value, words):
    """Lab 03's numbers are asked one by one; a batch size that is whole stays so."""
    with pytest.raises(WrongReturnError, match=words):
        use(returning(value), [(1, 2)])
    assert [type(number) for number in lab03.all_plans(returning((4, 0.1, np.int64(5))), [()])[0]] == [int, float, int]


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (None, "returned None; a dictionary"),
        (HISTORY, "returned a History; a dictionary"),
        ({"history": HISTORY}, "returned a History for 'history'; a dictionary of lists"),
        ({"history": {"loss": ["low"]}}, "returned a list of 1 for 'loss' of 'history'; a number for each epoch"),
        ({"validation": [1.0, 0.5]}, "returned a list of 2 for 'validation'; a dictionary of numbers"),
        ({"validation": {"loss": None}}, "returned None for 'loss' of 'validation'; a number"),
        ({"num_steps": None}, "returned None for 'num_steps'; a number"),
    ],
)
def test_results_of_a_training(result, words, tmp_path, monkeypatch):
    """Each part of what lab 03's training returns is named where it is of another kind."""
    files = {"counts": [1], "numbers": [0], "labels": [1]}
    own = {"files": {"train": files, "validation": files}, "starts": np.zeros((1, 3))}
    monkeypatch.setattr("coursekit.drivers.places._places", [Place(own, tmp_path, tmp_path)])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WrongReturnError, match=words):
        lab03.use_train(returning(result), [{}])


def pipelines(value):
    """Return data sets whose elements are no pairs."""
    return tf.data.Dataset.from_tensors(value)


@pytest.mark.parametrize(
    ("dataset", "words"),
    [
        (lambda: None, "returned None; a tf.data.Dataset"),
        (lambda: [1, 2], "returned a list of 2; a tf.data.Dataset"),
        (
            lambda: pipelines("file"),
            r"returned a data set of TensorSpec\(shape=\(\), dtype=tf.string.*; one of batches",
        ),
        (lambda: pipelines({"image": [1], "label": [2]}), "a data set of {'image': .*; one of batches, pairs"),
        (lambda: np.zeros((3, 4)), r"of shape \(3, 4\); a tf.data.Dataset"),
        (lambda: pipelines((1, 2)), "one of batches, pairs"),
        (lambda: pipelines(([1], [2], [3])), "one of batches, pairs"),
    ],
)
def test_pipelines(dataset, words):
    """Pairs of images and labels are asked for before any is read."""
    returned = dataset()
    with pytest.raises(WrongReturnError, match=words):
        elements_of(returning(returned), returned, 2)


def image_of(record):
    """Return an image that looks like none; the record is used, as a graph needs it."""
    return tf.zeros((4, 4, 3)) + tf.cast(tf.strings.length(record), tf.float32)


@pytest.mark.parametrize(
    ("load", "words"),
    [
        (lambda *_, **__: None, "returned None; a pair of image and label"),
        (lambda record, **_: {"image": image_of(record)}, "returned a dict; a pair of image and label"),
        (lambda record, training: (image_of(record), 3) if not training else None, "returned None; a pair"),
        (lambda record, **_: (3, image_of(record)), r"of shape \(4, 4, 3\) for the label; a number"),
        (
            lambda *_, **__: (tf.zeros(tf.random.uniform([1], 1, 900, tf.int32)), 3),
            "for the image; one of the same shape",
        ),
    ],
)
def test_pictures(load, words, tmp_path, monkeypatch):
    """What load_picture returns is told by its own name, and not in TensorFlow's words on a data set."""
    monkeypatch.setattr("coursekit.drivers.places._places", [Place(None, tmp_path, tmp_path)])
    with pytest.raises(WrongReturnError, match=words):
        lab03_data.load_pictures(load, np.zeros((8, 8, 3), np.uint8), 3, 5)


@pytest.mark.parametrize("value", [None, {"a": 1}, (1, 2, 3), 5, np.zeros(3)], ids=str)
@pytest.mark.parametrize(
    ("use", "args"),
    [
        (lab05.parsed, (np.zeros((2, 28, 28), np.uint8), np.arange(2))),
        (lab02.shards, ([(1, 2)],)),
        (lab01.walks, ([(1, 2, 3)], 1)),
        (lab06.scales, (8.0, 2, [True])),
    ],
)
def test_pairs(use, args, value):
    """An answer that should return a pair is told so, whatever else it returns."""
    with pytest.raises(WrongReturnError, match=r"^answer returned .*; a pair.* was expected .*$"):
        use(returning(value), *args)


@pytest.mark.parametrize("value", [None, "a history", {"a": 1}, [[1, 2], [3]]], ids=str)
def test_histories(value, tmp_path, monkeypatch):
    """What a training in lab 02 must return is told by the name of the answer."""
    own = {"constant": np.zeros((2, 4)), "starts": np.zeros(2)}
    monkeypatch.setattr("coursekit.drivers.places._places", [Place(own, tmp_path, tmp_path)])
    with pytest.raises(
        WrongReturnError, match=r"^answer returned .*; an array of slope and offset .* was expected .*$"
    ):
        lab02.trainings(returning(value), {"constant": 1}, {"constant": 2}, {"constant": 0.1})


@pytest.mark.parametrize("value", [None, 5])
def test_epochs(value):
    """What does not yield batches is told, too."""
    with pytest.raises(WrongReturnError, match=r"^answer returned .*; a generator.* was expected .*$"):
        lab01.epochs(returning(value), np.zeros((2, 4)), 2, 1, 1)
