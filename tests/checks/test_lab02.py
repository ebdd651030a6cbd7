"""What is read off trajectories is right whatever the inputs are: trajectories computed here in NumPy, without ranks.

What each wrong training is told, the bank of lab 02 holds on real ranks (tests/answers).
"""

import sys
from types import SimpleNamespace

import cloudpickle
import numpy as np
import pytest

from coursekit.checks import CheckError, lab02_inputs, lab02_pieces, lab02_properties, lab02_trial, lab02_updates

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules

NUM_RANKS = 2
CHECKS = {
    "start": lambda trial: lab02_properties.check_same_start(trial, most_steps=0),
    "random": lab02_properties.check_random_start,
    "average": lab02_properties.check_averaged,
    "shards": lab02_properties.check_shards,
    "rate": lab02_properties.check_rate,
    "epochs": lab02_properties.check_epochs,
    "plain": lab02_properties.check_plain,
    "serial": lab02_properties.check_equals_serial,
}


def simulate(*, num_ranks=NUM_RANKS, seed=5, factors=None, **how):
    """Return the trial of a training that is simulated in NumPy, with these factors of each rank's rate."""
    rng = np.random.default_rng(seed)
    inputs = lab02_inputs.draw_inputs(num_ranks, rng)
    data = lab02_inputs.private_of(inputs)
    histories = {}
    for name, num_epochs in lab02_inputs.NUM_EPOCHS.items():
        starts = inputs.starts.astype(float) if name == "apart" else rng.normal(size=(num_ranks, 2))
        starts = np.repeat(starts[:1].astype(np.float32), num_ranks, axis=0).astype(float)
        rates = inputs.rates()[name] * np.array(factors or (num_ranks,) * num_ranks)
        size = lab02_inputs.REAL_BATCH_SIZE if name == "real" else lab02_inputs.BATCH_SIZE
        pairs = [of_rank[name].astype(float) for of_rank in data]
        histories[name] = descend(pairs, starts, num_epochs, size, rates, **how)
    histories["starts"] = np.repeat(rng.normal(size=(1, lab02_inputs.NUM_TRAININGS, 2)), num_ranks, axis=0)
    return lab02_trial.TrainingTrial(num_ranks, by_rank(histories), inputs=inputs)


def by_rank(histories):
    """Return of each rank its histories, by training."""
    return [dict(zip(histories, of_rank)) for of_rank in zip(*histories.values())]


def strided(rank, num_ranks, num_samples):
    """Every rank takes its own share."""
    return np.arange(rank, num_samples, num_ranks)


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


def mean_of(squared, batch_size):
    """Return the mean over the samples of a batch."""
    del batch_size
    return np.mean(squared, axis=0)


def nothing(step, places):
    """Add nothing to the gradients of a step."""
    del step
    return 0 * places


def descend(  # noqa: PLR0913  # ways to go wrong
    pairs,
    starts,
    num_epochs,
    batch_size,
    rates,
    *,
    shares=strided,
    average=together,
    loss=mean_of,
    added=nothing,
    limit=np.inf,
):
    """Run gradient descent in lock step and 32 bits; return histories of shape (num_ranks, num_steps + 1, 2)."""
    num_ranks, num_samples = len(pairs), len(pairs[0][0])
    points = starts.copy()
    history = [points.copy()]
    for _ in range(num_epochs):
        of_ranks = [shares(rank, num_ranks, num_samples) for rank in range(num_ranks)]
        for first in range(0, len(of_ranks[0]), batch_size):
            gradients = np.zeros_like(points)
            for rank, (x, y) in enumerate(pairs):
                mine = of_ranks[rank][first : first + batch_size]
                error = points[rank, 0] * x[mine] + points[rank, 1] - y[mine]
                gradients[rank] = loss(
                    2 * error[:, np.newaxis] * np.stack([x[mine], np.ones(len(mine))], axis=1), batch_size
                )
            downhill = average(gradients) + added(len(history), points)
            points = points - rates[:, np.newaxis] * np.clip(downhill, -limit, limit)
            points = points.astype(np.float32).astype(float)
            history.append(points.copy())
    return np.array(history).transpose(1, 0, 2)


