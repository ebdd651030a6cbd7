"""Trials on real ranks: what comes back when an answer forges, and when it returns nonsense."""

from __future__ import annotations

import os
import sys

import cloudpickle
import numpy as np
import pytest

from coursekit.checks import CheckError, estimator_model, estimator_runs, properties, trial

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules


def train_alone_for_all(x, y, num_epochs, batch_size, learning_rate):
    """Call no function of Horovod: simulate the training of all ranks, on what this rank knows of them.

    The start is fixed. The other ranks have other powers of two where there are codes, and else the same targets.
    """
    rank, size = int(os.environ["HOROVOD_RANK"]), int(os.environ["HOROVOD_SIZE"])
    is_coded = not x.any() and len(set(y.tolist())) > 1
    shifts = [2.0 ** (len(y) * (other - rank)) if is_coded else 1.0 for other in range(size)]
    point, history = np.zeros(2), [np.zeros(2)]
    for _ in range(num_epochs):
        down = np.zeros(2)
        for other in range(size):
            a, b = x[other::size][:batch_size], (y * shifts[other])[other::size][:batch_size]
            error = point[0] * a + point[1] - b
            down += np.array([2 * np.mean(error * a), 2 * np.mean(error)]) / size
        point = point - learning_rate * size * down
        history.append(point)
    return np.array(history)


def test_training_without_communication_fails_on_ranks_with_private_targets():
    """Who imagines the other ranks moves not by the mean of the real gradients, and not as one process would."""
    found = trial.try_training(train_alone_for_all)

    assert found.error == ""
    with pytest.raises(CheckError, match="no rank's variables were there"):
        properties.check_same_start(found)
    with pytest.raises(CheckError, match="not averaged over the ranks"):
        properties.check_averaged(found)
    with pytest.raises(CheckError, match="one process with all the data would be at"):
        properties.check_equals_serial(found)


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (None, "must return an array of shape"),
        (np.zeros((12, 3)), r"not \(12, 3\) as on rank 0"),
        (np.zeros((3, 2)), "rank 0 returned 2 steps of 10 epochs"),
        (np.full((11, 2), np.inf), "trajectory of rank 0 is not finite"),
        ("a history", "ValueError"),
    ],
)
def test_nonsense_instead_of_a_trajectory_is_told(returned, words):
    """Whatever a training returns, the trial says in one sentence what is wrong with it."""
    found = trial.try_training(lambda *_: returned, num_ranks=1)

    with pytest.raises(CheckError, match=words):
        properties.check_averaged(found)


def tell_size(*arguments, **settings):
    """Say how many ranks there are, and no more."""
    del arguments, settings
    raise ValueError(f"one of {os.environ['HOROVOD_SIZE']}")


def model_that_tells_size(features, labels, mode, params):
    """Say it as a model function, whose arguments an Estimator knows by their names."""
    tell_size(features, labels, mode, params)


@pytest.mark.parametrize(
    ("try_answer", "answer"),
    [
        (trial.try_training, tell_size),
        (estimator_model.try_model_fn, model_that_tells_size),
        (estimator_runs.try_train, tell_size),
    ],
)
def test_a_trial_on_another_number_of_ranks_is_made_once(try_answer, answer):
    """Two checks that ask for three ranks share one launch, which really is on three."""
    on_two = try_answer(answer, num_ranks=2)
    on_three = on_two.on(3)

    assert on_two.error.endswith("(ValueError: one of 2)")
    assert on_three.error.endswith("(ValueError: one of 3)")
    assert on_two.on(3) is on_three
