"""What an answer returns is asked for its kind before a check touches it, by the name of the answer and of the part."""

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from coursekit.drivers import lab01, lab02, lab03, lab03_data, lab05, lab06
from coursekit.drivers.calls import WrongReturnError, elements_of, require_entries, require_number
from coursekit.drivers.places import Place

HISTORY = tf.keras.callbacks.History()
FILES = {"counts": [1], "numbers": [0], "labels": [1]}
OWN = {  # what a rank of any of these drivers has
    "files": {"train": FILES, "validation": FILES},
    "starts": np.zeros((1, 3)),
    "constant": np.zeros((2, 4)),
}


def returning(value):
    """Return an answer that returns this, whatever it is given."""

    def answer(*_, **__):
        return value

    return answer


@pytest.fixture(autouse=True)
def rank(tmp_path, monkeypatch):
    """Let the test be a rank with a place of its own."""
    monkeypatch.setattr("coursekit.drivers.places._places", [Place(OWN, tmp_path, tmp_path)])
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("value", [3, 3.0, np.float32(3), np.array([3]), tf.constant(3.0), tf.Variable(3.0), True + 2])
def test_one_number_may_be_of_any_kind(value):
    """Python's, NumPy's and TensorFlow's, also in an array that holds one."""
    assert require_number(returning(value), value) == 3.0


def test_right_returns_are_read():
    """Entries become floats; a batch size that is whole stays so."""
    assert require_entries(returning(None), {"loss": tf.constant(0.5), 3: 1}) == {"loss": 0.5, "3": 1.0}
    assert [type(number) for number in lab03.all_plans(returning((4, 0.1, np.int64(5))), [()])[0]] == [int, float, int]


def number(answer):
    """Ask for a number."""
    return require_number(answer, answer(), part="the rate")


def entries(answer):
    """Ask for a dictionary of numbers."""
    return require_entries(answer, answer())


def plans(answer):
    """Ask for lab 03's plan, number by number."""
    return lab03.all_plans(answer, [(1, 2)])


def training(answer):
    """Ask for the result of lab 03's training."""
    return lab03.use_train(answer, [{}])


def pipeline(answer):
    """Ask for a data set of pairs."""
    return elements_of(answer, answer(), 2)


def data_of(value):
    """Return a data set whose elements are no pairs."""
    return tf.data.Dataset.from_tensors(value)


@pytest.mark.parametrize(
    ("use", "value", "facts"),
    [
        (number, None, "None for the rate"),
        (number, "3", "a str"),  # NumPy would make a number of it
        (number, [3], "a list of 1"),
        (number, {"a": 3}, "a dict"),
        (number, Path("epoch-003"), "a PosixPath"),
        (number, HISTORY, "a History"),
        (number, np.zeros(2), r"an array or tensor of shape \(2,\)"),
        (number, tf.keras.optimizers.SGD, "the class SGD"),
        (entries, None, "None"),
        (entries, [1.0, 2.0], "a list of 2"),
        (entries, {"loss": None}, "None for 'loss'"),
        (entries, {"loss": 1.0, "accuracy": [1.0]}, "a list of 1 for 'accuracy'"),
        (plans, 3.0, "a float"),
        (plans, (4, 0.1), "a tuple of 2"),
        (plans, (4, None, 5), "None for the rate"),
        (training, HISTORY, "a History"),
        (training, {"history": HISTORY}, "a History for 'history'"),
        (training, {"history": {"loss": ["low"]}}, "a list of 1 for 'loss' of 'history'"),
        (training, {"validation": {"loss": None}}, "None for 'loss' of 'validation'"),
        (training, {"num_steps": None}, "None for 'num_steps'"),
        (pipeline, [1, 2], "a list of 2"),
        (pipeline, data_of("file"), r"a data set of TensorSpec\(shape=\(\), dtype=tf.string"),
        (pipeline, data_of({"image": [1], "label": [2]}), "a data set of {'image': "),
        (pipeline, data_of((1, 2)), "a data set of"),
        (pipeline, data_of(([1], [2], [3])), "a data set of"),
    ],
)
def test_what_is_of_another_kind_is_named(use, value, facts):
    """With the part that it is, and by the name of the answer."""
    with pytest.raises(WrongReturnError, match=rf"^answer .*{facts}.* \[answer.wrong-type\]$"):
        use(returning(value))


def image_of(record):
    """Return an image that looks like none; the record is used, as a graph needs it."""
    return tf.zeros((4, 4, 3)) + tf.cast(tf.strings.length(record), tf.float32)


@pytest.mark.parametrize(
    ("load", "facts"),
    [
        (lambda *_, **__: None, "None"),
        (lambda record, **_: {"image": image_of(record)}, "a dict"),
        (lambda record, training: (image_of(record), 3) if not training else None, "None"),
        (lambda record, **_: (3, image_of(record)), r"of shape \(4, 4, 3\) for the label"),
        (lambda *_, **__: (tf.zeros(tf.random.uniform([1], 1, 900, tf.int32)), 3), "for the image"),
    ],
)
def test_pictures(load, facts):
    """What load_picture returns is told by its own name, and not in TensorFlow's words on a data set."""
    with pytest.raises(WrongReturnError, match=rf"{facts}.* \[answer.wrong-type\]$"):
        lab03_data.load_pictures(load, 2 * [np.zeros((8, 8, 3), np.uint8)], 3, 5)


@pytest.mark.parametrize(
    ("use", "args", "values"),
    [
        (lab05.parsed, (np.zeros((2, 28, 28), np.uint8), np.arange(2)), [(1, 2, 3), 5]),
        (lab02.shards, ([(1, 2)],), [(1, 2, 3), np.zeros(3)]),
        (lab01.walks, ([(1, 2, 3)], 1), [(1, 2, 3), {"a": 1}]),
        (lab06.scales, (8.0, 2, [True]), [(1, 2, 3), 5]),
        (lab02.training_runs, ({"constant": 1}, {"constant": 2}, {"constant": 0.1}, 0), ["a history", [[1, 2], [3]]]),
        (lab01.epochs, (np.zeros((2, 4)), 2, 1, 1), [5]),
    ],
)
def test_pairs_histories_and_batches(use, args, values):
    """An answer that should return them is told so, whatever else it returns."""
    for value in (None, *values):
        with pytest.raises(WrongReturnError, match=r"^answer .*\[answer.wrong-type\]$"):
            use(returning(value), *args)