def failing(trial):
    """Return the names of the properties that do not hold, with the code of each fault and its message."""
    found = {}
    for name, check in CHECKS.items():
        try:
            check(trial)
        except CheckError as error:  # noqa: PERF203  # five rounds
            found[name] = (error.code, str(error))
    return found


@pytest.mark.parametrize("num_ranks", [1, 2, 3, 4])
def test_right_training_has_all_properties(num_ranks):
    """A training with every property passes all checks, on one rank to four."""
    rng = np.random.default_rng(11)

    def shuffled(*args):
        return rng.permutation(strided(*args))

    for seed in range(4):
        assert failing(simulate(num_ranks=num_ranks, seed=seed, shares=shuffled)) == {}


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, shape: rng.uniform(0, 1, shape),
        lambda rng, shape: rng.uniform(-1, 1, shape),
        lambda rng, shape: rng.normal(0, 0.05, shape),
        lambda rng, shape: rng.normal(0, 3, shape),
        lambda rng, shape: np.abs(rng.normal(size=shape)),
        lambda _, shape: np.zeros(shape),
        lambda _, shape: np.full(shape, 0.5),
    ],
)
def test_a_start_at_other_random_numbers_is_told_whatever_the_draw(draw):
    """Of each distribution that initialisers of Keras have, and of typed numbers; standard normal ones pass."""
    for seed in range(20):
        trial, rng = simulate(seed=seed), np.random.default_rng(seed)
        assert "random" not in failing(trial)
        for of_rank in trial.results:
            of_rank["starts"] = draw(rng, of_rank["starts"].shape)
            for name in lab02_inputs.NUM_EPOCHS.keys() - {"apart"}:
                of_rank[name][0] = draw(rng, (2,))
        with pytest.raises(CheckError) as caught:
            lab02_properties.check_random_start(trial)
        assert caught.value.code == "start.not-normal"


def test_weights_of_64_bits_are_told():
    """They follow the same steps, and are no numbers of 32 bits."""
    trial = simulate()
    for of_rank in trial.results:
        of_rank["real"] *= 1 + 1e-9
    assert {name: code for name, (code, _) in failing(trial).items()} == {"serial": "weights.not-32-bits"}


def by_sign(gradients):
    """Return steps of the same length whatever the gradients are, as Adam's are at first."""
    return np.sign(together(gradients))


@pytest.mark.parametrize(
    ("how", "factors", "codes"),
    [
        (by_sign, (3, 3, 3), dict.fromkeys(("average", "shards", "rate"), "updates.unexplained")),
        (together, (-3, -3, -3), {"average": "gradients.sometimes-averaged", "rate": "rate.wrong"}),
    ],
)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_steps_that_follow_no_gradient_are_told_whatever_the_inputs(how, factors, codes):
    """Steps of another optimiser are named, and steps uphill say nothing against the shards."""
    for seed in range(3):
        found = failing(simulate(num_ranks=3, seed=seed, average=how, factors=factors))

        assert {name: code for name, (code, _) in found.items() if name in {"average", "shards", "rate"}} == codes


@pytest.mark.parametrize("num_ranks", [2, 3, 4])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # those of the long training are too large
def test_gradients_of_16_bits_are_told_whatever_the_inputs(num_ranks):
    """Gradients that are rounded to 16 bits, and added in 16 bits, cost no other property for any inputs."""
    for seed in range(12):
        found = failing(simulate(num_ranks=num_ranks, seed=seed, average=together_in_16_bits))

        assert found.keys() == {"plain", "serial"}
        assert {code for code, _ in found.values()} == {"gradients.rounded"}


@pytest.mark.parametrize("num_ranks", [2, 3, 4])
@pytest.mark.parametrize("averaged", [0, 1])
def test_one_averaged_variable_of_two_fails_as_an_average_whatever_the_inputs(averaged, num_ranks):
    """Where one gradient of two is averaged, rate, shards and the plain step are read right in 32 bits, by no luck."""

    def one_of_two(gradients):
        return np.where(np.arange(2) == averaged, together(gradients), gradients)

    for seed in range(25):
        assert set(failing(simulate(num_ranks=num_ranks, seed=seed, average=one_of_two))) == {"average", "serial"}, seed


