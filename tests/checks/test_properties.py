"""What is read off trajectories, from trajectories computed here in NumPy: no ranks, exact causes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from coursekit.checks import CheckError, properties, updates
from coursekit.checks import trial as trials

NUM_RANKS = 2
CHECKS = {
    "start": properties.check_same_start,
    "average": properties.check_averaged,
    "shards": properties.check_shards,
    "rate": properties.check_rate,
    "epochs": properties.check_epochs,
    "plain": properties.check_plain,
    "serial": properties.check_equals_serial,
}


def simulate(*, num_ranks=NUM_RANKS, seed=5, inputs=None, broadcast=True, **how):
    """Return the trial of a training that is simulated in NumPy with or without each property."""
    rng = np.random.default_rng(seed)
    inputs = inputs or trials.draw_inputs(num_ranks, rng)
    data = trials.secrets(inputs)
    histories = {}
    for name, num_epochs in trials.NUM_EPOCHS.items():
        starts = inputs.starts.astype(float) if name == "apart" else rng.normal(size=(num_ranks, 2))
        starts = np.repeat(starts[:1], num_ranks, axis=0) if broadcast else starts
        factors = (0,) * num_ranks if name == "apart" else how.get("factors", (num_ranks,) * num_ranks)
        histories[name] = descend(
            [of_rank[name].astype(float) for of_rank in data], starts, num_epochs, **{**how, "factors": factors}
        )
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


def descend(  # noqa: PLR0913  # the ways to go wrong, by keyword
    pairs, starts, num_epochs, *, factors, shares=strided, average=together, batch_size=trials.BATCH_SIZE, momentum=0
):
    """Run gradient descent in lock step; return histories of shape (num_ranks, num_steps + 1, 2)."""
    num_ranks, num_samples = len(pairs), len(pairs[0][0])
    points, moves = starts.copy(), np.zeros_like(starts)
    history = [points.copy()]
    for _ in range(num_epochs):
        of_ranks = [shares(rank, num_ranks, num_samples) for rank in range(num_ranks)]
        for first in range(0, len(of_ranks[0]), batch_size):
            gradients = np.zeros_like(points)
            for rank, (x, y) in enumerate(pairs):
                mine = of_ranks[rank][first : first + batch_size]
                error = points[rank, 0] * x[mine] + points[rank, 1] - y[mine]
                gradients[rank] = 2 * np.mean(error * x[mine]), 2 * np.mean(error)
            moves = momentum * moves - trials.RATE * np.array(factors)[:, np.newaxis] * average(gradients)
            points = points + moves
            history.append(points.copy())
    return np.array(history).transpose(1, 0, 2)


def imagined(inputs, num_ranks=NUM_RANKS):
    """Return the trial of ranks that communicate with nobody and suppose that the others have their own data."""
    data = trials.secrets(inputs)
    histories = {}
    for name, num_epochs in trials.NUM_EPOCHS.items():
        factors = (0,) * num_ranks if name == "apart" else (num_ranks,) * num_ranks
        of_all = [
            descend([of_rank[name].astype(float)] * num_ranks, np.zeros((num_ranks, 2)), num_epochs, factors=factors)
            for of_rank in data
        ]
        histories[name] = np.array([of_rank[rank] for rank, of_rank in enumerate(of_all)])
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


@pytest.mark.parametrize("num_ranks", [1, 2, 3, 4])
def test_right_training_has_all_properties(num_ranks):
    """A training with every property passes all checks, on one rank to four."""
    for seed in range(4):
        assert failing(simulate(num_ranks=num_ranks, seed=seed)) == {}


@pytest.mark.parametrize("num_ranks", [2, 3, 4])
def test_gradients_of_16_bits_are_right_whatever_the_inputs(num_ranks):
    """Gradients that are rounded to 16 bits, and added in 16 bits, fail no property for any inputs."""
    for seed in range(12):
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

    for seed in range(8):
        assert set(failing(simulate(num_ranks=4, seed=seed, shares=own_shuffle))) == {"shards"}


def test_a_permutation_seeded_by_the_rank_is_no_shard():
    """A seed of each rank's own, the same in every epoch, fits together by luck in about one trial of sixty."""

    def seeded(rank, num_ranks, num_samples):
        return np.random.default_rng(rank).permutation(num_samples)[rank::num_ranks]

    num_found = 0
    for seed in range(60):
        num_found += updates.uses_of_samples(simulate(num_ranks=3, seed=seed, shares=seeded)) != [1, 1]

    assert num_found >= 57


def test_ranks_that_imagine_each_other_fail_what_needs_communication():
    """A training without communication has none of the properties for which ranks must know of each other's data."""
    for seed in range(8):
        found = failing(imagined(trials.draw_inputs(NUM_RANKS, np.random.default_rng(seed))))

        assert set(found) >= {"start", "average", "serial"}
        assert "not averaged" in found["average"]


def broadcast_of_the_first(gradients):
    """Return the gradients of rank 0, for each rank."""
    return np.repeat(gradients[:1], len(gradients), axis=0)


def own_share_again(rank, num_ranks, num_samples):
    """Every rank takes its share of its share."""
    return strided(rank, num_ranks, num_samples)[rank::num_ranks]


def typed_in(num_typed):
    """Every rank takes its share among a number of ranks that somebody has typed."""
    return lambda rank, _, num_samples: np.arange(rank, num_samples, num_typed)


