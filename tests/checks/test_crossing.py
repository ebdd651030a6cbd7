"""The checks of labs 01 and 02 touch an answer through its driver only, and only plain data crosses."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import cloudpickle
import numpy as np
import pytest

from coursekit import drivers, ranks
from coursekit.checks import CheckError, check, linear, pieces, stability
from coursekit.checks.on_ranks import AnswerError, RemoteAnswer
from coursekit.drivers.places import left_in, own_folder, settle_and_call

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules


def plain(value):
    """Return plain data as it arrives elsewhere; refuse everything else."""
    if isinstance(value, np.ndarray):
        assert value.dtype.kind in "biufU", value.dtype
        return value.copy()
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    assert value is None or type(value) in {int, float, bool, str, np.float64, np.float32, np.int64}, type(value)
    return value


class ElsewhereInTheTest:
    """Functions that are kept behind the judge's interface; what crosses it is plain data, answers and drivers."""

    def __init__(self, folder, **answers):
        self.folder, self.answers = folder, answers

    def __getattr__(self, name):
        return RemoteAnswer(name, self)

    def _there(self, value):
        if isinstance(value, RemoteAnswer):
            return self.answers[value.name]
        if callable(value):
            assert value.__module__.startswith(f"{drivers.__name__}.")
            return value
        return plain(value)

    def call(self, driver, args, *, timeout_s):
        """Call a driver in this process."""
        del timeout_s
        return plain(self._there(driver)(*map(self._there, args)))

    def run(self, driver, args, *, private, look, **settings):
        """Call a driver on ranks, and look at what each has left."""
        there = [self._there(arg) for arg in (driver, *args)]
        own = None if private is None else [plain(value) for value in private]
        results = ranks.run(
            settle_and_call, str(self.folder), own, *there, **settings, use_gpus=False, show_output=False
        )
        folders = [own_folder(self.folder, rank) for rank in range(settings["num_ranks"])]
        return [plain(result) for result in results], [left_in(one) for one in folders] if look else []


def gradient(slope, offset, x, y):
    """Return the derivatives of the loss; a right answer, as are the following ones."""
    error = slope * x + offset - y
    return 2 * np.mean(error * x), 2 * np.mean(error)


def batches(x, y, batch_size, rng):
    """Yield one epoch."""
    order = rng.permutation(len(x))
    for first in range(0, len(x), batch_size):
        yield x[order[first : first + batch_size]], y[order[first : first + batch_size]]


def tape_step(slope, offset, x, y, learning_rate):
    """Step with a tape."""
    import tensorflow as tf

    with tf.GradientTape() as tape:
        value = tf.reduce_mean((slope * x + offset - y) ** 2)
    for variable, down in zip((slope, offset), tape.gradient(value, (slope, offset))):
        variable.assign_sub(learning_rate * down)
    return value


def hessian(x):
    """Return the second derivatives."""
    return 2 * np.array([[np.mean(x * x), np.mean(x)], [np.mean(x), 1]])


def test_checks_of_lab_01_judge_answers_that_are_elsewhere(tmp_path):
    """Every check of lab 01 passes a right answer that it can reach by plain data only."""
    there = ElsewhereInTheTest(
        tmp_path,
        loss=lambda slope, offset, x, y: np.mean((slope * x + offset - y) ** 2),
        gradient=gradient,
        step=lambda slope, offset, x, y, rate: [
            old - rate * down for old, down in zip((slope, offset), gradient(slope, offset, x, y))
        ],
        batches=batches,
        num_updates=lambda samples, size, epochs: epochs * -(-samples // size),
        tape_step=tape_step,
        is_stable=lambda rate, x, _: bool(rate < 2 / np.linalg.eigvalsh(hessian(x))[-1]),
        hessian=hessian,
        largest_stable_rate=lambda x: 2 / np.linalg.eigvalsh(hessian(x))[-1],
    )

    linear.check_loss(there.loss)
    linear.check_gradient(there.gradient)
    linear.check_step(there.step, there.gradient)
    linear.check_batches(there.batches)
    linear.check_num_updates(there.num_updates)
    linear.check_tape_step(there.tape_step)
    stability.check_is_stable(there.is_stable, there.step)
    stability.check_hessian(there.hessian)
    stability.check_largest_stable_rate(there.largest_stable_rate, there.hessian)


def shard(x, y):
    """Return this rank's share."""
    import horovod.tensorflow as hvd

    return x[hvd.rank() :: hvd.size()], y[hvd.rank() :: hvd.size()]


def broadcast_start(variables):
    """Start where rank 0 does."""
    import horovod.tensorflow as hvd

    hvd.broadcast_variables(variables, root_rank=0)


def average(gradients):
    """Return the means over the ranks."""
    import horovod.tensorflow as hvd

    return [hvd.allreduce(gradient) for gradient in gradients]


def save_history(history, folder):
    """Write on rank 0."""
    import horovod.tensorflow as hvd

    if hvd.rank() == 0:
        np.save(Path(folder) / "history.npy", history)


def test_checks_of_lab_02_judge_answers_that_are_elsewhere(tmp_path):
    """Checks on ranks pass a right answer that they can reach by plain data only."""
    there = ElsewhereInTheTest(
        tmp_path, shard=shard, broadcast_start=broadcast_start, average=average, save_history=save_history
    )

    pieces.check_shard(there.shard, num_ranks=2, num_samples=12)
    pieces.check_broadcast(there.broadcast_start, num_ranks=2)
    pieces.check_average(there.average, num_ranks=2)
    pieces.check_save_history(there.save_history, num_ranks=2)


def test_a_mean_next_to_zero_is_no_sum(tmp_path, monkeypatch):
    """Gradients of the ranks may cancel out: their mean is then as good as their sum, and right."""
    num_gradients = len(pieces.GRADIENT_SHAPES)
    signs = iter([1] * num_gradients + [-1] * num_gradients)
    opposed = SimpleNamespace(normal=lambda mean, spread, shape: next(signs) * np.full(shape, mean + spread))
    monkeypatch.setattr(pieces, "fresh_rng", lambda: opposed)

    pieces.check_average(ElsewhereInTheTest(tmp_path, average=average).average, num_ranks=2)


def test_pieces_that_do_not_communicate_guess_in_vain(tmp_path):
    """What other ranks hold cannot be computed: a fixed start and a mean over imagined ranks fail."""
    there = ElsewhereInTheTest(
        tmp_path,
        broadcast_start=lambda variables: [variable.assign(0.0) for variable in variables],
        average=lambda gradients: [(gradient + 1) / 2 for gradient in gradients],
    )

    with pytest.raises(CheckError, match="no rank started there"):
        pieces.check_broadcast(there.broadcast_start, num_ranks=2)
    with pytest.raises(CheckError, match="is not the mean over the ranks"):
        pieces.check_average(there.average, num_ranks=2)


def test_errors_from_elsewhere_read_as_here():
    """An exception of an answer elsewhere is told as in the notebook, and so is an exercise not answered yet."""
    told = []
    for error in (
        AnswerError("NotImplementedError", ""),
        AnswerError("ZeroDivisionError", "division by zero"),
        AnswerError("TimeoutError", "no result after 20 s"),
    ):
        with pytest.raises(CheckError) as caught, check("loss", section="2"):
            raise error
        told.append(str(caught.value))

    assert told == [
        "loss: not answered yet → section 2",
        "loss: the answer raised ZeroDivisionError: division by zero → section 2",
        "loss: the answer did not end in time: no result after 20 s → section 2",
    ]