def sum_by_batch_size(squared, batch_size):
    """Return the sum over the samples of a batch, divided by the size of full ones."""
    return np.sum(squared, axis=0) / batch_size


@pytest.mark.parametrize(
    ("how", "code", "facts"),
    [
        ({"added": lambda _, places: 1e-3 * places}, "weight-decay.unasked", "0.001 times the slope and 0.001"),
        ({"added": lambda _, places: 1e-4 * places}, "weight-decay.unasked", "0.0001 times the slope and 0.0001"),
        ({"added": lambda _, places: [2e-2, 0] * places}, "weight-decay.unasked", "0.02 times the slope and 0"),
        ({"added": lambda _, places: [0, 2e-4] * places}, "weight-decay.unasked", "0 times the slope and 0.0002"),
        ({"added": lambda step, places: 1e-3 * (step > 30) * places}, "updates.not-plain", "step 31 of 52"),
        ({"limit": 1e4}, "updates.not-plain", ""),
        ({"limit": 1e15}, "updates.not-plain", ""),
        ({"loss": sum_by_batch_size}, "loss.fixed-size", ""),
    ],
)
def test_what_is_added_to_plain_steps_is_told_whatever_the_inputs(how, code, facts):
    """It costs no other property, however little it is."""
    for seed in range(3):
        for num_ranks in (3, 4):
            found = failing(simulate(num_ranks=num_ranks, seed=seed, **how))

            assert found.keys() == {"plain", "serial"}
            assert found["plain"][0] == code
            assert facts in found["plain"][1]


def cut(rank, num_ranks, num_samples):
    """Give every rank as many samples as the others, so that the rest is lost."""
    return strided(rank, num_ranks, num_samples // num_ranks * num_ranks)


def padded(rank, num_ranks, num_samples):
    """Give every rank as many samples as the others, some of them twice."""
    return np.resize(strided(rank, num_ranks, num_samples), -(-num_samples // num_ranks))


@pytest.mark.parametrize(("shares", "code"), [(cut, "shards.cut"), (padded, "shards.padded")])
@pytest.mark.parametrize("shuffled", [False, True])
def test_shards_of_equal_size_are_told_whatever_the_inputs(shares, code, shuffled):
    """Also where each rank shuffles its shard, as Keras does."""
    rng = np.random.default_rng(3)

    def shards(*args):
        return rng.permutation(shares(*args)) if shuffled else shares(*args)

    for seed in range(5):
        found = failing(simulate(num_ranks=3, seed=seed, shares=shards))

        assert found.keys() == {"shards", "serial"}
        assert found["shards"][0] == code


def test_a_permutation_seeded_by_the_rank_is_no_shard():
    """A seed of each rank's own, the same in every epoch, fits together by luck in about one trial of sixty."""

    def seeded(rank, num_ranks, num_samples):
        return np.random.default_rng(rank).permutation(num_samples)[rank::num_ranks]

    num_found = 0
    for seed in range(60):
        num_found += lab02_updates.uses_of_samples(simulate(num_ranks=3, seed=seed, shares=seeded)) != [1, 1]

    assert num_found >= 57


def test_rates_are_those_that_the_ranks_used():
    """The learning rate of each rank is read off to a thousandth, whatever the ranks average."""
    for average in (together, alone):
        found = lab02_updates.read_updates(simulate(average=average, factors=(1.5, 3)))

        assert found.rates == pytest.approx(lab02_inputs.RATE * np.array([1.5, 3]), rel=1e-3)


def mean_by_horovod(gradients):
    """Return the means over the ranks."""
    import horovod.tensorflow as hvd

    return [hvd.allreduce(gradient) for gradient in gradients]


def test_a_mean_next_to_zero_is_no_sum(monkeypatch):
    """Gradients of the ranks may cancel out: their mean is then as good as their sum, and right."""
    signs = iter([1, 1, 1, 1, -1, -2, -1, -1])  # not of the second, large one, of which the check takes the size
    opposed = SimpleNamespace(normal=lambda mean, spread, shape: next(signs) * np.full(shape, mean + spread))
    monkeypatch.setattr(lab02_pieces, "fresh_rng", lambda: opposed)

    lab02_pieces.check_average(mean_by_horovod, num_ranks=2)
