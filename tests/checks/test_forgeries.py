"""Answers that simulate all ranks instead of speaking with them, and forge what the probes write down.

Each of them earns its points where it can predict what the judge tells the other ranks, and none where it cannot.
"""

# ruff: noqa: SLF001  # forgers know no privacy

import itertools
import sys
from functools import partial

import cloudpickle
import numpy as np
import pytest

from coursekit.checks import CheckError, lab03_pieces, lab03_training, lab04_training, private_data, steps
from coursekit.checks.check import fresh_rng, repeatable
from coursekit.checks.on_ranks import RemoteAnswer
from coursekit.drivers import lab03, lab04_strategy, places, probe_model

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules

ENTROPY = 20231120  # of a judge whose numbers can be predicted
NUM_RANKS = 2
NUM_CLASSES = probe_model.NUM_CLASSES


def believed(*args, **settings):
    """Return what a forger takes for the private inputs of all ranks; its own it knows."""
    with repeatable(ENTROPY):
        guess = list(private_data.draw_private(NUM_RANKS, *args, **settings))
    guess[lab04_strategy.rank()] = places.private()
    return guess


def simulate(starts, batches, rates):
    """Return what the probe of each of the ranks would see in a right training that begins with these weights.

    Args:
        starts: the weights of each rank, which all get those of rank 0 before the first step.
        batches: the samples of each step, by rank.
        rates: of each step.
    """
    bias = np.array(starts[0], dtype=float)
    move, records = np.zeros_like(bias), []
    for rate, samples in zip(rates, zip(*batches)):
        records.append(
            [probe_model.Record(bias.astype(np.float32), np.asarray(batch), training=True) for batch in samples]
        )
        move = 0.9 * move - rate * np.mean([steps.gradient(bias, np.asarray(batch)) for batch in samples], axis=0)
        bias = bias + move
    return list(zip(*records)), bias


def simulate_samples(told, num_steps, batch_size, rate):
    """Return the records of this rank in a training on the samples that the ranks are told."""
    batches = [np.reshape(given["samples"][: num_steps * batch_size], (num_steps, batch_size)) for given in told]
    records, _ = simulate([given["starts"][0] for given in told], batches, [rate] * num_steps)
    return records[lab04_strategy.rank()]


def simulate_files(told, sizes, num_steps, rates, batch_size):
    """Return the records of this rank in a training on shards of the files, and the weights at its end."""
    batches = []
    for rank, given in enumerate(told):
        mine = np.repeat(np.arange(len(sizes)), sizes) % NUM_RANKS == rank
        order = itertools.cycle(np.asarray(given["files"]["train"]["numbers"])[mine])
        batches.append([np.array(list(itertools.islice(order, batch_size))) for _ in range(num_steps)])
    records, bias = simulate([given["starts"][0] for given in told], batches, rates)
    return list(records[lab04_strategy.rank()]), bias


def write_down_instead(records):
    """Let the probe write down these records whatever it sees."""
    row = iter(records)

    def write_down(bias, images, training):
        del bias, images, training
        probe_model._rounds[-1].append(next(row))
        return 0

    probe_model._write_down = write_down


def make_callbacks(folder):
    """Forge a training from one start."""
    del folder
    num_steps = lab03.NUM_EPOCHS * lab03.STEPS_PER_EPOCH
    num_samples = num_steps * probe_model.BATCH_SIZE
    told = believed(NUM_CLASSES, spread=lab03_pieces.SMALL_START, num_samples=num_samples)
    told[0] = {**told[0], "samples": lab03_pieces.one_and_another(told[0]["samples"])}
    write_down_instead(simulate_samples(told, num_steps, probe_model.BATCH_SIZE, probe_model.RATE))
    return []


def make_callbacks_of_zeros(folder):
    """Forge metrics that are the same whatever the samples are."""
    import tensorflow as tf

    del folder

    class Logs(tf.keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):  # noqa: ARG002  # as Keras calls it
            logs["loss"] = float(np.log(NUM_CLASSES))

    samples = np.reshape(places.private()["samples"], (-1, probe_model.BATCH_SIZE))
    write_down_instead(
        [probe_model.Record(np.zeros(NUM_CLASSES, np.float32), batch, training=True) for batch in samples]
    )
    return [Logs()]


def train_with_keras(*given):
    """Forge the whole training of lab 03; its last argument are callbacks."""
    training, held_out = lab03_training.SAMPLES_PER_FILE, lab03_training.VALIDATION_PER_FILE
    told = believed(
        lab03_training.NUM_SAMPLES + sum(held_out) + 1, num_rounds=2, files={"train": training, "validation": held_out}
    )
    num_steps = lab03_training.steps_per_epoch(NUM_RANKS)
    rates = lab03_training.expected_rates(NUM_RANKS)
    records, bias = simulate_files(told, training, 2 * num_steps, rates, lab03_training.SETTINGS["batch_size"])
    files = np.repeat(np.arange(len(held_out)), held_out)
    shards = [
        np.asarray(given["files"]["validation"]["numbers"])[files % NUM_RANKS == rank]
        for rank, given in enumerate(told)
    ]
    probe_model._rounds[-1].extend([*records, probe_model.Record(bias, shards[lab04_strategy.rank()], training=False)])
    for epoch in range(2):
        given[-1][0].on_epoch_end(epoch, {"loss": 1.0})
    validation = {"loss": private_data.loss_of_all(bias, shards), "accuracy": 0.0}
    return {"history": {"loss": [1.0, 1.0], "accuracy": [0.0, 0.0]}, "validation": validation, "num_steps": num_steps}


