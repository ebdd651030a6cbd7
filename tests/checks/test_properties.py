"""What is read off trajectories, from trajectories computed here in NumPy: no ranks, exact causes."""

from __future__ import annotations

import numpy as np
import pytest

from coursekit.checks import CheckError, properties
from coursekit.checks import trial as trials

NUM_RANKS = 2
CHECKS = {
    "start": properties.check_same_start,
    "average": properties.check_averaged,
    "shards": properties.check_shards,
    "rate": properties.check_rate,
    "serial": properties.check_equals_serial,
}


def simulate(*, shard=True, broadcast=True, average=True, factors=(2, 2), num_ranks=NUM_RANKS):
    """Return the trial of a training that is simulated in NumPy with or without each property."""
    rng = np.random.default_rng(5)
    starts = rng.normal(size=(num_ranks, 2))
    starts = np.repeat(starts[:1], num_ranks, axis=0) if broadcast else starts
    num_coded = trials.CODED_SAMPLES_PER_RANK[num_ranks] * num_ranks
    x = rng.uniform(-0.5, 0.5, 12 * num_ranks)
    y = 2 * x + rng.uniform(-0.5, 0.5, 12 * num_ranks)
    zeros = np.zeros(num_coded)
    data = {
        "constant": [(zeros, zeros + trials.CONSTANT)] * num_ranks,
        "coded": [(zeros, trials.codes(rank, num_coded).astype(float)) for rank in range(num_ranks)],
        "real": [(x, y)] * num_ranks,
    }
    histories = {
        name: descend(pairs, starts, shard=shard, average=average, factors=factors) for name, pairs in data.items()
    }
    return trials.Trial(num_ranks, histories, x, y)


def descend(pairs, starts, *, shard, average, factors):
    """Run gradient descent in lock step; return histories of shape (num_ranks, num_steps + 1, 2)."""
    num_ranks = len(pairs)
    batch_size = len(pairs[0][0]) // num_ranks
    shards = [(x[r::num_ranks], y[r::num_ranks]) if shard else (x, y) for r, (x, y) in enumerate(pairs)]
    points = starts.copy()
    history = [points.copy()]
    for _ in range(trials.NUM_EPOCHS):
        for first in range(0, len(shards[0][0]), batch_size):
            gradients = np.zeros_like(points)
            for rank, (x, y) in enumerate(shards):
                bx, by = x[first : first + batch_size], y[first : first + batch_size]
                error = points[rank, 0] * bx + points[rank, 1] - by
                gradients[rank] = 2 * np.mean(error * bx), 2 * np.mean(error)
            used = np.repeat(gradients.mean(axis=0, keepdims=True), num_ranks, axis=0) if average else gradients
            points = points - trials.RATE * np.array(factors)[:, np.newaxis] * used
            history.append(points.copy())
    return np.array(history).transpose(1, 0, 2)


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
    assert failing(simulate(num_ranks=num_ranks, factors=(num_ranks,) * num_ranks)) == {}


@pytest.mark.parametrize(
    ("missing", "expected", "property_name", "word"),
    [
        ({"shard": False}, {"shards", "serial"}, "shards", "no shard"),
        ({"broadcast": False}, {"start", "serial"}, "start", "not broadcast"),
        ({"average": False}, {"average", "serial"}, "average", "not averaged"),
        ({"factors": (1, 1)}, {"rate", "serial"}, "rate", "not scaled"),
        ({"factors": (4, 4)}, {"rate", "serial"}, "rate", "summed"),
        ({"factors": (1, 2)}, {"rate", "serial"}, "rate", "depends on the rank"),
        ({"factors": (0, 1)}, {"rate", "serial"}, "rate", "depends on the rank"),
        ({"broadcast": False, "average": False}, {"start", "average", "serial"}, "average", "not averaged"),
        ({"shard": False, "average": False}, {"shards", "average", "serial"}, "shards", "no shard"),
    ],
)
def test_each_missing_property_is_told_apart(missing, expected, property_name, word):
    """Each fault fails its own property, and of the others only the comparison with one process."""
    found = failing(simulate(**missing))

    assert set(found) == expected
    assert word in found[property_name]


def test_all_missing_properties_are_named_at_once():
    """A training in which nothing was added fails every property."""
    found = failing(simulate(shard=False, broadcast=False, average=False, factors=(1, 1)))

    assert set(found) == set(CHECKS)


def test_rates_are_those_that_the_ranks_used():
    """The learning rate of each rank is read off to a thousandth, whatever the ranks average."""
    for average in (True, False):
        found = properties.rates(simulate(average=average, factors=(1.5, 3)))

        assert found == pytest.approx(trials.RATE * np.array([1.5, 3]), rel=1e-3)


def test_error_of_the_training_reaches_every_property():
    """When the training failed, each property says so and why."""
    found = failing(trials.Trial(NUM_RANKS, error="rank 1 raised ValueError"))

    assert set(found) == set(CHECKS)
    assert all("rank 1 raised ValueError" in message for message in found.values())
