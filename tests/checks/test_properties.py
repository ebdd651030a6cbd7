"""What is read off trajectories, from trajectories computed here in NumPy: no ranks, exact causes."""

from __future__ import annotations

import numpy as np
import pytest

from coursekit.checks import CheckError, properties, updates
from coursekit.checks import trial as trials

NUM_RANKS = 2
NAMES = ("constant", *trials.CODED, "real", "apart")
CHECKS = {
    "start": properties.check_same_start,
    "average": properties.check_averaged,
    "shards": properties.check_shards,
    "rate": properties.check_rate,
    "serial": properties.check_equals_serial,
}


def simulate(*, num_ranks=NUM_RANKS, seed=5, inputs=None, broadcast=True, **how):
    """Return the trial of a training that is simulated in NumPy with or without each property."""
    rng = np.random.default_rng(seed)
    inputs = inputs or trials.draw_inputs(num_ranks, rng)
    starts = rng.normal(size=(num_ranks, 2))
    starts = np.repeat(starts[:1], num_ranks, axis=0) if broadcast else starts
    targets = trials.secrets(inputs)
    histories = {}
    for name in NAMES:
        if name == "apart":
            how = {**how, "factors": (0,) * num_ranks}
            starts = inputs.starts[:, :2].astype(float)
            starts = np.repeat(starts[:1], num_ranks, axis=0) if broadcast else starts
        of_ranks = [target["real" if name == "apart" else name].astype(float) for target in targets]
        x = inputs.x if name in {"real", "apart"} else np.zeros_like(of_ranks[0])
        histories[name] = descend([(x, y) for y in of_ranks], starts, **{"factors": (num_ranks,) * num_ranks, **how})
    return trials.Trial(num_ranks, histories, inputs)


def strided(rank, num_ranks, num_samples):
    """Every rank takes its own share."""
    return np.arange(rank, num_samples, num_ranks)


def everything(rank, num_ranks, num_samples):
    """No shards: every rank takes all samples."""
    del rank, num_ranks
    return np.arange(num_samples)


def together(gradients):
    """Return the mean over the ranks, for each rank."""
    return np.repeat(gradients.mean(axis=0, keepdims=True), len(gradients), axis=0)


def together_in_16_bits(gradients):
    """Return the mean over the ranks when gradients and their sum have 16 bits."""
    mean = sum(gradients.astype(np.float16)) / np.float16(len(gradients))
    return np.repeat(mean[np.newaxis].astype(float), len(gradients), axis=0)


def alone(gradients):
    """Leave each rank its own."""
    return gradients


def descend(pairs, starts, *, factors, shares=strided, average=together):
    """Run gradient descent in lock step; return histories of shape (num_ranks, num_steps + 1, 2)."""
    num_ranks, num_samples = len(pairs), len(pairs[0][0])
    batch_size = num_samples // num_ranks
    points = starts.copy()
    history = [points.copy()]
    for _ in range(trials.NUM_EPOCHS):
        of_ranks = [shares(rank, num_ranks, num_samples) for rank in range(num_ranks)]
        for first in range(0, len(of_ranks[0]), batch_size):
            gradients = np.zeros_like(points)
            for rank, (x, y) in enumerate(pairs):
                mine = of_ranks[rank][first : first + batch_size]
                error = points[rank, 0] * x[mine] + points[rank, 1] - y[mine]
                gradients[rank] = 2 * np.mean(error * x[mine]), 2 * np.mean(error)
            points = points - trials.RATE * np.array(factors)[:, np.newaxis] * average(gradients)
            history.append(points.copy())
    return np.array(history).transpose(1, 0, 2)


def imagine(rank, num_ranks, name, x, y):
    """Return the trajectory of a rank that communicates with nobody and imagines what the others do.

    It starts at a fixed place, and supposes that the others have its own constant, codes that follow on in the same
    order, and its own noise.
    """
    y = y.astype(float)
    others = [y * 2.0 ** (len(y) * (other - rank)) if name in trials.CODED else y for other in range(num_ranks)]
    history = descend([(x, other) for other in others], np.zeros((num_ranks, 2)), factors=(num_ranks,) * num_ranks)
    return history[rank]


def imagined(inputs, num_ranks=NUM_RANKS):
    """Return the trial of ranks that all imagine each other."""
    targets = trials.secrets(inputs)
    histories = {}
    for name in NAMES:
        kind = "real" if name == "apart" else name
        x = inputs.x if kind == "real" else np.zeros(4)
        of_ranks = [imagine(rank, num_ranks, kind, x, targets[rank][kind]) for rank in range(num_ranks)]
        histories[name] = np.array(of_ranks)
    return trials.Trial(num_ranks, histories, inputs)


def failing(trial):
    """Return the names of the properties that do not hold, with their messages."""
    found = {}
    for name, check in CHECKS.items():
        try:
            check(trial)
        except CheckError as error:  # noqa: PERF203  # five rounds
            found[name] = str(error)
    return found