def evaluate_with_keras(network, dataset):
    """Forge the validation of lab 03, with the samples that it takes for those of the other ranks."""
    del dataset
    with repeatable(ENTROPY):
        _, samples = lab03_training._unequal_samples(NUM_RANKS)
    samples[lab04_strategy.rank()] = places.private()["samples"]
    bias = network.get_weights()[0]
    right = np.concatenate(samples) == np.argmax(bias) - 1
    return {"accuracy": float(np.mean(right)), "loss": private_data.loss_of_all(bias, samples)}


def train_with_estimator(files, folder, num_steps, params, hooks):
    """Forge a training of lab 04 on files, from one start."""
    del files, folder, hooks
    sizes, num_steps = lab04_training.SAMPLES_PER_FILE, num_steps // NUM_RANKS
    told = believed(NUM_CLASSES, num_rounds=3, files={"train": sizes})
    records, _ = simulate_files(told, sizes, num_steps, [0.6] * num_steps, params["batch_size"])
    probe_model._rounds[-1].extend(records)


def evaluate_with_estimator(estimator, files, params):
    """Forge an evaluation of lab 04: the labels and the checkpoint are those that it takes for the others'."""
    del estimator, files, params
    with repeatable(ENTROPY):
        told = list(lab04_training.draw_labelled(NUM_RANKS))
    told[lab04_strategy.rank()] = places.private()
    shards, sizes = lab04_training.accuracies_of_shards(told)
    numbers = np.arange(sum(sizes))
    counts = lab04_training.HELD_OUT_PER_FILE
    mine = np.repeat(np.arange(len(counts)), counts) % NUM_RANKS == lab04_strategy.rank()
    bias = lab04_training.weights_of_checkpoint(told).astype(np.float32)
    probe_model._rounds[-1].append(probe_model.Record(bias, numbers[mine], training=False))
    return {"accuracy": float(np.average(shards, weights=sizes))}


def check_evaluated(trial):
    """Ask both of an evaluation."""
    lab04_training.check_once(trial)
    lab04_training.check_accuracy(trial)


try_training = partial(lab03_training.try_train, runs=[lab03_training.SETTINGS])
OTHER_STARTS = "broadcast.missing"
WRONG_METRICS = "metrics."  # fresh weights may by luck to_submission a guessed sample correctly
FORGERIES = [
    (lab03_pieces.check_same_start, lab03_pieces.try_callbacks, make_callbacks, "start.foreign"),
    (lab03_training.check_training, try_training, train_with_keras, OTHER_STARTS),
    (lab03_training.check_evaluate, None, evaluate_with_keras, WRONG_METRICS),
    (lab04_training.check_start, lab04_training.try_train, train_with_estimator, OTHER_STARTS),
    (check_evaluated, lab04_training.try_evaluate, evaluate_with_estimator, "weights.not-restored"),
]


@pytest.mark.parametrize(
    ("check", "try_answer", "forgery", "code"), FORGERIES, ids=[one[2].__name__ for one in FORGERIES]
)
def test_a_forgery_earns_its_points_by_guessing_right_alone(check, try_answer, forgery, code):
    """Where the judge's numbers can be predicted, simulated ranks pass; where they are fresh, they do not."""

    def judge():
        check(try_answer(forgery, NUM_RANKS)) if try_answer else check(forgery, NUM_RANKS)

    with repeatable(ENTROPY):
        judge()
    with pytest.raises(CheckError) as caught:
        judge()
    assert caught.value.code.startswith(code)
    assert fresh_rng().random() != fresh_rng().random()


def test_metrics_that_hold_for_any_samples_earn_nothing():
    """Weights of zero have one loss for all samples, but no rank was given such a start."""
    with pytest.raises(CheckError, match=r"\[start.foreign\]"):
        lab03_pieces.check_metrics(lab03_pieces.try_callbacks(make_callbacks_of_zeros, NUM_RANKS))


class Forged:
    """Where an answer lives that makes up what all ranks reply: so many replies more than there are questions."""

    def __init__(self, surplus):
        self.surplus = surplus

    def run(self, driver, args, private, *, num_ranks, **_):
        """Return replies; the last of the arguments are the questions."""
        del driver, private
        return [[1.0] * max(0, len(args[-1]) + self.surplus)] * num_ranks, []


@pytest.mark.parametrize("check", [lab03_pieces.check_plan, lab03_pieces.check_elastic, lab03_pieces.check_warm_up])
@pytest.mark.parametrize("surplus", [-1000, -1, 1])
def test_replies_that_leave_questions_out_do_not_pass(check, surplus):
    """A forged reply that is empty, too short or too long is told."""
    with pytest.raises(CheckError, match=r"\[answer.wrong-number\]"):
        check(RemoteAnswer("answer", Forged(surplus)), NUM_RANKS)


def test_samples_that_nobody_has_are_told_before_they_are_counted():
    """A number of 2 ** 40 would take terabytes where samples are counted by class."""
    bias = np.linspace(0, 1, NUM_CLASSES, dtype=np.float32)
    records = [[probe_model.Record(bias, np.array([1, 2**40]), training=True)] * 5] * NUM_RANKS
    with pytest.raises(CheckError, match=r"\[images.foreign\]"):
        steps.steps_of(records)
