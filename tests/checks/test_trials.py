"""Trials on real ranks: what comes back of forgeries and nonsense, and that another definition is noticed later."""

import os
import sys

import cloudpickle
import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

from coursekit.checks import CheckError, check, lab02_properties, lab02_trial, lab04_pieces, lab04_training
from coursekit.checks.trials import Trial, remember

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules


def train_alone_for_all(x, y, num_epochs, batch_size, learning_rate):
    """Call no function of Horovod: simulate the training of all ranks, as if they had the data of this one."""
    size = int(os.environ["HOROVOD_SIZE"])
    point, history = np.zeros(2), [np.zeros(2)]
    for _ in range(num_epochs):
        for first in range(0, -(-len(x) // size), batch_size):
            down = np.zeros(2)
            for other in range(size):
                a, b = (both[other::size][first : first + batch_size] for both in (x, y))
                error = point[0] * a + point[1] - b
                down += np.array([2 * np.mean(error * a), 2 * np.mean(error)]) / size
            point = point - learning_rate * size * down
            history.append(point)
    return np.array(history)


def test_training_without_communication_fails_on_ranks_with_private_targets():
    """Who imagines the other ranks moves not by the mean of the real gradients, and not as one process would."""
    found = lab02_trial.try_training(train_alone_for_all)

    assert found.error == ""
    with pytest.raises(CheckError, match=r"\[start.foreign\]"):
        lab02_properties.check_same_start(found, most_steps=0)
    with pytest.raises(CheckError, match=r"\[gradients.not-averaged\]"):
        lab02_properties.check_averaged(found)
    with pytest.raises(CheckError, match=r"\[updates.not-serial\]"):
        lab02_properties.check_equals_serial(found)


@pytest.mark.parametrize(
    ("returned", "facts"),
    [
        (None, r"rank 0 .* None.*\[answer.wrong-type\]"),
        (np.zeros((12, 3)), r"\(12, 3\) on rank 0 \[history.wrong-shape\]"),
        (np.zeros((3, 2)), r" 2 steps .* rank 0 \[steps.wrong-number\]"),
        (np.full((11, 2), np.inf), r"rank 0 .* slope is inf in row 0 \[weights.not-finite\]"),
        (np.where(np.arange(22).reshape(11, 2) == 9, -1e300, 0), "offset is -1e.300 in row 4 "),
    ],
)
def test_nonsense_instead_of_a_trajectory_is_told(returned, facts):
    """Whatever a training returns, the trial says in one sentence what is wrong with it."""
    found = lab02_trial.try_training(lambda *_: returned, num_ranks=1)

    with pytest.raises(CheckError, match=facts):
        lab02_properties.check_averaged(found)


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
        (lab02_trial.try_training, tell_size),
        (lab04_pieces.try_model_fn, model_that_tells_size),
        (lab04_training.try_train, tell_size),
    ],
)
def test_a_trial_on_another_number_of_ranks_is_made_once(try_answer, answer):
    """Two checks that ask for three ranks share one launch, which really is on three."""
    on_two = try_answer(answer, num_ranks=2)
    on_three = on_two.on(3)

    assert "ValueError: one of 2" in on_two.error
    assert "ValueError: one of 3" in on_three.error
    assert on_two.on(3) is on_three


def train_on_unequal_shards(x, y, num_epochs, batch_size, learning_rate):
    """Do everything right but for the batches, which are of one sample: ranks with fewer samples make fewer steps."""
    import horovod.tensorflow as hvd

    hvd.init()
    x, y = x[hvd.rank() :: hvd.size()], y[hvd.rank() :: hvd.size()]
    point, history = hvd.broadcast_object(np.random.default_rng().normal(size=2), root_rank=0), []
    for _ in range(num_epochs):
        for a, b in zip(x, y):
            history.append(point)
            down = 2 * (point[0] * a + point[1] - b) * np.array([a, 1])
            point = point - learning_rate * hvd.size() * hvd.allreduce(down).numpy()
    del batch_size
    return np.array([*history, point])


def test_ranks_that_wait_for_each_other_are_tried_again_with_one_step_per_epoch():
    """Unequal numbers of steps cost what speaks of steps: the other properties are read from whole batches."""
    found = lab02_trial.try_training(train_on_unequal_shards, num_ranks=2)

    assert found.error == ""
    assert "wait" in found.stuck
    lab02_properties.check_same_start(found, most_steps=0)
    lab02_properties.check_averaged(found)
    lab02_properties.check_rate(found)
    lab02_properties.check_shards(found)
    with pytest.raises(CheckError, match=r"\[steps.uneven\]"):
        lab02_properties.check_epochs(found)


def talkative(x, y, num_epochs, batch_size, learning_rate):
    """Say more than anybody wants to read, and something on stderr."""
    del x, y, num_epochs, batch_size, learning_rate
    print("my rank is", os.environ["HOROVOD_RANK"])
    print("a library's words", file=sys.stderr)
    print("x" * 1000 + "\n" * 10_000)
    return np.zeros((3, 2))


def test_what_an_answer_prints_in_a_trial_is_shown(capfd):
    """Students look for mistakes with print: the first lines of each rank appear, and no log of a library."""
    lab02_trial.try_training(talkative)
    lines = capfd.readouterr().out.splitlines()

    assert {"[0] my rank is 0", "[1] my rank is 1", "[0] … (more than 4 KiB; the rest is not shown)"} < set(lines)
    assert not any("library" in line for line in lines)
    assert len(lines) < 10_000


FIRST = """\
def step(x):
    return [x.size - 0.5 * y for y in x]
def train(x):
    return step(x)
"""


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("def train(x):\n    return 2 * step(x)", "train"),
        ("def step(x):\n    return x", "train"),
        (FIRST, ""),
        ("other = 4", ""),
    ],
)
def test_another_definition_is_noticed(cell, expected):
    """Of the function, or of one that it calls; a cell that runs again, and names that are not used, change nothing."""
    shell = InteractiveShell()
    shell.run_cell(FIRST)
    changed = remember(shell.user_ns["train"], 3, "text")
    shell.run_cell(cell)

    assert changed() == expected


def test_a_check_of_a_trial_says_that_the_function_is_another_one_now():
    """A ✓ on a training that is no longer there would be worth nothing."""
    tried = Trial(1, [{"real": [0]}], changed=lambda: "train_horovod")
    with pytest.raises(CheckError) as caught, check("same start", section="4"):
        tried.of_ranks("real")

    assert caught.value.code == "trial.outdated"
    assert "train_horovod" in str(caught.value)