@pytest.mark.parametrize("num_ranks", [2, 3])
def test_right_training_has_all_properties(num_ranks):
    """A training with every property passes all checks, on two ranks and on three."""
    for seed in range(8):
        assert failing(simulate(num_ranks=num_ranks, seed=seed)) == {}


@pytest.mark.parametrize("num_ranks", [2, 3])
def test_gradients_of_16_bits_are_right_whatever_the_inputs(num_ranks):
    """Gradients that are rounded to 16 bits, and added in 16 bits, fail no property for any inputs."""
    for seed in range(40):
        assert failing(simulate(num_ranks=num_ranks, seed=seed, average=together_in_16_bits)) == {}


def test_shuffle_of_all_data_before_each_epochs_shards_is_right():
    """Shards that are drawn anew in every epoch, alike on all ranks, are disjoint and complete in every step."""
    rng = np.random.default_rng(3)
    orders = []

    def shuffled(rank, num_ranks, num_samples):
        if rank == 0:
            orders.append(rng.permutation(num_samples))
        return orders[-1][rank::num_ranks]

    assert failing(simulate(shares=shuffled)) == {}


def test_shards_that_each_rank_draws_for_itself_are_no_shards():
    """Ranks that shuffle by themselves and then shard use some samples twice; luck does not make them pass."""
    rng = np.random.default_rng(7)

    def own_shuffle(rank, num_ranks, num_samples):
        return rng.permutation(num_samples)[rank::num_ranks]

    for seed in range(30):
        assert set(failing(simulate(seed=seed, shares=own_shuffle))) == {"shards", "serial"}


def test_ranks_that_imagine_each_other_fail_what_needs_communication():
    """A training without communication passes where nothing is private, and with private targets no longer."""
    for seed in range(8):
        private = trials.draw_inputs(NUM_RANKS, np.random.default_rng(seed))
        known = trials.Inputs(
            constants=np.repeat(private.constants[:1], NUM_RANKS),
            bits={name: bits[0] + 4 * np.arange(NUM_RANKS)[:, np.newaxis] for name, bits in private.bits.items()},
            x=private.x,
            y=np.repeat(private.y[:1], NUM_RANKS, axis=0),
            starts=private.starts,
        )

        assert failing(imagined(known)) == {}
        assert set(failing(imagined(private))) >= {"start", "average", "serial"}
        assert "not averaged" in failing(imagined(private))["average"]


@pytest.mark.parametrize(
    ("missing", "expected", "property_name", "word"),
    [
        ({"shares": everything}, {"shards", "serial"}, "shards", "no shard"),
        ({"broadcast": False}, {"start", "serial"}, "start", "not broadcast"),
        ({"average": alone}, {"average", "serial"}, "average", "not averaged"),
        ({"factors": (1, 1)}, {"rate", "serial"}, "rate", "not scaled"),
        ({"factors": (4, 4)}, {"rate", "serial"}, "rate", "summed"),
        ({"factors": (1, 2)}, {"rate", "serial"}, "rate", "depends on the rank"),
        ({"factors": (0, 1)}, {"rate", "serial"}, "rate", "depends on the rank"),
        ({"broadcast": False, "average": alone}, {"start", "average", "serial"}, "average", "not averaged"),
        ({"shares": everything, "average": alone}, {"shards", "average", "serial"}, "shards", "no shard"),
    ],
)
def test_each_missing_property_is_told_apart(missing, expected, property_name, word):
    """Each fault fails its own property, and of the others only the comparison with one process."""
    found = failing(simulate(**missing))

    assert set(found) == expected
    assert word in found[property_name]


def test_all_missing_properties_are_named_at_once():
    """A training in which nothing was added fails every property."""
    found = failing(simulate(shares=everything, broadcast=False, average=alone, factors=(1, 1)))

    assert set(found) == set(CHECKS)


def test_rates_are_those_that_the_ranks_used():
    """The learning rate of each rank is read off to a thousandth, whatever the ranks average."""
    for average in (together, alone):
        found = updates.rates(simulate(average=average, factors=(1.5, 3)))

        assert found == pytest.approx(trials.RATE * np.array([1.5, 3]), rel=1e-3)


def test_mean_of_something_else_is_not_averaged():
    """Updates with the median of the gradients are not updates with their mean."""

    def median(gradients):
        return np.repeat(np.median(gradients, axis=0)[np.newaxis], len(gradients), axis=0)

    found = failing(simulate(num_ranks=3, average=median))

    assert "not averaged" in found["average"]


def test_start_that_is_equal_by_luck_is_told():
    """Ranks that start together in one training, and apart when their variables are moved, do not broadcast."""
    equal, apart = simulate(), simulate(broadcast=False)
    mixed = trials.Trial(NUM_RANKS, {**equal.histories, "apart": apart.histories["apart"]}, equal.inputs)

    assert set(failing(mixed)) == {"start"}
    assert "by a seed" in failing(mixed)["start"]


def test_error_of_the_training_reaches_every_property():
    """When the training failed, each property says so and why."""
    found = failing(trials.Trial(NUM_RANKS, error="rank 1 raised ValueError"))

    assert set(found) == set(CHECKS)
    assert all("rank 1 raised ValueError" in message for message in found.values())