@pytest.mark.parametrize(
    ("missing", "expected", "property_name", "word"),
    [
        ({"shares": everything}, {"shards", "epochs", "serial"}, "shards", "no shard"),
        ({"shares": everything, "batch_size": 12}, {"shards"}, "shards", "no shard"),
        ({"shares": lambda _, *of: strided(0, *of)}, {"shards"}, "shards", "not disjoint and complete"),
        ({"shares": own_share_again}, {"shards", "epochs", "serial"}, "shards", "not complete"),
        ({"shares": typed_in(2)}, {"shards", "epochs", "serial"}, "shards", "not disjoint"),
        ({"shares": typed_in(4)}, {"shards", "epochs", "serial"}, "shards", "complete"),
        (
            {"shares": lambda rank, *of: strided(rank, *of)[:4]},
            {"shards", "epochs", "serial"},
            "shards",
            "not complete",
        ),
        ({"batch_size": 1000}, {"epochs", "serial"}, "serial", "is batch_size used"),
        ({"batch_size": 2}, {"epochs", "serial"}, "serial", "got 24 steps"),
        ({"broadcast": False}, {"start", "serial"}, "start", "not broadcast"),
        ({"average": alone}, {"average", "serial"}, "average", "by its own gradients"),
        ({"average": broadcast_of_the_first}, {"average", "serial"}, "average", "broadcast, not averaged"),
        ({"momentum": 0.9}, {"plain", "serial"}, "plain", "momentum of 0.9"),
        ({"factors": (1, 1, 1)}, {"rate", "serial"}, "rate", "not scaled"),
        ({"factors": (2, 2, 2)}, {"rate", "serial"}, "rate", "two ranks"),
        ({"factors": (2, 2, 1)}, {"rate", "serial"}, "rate", "one node only"),
        ({"factors": (9, 9, 9)}, {"rate", "serial"}, "rate", "summed"),
        ({"factors": (0, 1, 2)}, {"rate", "serial"}, "rate", "depends on the rank"),
        ({"broadcast": False, "average": alone}, {"start", "average", "serial"}, "average", "not averaged"),
        ({"average": alone, "momentum": 0.5}, {"average", "plain", "serial"}, "plain", "momentum of 0.5"),
    ],
)
def test_each_missing_property_is_told_apart(missing, expected, property_name, word):
    """Each fault fails its own property on three ranks, and of the others only the comparison with one process."""
    found = failing(simulate(num_ranks=3, **missing))

    assert {*found, "serial"} == {*expected, "serial"}
    assert word in found[property_name]


@pytest.mark.parametrize("num_ranks", [3, 4])
def test_a_mean_of_histories_costs_the_average_alone(num_ranks):
    """Ranks that train alone and average what they tell have their shards and rates, but no averaged gradients."""
    trained = simulate(num_ranks=num_ranks, average=alone)
    told = {name: together(history) for name, history in trained.histories.items()}
    found = failing(replace(trained, histories=told))

    assert {*found, "serial"} == {"average", "serial"}


def test_a_last_batch_that_is_left_out_is_told():
    """Shares of 5 or 6 samples in batches of 4 are two steps; where only whole batches are taken, it is one."""

    def whole_batches(rank, num_ranks, num_samples):
        mine = strided(rank, num_ranks, num_samples)
        return mine[: len(mine) // trials.BATCH_SIZE * trials.BATCH_SIZE]

    assert set(failing(simulate(num_ranks=4, shares=whole_batches))) == {"epochs", "serial"}


def test_ranks_that_wait_for_each_other_on_unequal_shards_lose_no_other_property():
    """What the trial on equal shards shows counts; that they waited costs the epochs."""
    found = failing(replace(simulate(num_ranks=4), stuck="rank 3 waits"))

    assert set(found) == {"epochs", "serial"}
    assert "rank 3 waits" in found["epochs"]


def test_all_missing_properties_are_named_at_once():
    """A training in which nothing was added fails every property."""
    missing = {"shares": everything, "broadcast": False, "average": alone, "factors": (1, 1), "momentum": 0.5}

    assert set(failing(simulate(**missing))) == set(CHECKS)


def test_rates_are_those_that_the_ranks_used():
    """The learning rate of each rank is read off to a thousandth, whatever the ranks average."""
    for average in (together, alone):
        found = updates.read_updates(simulate(average=average, factors=(1.5, 3)))

        assert found.rates == pytest.approx(trials.RATE * np.array([1.5, 3]), rel=1e-3)


def test_mean_of_something_else_is_not_averaged():
    """Updates with the median of the gradients are not updates with their mean."""

    def median(gradients):
        return np.repeat(np.median(gradients, axis=0)[np.newaxis], len(gradients), axis=0)

    found = failing(simulate(num_ranks=3, average=median))

    assert "not averaged" in found["average"]


def test_start_that_is_equal_by_luck_is_told():
    """Ranks that start together in one training, and apart when their variables are moved, do not broadcast."""
    equal, apart = simulate(), simulate(broadcast=False)
    mixed = replace(equal, histories={**equal.histories, "apart": apart.histories["apart"]})

    assert set(failing(mixed)) == {"start"}
    assert "by a seed" in failing(mixed)["start"]


def test_error_of_the_training_reaches_every_property():
    """When the training failed, each property says so and why."""
    found = failing(trials.Trial(NUM_RANKS, error="rank 1 raised ValueError"))

    assert set(found) == set(CHECKS)
    assert all("rank 1 raised ValueError" in message for message in found.values())
