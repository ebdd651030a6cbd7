"""What is read off the spies' steps, from steps computed here in NumPy: no ranks, exact causes."""

from __future__ import annotations

import numpy as np
import pytest

from coursekit.checks import CheckError, spy_steps, spy_trial
from coursekit.drivers.spy import Sight

NUM_CLASSES = 25
NUM_STEPS = 8
RATE = 0.3


def descend(*, average=True, broadcast_before=0, momentum=0.9, factors=(1, 1), rates=(RATE,) * NUM_STEPS):
    """Return the `Steps` of SGD with momentum in lock step, as Keras does it, with or without a property.

    Args:
        average: whether the ranks use the mean of their gradients, or each its own.
        broadcast_before: the step before which all ranks get the weights of rank 0; None for never.
        momentum: the share of the last move that is made again.
        factors: for each rank, of its rate.
        rates: of the steps.
    """
    num_ranks = len(factors)
    rng = np.random.default_rng(3)
    samples = rng.integers(0, NUM_CLASSES - 1, size=(num_ranks, NUM_STEPS, 4))
    bias = rng.normal(size=(num_ranks, NUM_CLASSES))
    move = np.zeros_like(bias)
    seen = []
    for step in range(NUM_STEPS):
        if step == broadcast_before:
            bias, move = (np.repeat(values[:1], num_ranks, axis=0) for values in (bias, move))
        seen.append(bias)
        softmax = np.exp(bias) / np.exp(bias).sum(axis=1, keepdims=True)
        own = softmax - np.eye(NUM_CLASSES)[samples[:, step] + 1].mean(axis=1)
        mean = np.repeat(own.mean(axis=0, keepdims=True), num_ranks, axis=0)
        used = mean if average else own
        move = momentum * move - rates[step] * np.array(factors)[:, np.newaxis] * used
        bias = bias + move
    return spy_steps.Steps(np.array(seen).swapaxes(0, 1), tuple(tuple(batches) for batches in samples))


def message(function, *args, **settings):
    """Return what the `CheckError` says that this call raises."""
    with pytest.raises(CheckError) as caught:
        function(*args, **settings)
    return str(caught.value)


def sights(steps, training=True):
    """Return what the spies of such steps write down, by rank."""
    return [
        [Sight(bias, batch, training) for bias, batch in zip(of_rank, batches)]
        for of_rank, batches in zip(steps.bias, steps.samples)
    ]


@pytest.mark.parametrize("factors", [(1, 1), (1, 1, 1), (0.5, 2.0)])
def test_rates_are_those_that_each_rank_used(factors):
    """With averaged gradients the rate of every rank and step is found, also one that changes."""
    line = np.linspace(0.1, 0.4, NUM_STEPS)
    # With unequal rates the ranks drift apart, and each gradient is that of its rank's own weights.
    found = spy_trial.rates(descend(factors=factors, rates=line))

    assert found == pytest.approx(np.outer(factors, line[2:-1]), rel=1e-6)


def test_rates_begin_at_the_step_asked_for():
    """From step 1 there is one rate more than from step 2; the last step shows none, as its update is not seen."""
    line = np.linspace(0.1, 0.4, NUM_STEPS)

    assert spy_trial.rates(descend(rates=line), first=1) == pytest.approx(np.tile(line[1:-1], (2, 1)), rel=1e-6)


def test_rates_without_momentum():
    """Plain SGD is read off when no momentum is expected, and refused where it is."""
    plain = descend(momentum=0.0)

    assert spy_trial.rates(plain, momentum=0.0) == pytest.approx(np.full((2, 5), RATE), rel=1e-6)
    assert "not those of SGD with momentum 0.9" in message(spy_trial.rates, plain)


def test_own_gradients_are_told_apart():
    """Ranks that use their own gradients have averaged nothing, with one start or several."""
    for start in (0, None):
        said = message(spy_trial.rates, descend(average=False, broadcast_before=start))
        assert "not averaged over the ranks" in said


def test_gradients_of_some_ranks_are_told_by_their_shares():
    """Ranks that all move by the gradients of one, a broadcast, are told so, and so is a missing momentum."""
    steps = descend()
    rate, move, bias = RATE, 0.0, steps.bias[0, 0]
    for step in range(NUM_STEPS):
        steps.bias[:, step] = bias
        move = 0.9 * move - rate * spy_steps.gradient(bias, steps.samples[1][step])
        bias = bias + move

    assert "in the shares 0.00, 1.00, expected 0.50 of each" in message(spy_trial.rates, steps)
    assert "expected momentum 0.9, got none" in message(spy_trial.rates, descend(momentum=0.0))


def test_bits_of_the_gradients():
    """Exact means travelled with 32 bits, with momentum or without; means of rounded gradients, with 16."""
    steps = descend()
    spy_trial.check_bits(steps, "none")
    spy_trial.check_bits(descend(momentum=0.0), "none")
    bias, move = steps.bias[0, 0], 0.0
    for step in range(NUM_STEPS):
        steps.bias[:, step] = bias
        rounded = np.mean([spy_steps.gradient(bias, of_rank[step]).astype(np.float16) for of_rank in steps.samples], 0)
        move = 0.9 * move - RATE * rounded.astype(float)
        bias = bias + move

    assert spy_trial.bits(steps) == 16
    assert "travel with 16 bits, not 32" in message(spy_trial.check_bits, steps, "none")


def test_updates_of_another_kind_are_no_rate():
    """Updates that are neither the mean's nor the own gradient's are refused, not fitted."""
    steps = descend()
    noise = np.random.default_rng(0).normal(size=steps.bias.shape[1:])

    assert "not those of SGD" in message(spy_trial.rates, spy_steps.Steps(steps.bias + noise, steps.samples))


def test_weights_that_stand_still():
    """A rate of zero is named as such."""
    assert "do not move" in message(spy_trial.rates, descend(rates=(0.0,) * NUM_STEPS))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"factors": (2, 2)}, "summed and not averaged, or the rate is scaled twice"),
        ({"factors": (0.5, 0.5)}, "the rate is not scaled"),
        ({"factors": (1.5, 1.5)}, "expected 0.3, got 0.45, 1.5 times as much in every step on every rank"),
        ({"factors": (1, 1.5)}, "the learning rate of a step on rank 1: expected 0.3, got 0.45: it depends"),
        ({"rates": (0.6, 0.5, 0.4) + (RATE,) * 5}, "the learning rate of a step on rank 0: expected 0.3, got 0.4"),
    ],
)
def test_wrong_rates_have_a_hint(settings, words):
    """The factor between the rates found and expected says what may be wrong."""
    found = spy_trial.rates(descend(**settings))

    assert words in message(spy_trial.check_rates, found, np.full(NUM_STEPS - 3, RATE), 2)


def test_right_rates_pass():
    """The rates expected pass, for every step its own."""
    line = np.linspace(0.1, 0.4, NUM_STEPS)

    spy_trial.check_rates(spy_trial.rates(descend(rates=line)), line[2:-1], 2)


@pytest.mark.parametrize("broadcast_before", [0, 1, 2])
def test_a_start_broadcast_by_step_2_is_the_same(broadcast_before):
    """A broadcast before the first step, or after it as Keras' callback does, gives all ranks the same weights."""
    spy_trial.check_same_weights(descend(broadcast_before=broadcast_before))


@pytest.mark.parametrize("broadcast_before", [None, 3])
def test_a_start_that_is_not_broadcast(broadcast_before):
    """Without a broadcast, or with a late one, the message says how far the ranks are apart."""
    steps = descend(broadcast_before=broadcast_before)
    gaps = np.abs(steps.bias[1] - steps.bias[0]).max(axis=1)

    assert message(spy_trial.check_same_weights, steps) == (
        f"the ranks start up to {gaps[0]:.3g} apart, and are still {gaps[2]:.3g} apart before step 2: "
        "the start is not broadcast"
    )


def test_training_alone_after_one_start_is_no_fault_of_the_start():
    """Ranks that begin alike and average nothing drift apart; that is the averaging's fault."""
    spy_trial.check_same_weights(descend(average=False))


def test_steps_are_the_training_among_the_sights():
    """What was seen in evaluation is left out; bias, samples and gradients are in rank and step order."""
    steps = descend()
    mixed = [[*seen[:3], Sight(seen[0].bias, seen[0].samples, training=False), *seen[3:]] for seen in sights(steps)]
    found = spy_steps.steps_of(mixed)

    assert found.num_steps == NUM_STEPS
    assert np.array_equal(found.bias, steps.bias)
    assert np.array_equal(found.samples, steps.samples)
    assert np.array_equal(found.gradients(), steps.gradients())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda seen: [seen[0], seen[1][:-1]], "the ranks made different numbers of steps: [8, 7]"),
        (lambda seen: [seen[0][:3], seen[1][:3]], "only 3 steps were made"),
        (lambda seen: [seen[0], []], "the network was never called in training mode"),
        (
            lambda seen: [seen[0], [Sight(sight.bias, sight.samples, training=False) for sight in seen[1]]],
            "never called",
        ),
        (lambda seen: [seen[0], [Sight(sight.bias / 0, sight.samples, training=True) for sight in seen[1]]], "finite"),
        (
            lambda seen: [seen[0], [Sight(sight.bias, sight.samples * 0 - 1, training=True) for sight in seen[1]]],
            "32 of 64 images do not have their record's colour: are the pixels from -1 to 1?",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the division by zero above
def test_sights_that_show_no_steps(change, words):
    """Unequal steps, too few, none in training mode, weights that ran away and unknown images are refused."""
    assert words in message(spy_steps.steps_of, change(sights(descend())))


def test_samples_of_the_ranks():
    """Every place in the files must belong to one rank, whatever each rank's files hold there."""
    bias = np.zeros((2, 2, 7))
    numbers = (np.array([3, 9, 0, 7, 5, 1]), np.array([2, 0, 8, 11, 30, 6]))
    told = tuple({"files": {"train": {"numbers": of_rank}}} for of_rank in numbers)

    def steps(*places):
        samples = [
            tuple(held[np.array(batch)] for batch in of_rank) for held, of_rank in zip(numbers, places, strict=True)
        ]
        return spy_steps.Steps(bias, tuple(samples))

    def said(*places):
        return message(spy_trial.check_samples, steps(*places), told)

    spy_trial.check_samples(steps([[0, 2], [4, 4]], [[1, 3, 5]]), told)
    assert "2 of 6 samples are used by several ranks" in said([[0, 1], [2, 3]], [[4, 5], [2, 3]])
    assert "1 of 6 samples are used by no rank" in said([[0, 1], [2]], [[4, 3]])
    assert "no shard" in said([[0, 1, 2], [3, 4, 5]], [[3, 4, 5], [0, 1, 2]])
    assert spy_trial.owners([np.array([0, 1]), np.array([1, 5])], 3) == {0: [0], 1: [0, 1], 2: []}
    foreign = spy_steps.Steps(bias, ((np.array([3, 4]),), (np.array([2]),)))
    assert "rank 0 trains on images that are not in its files" in message(spy_trial.check_samples, foreign, told)


def test_an_error_of_the_answer_reaches_every_property():
    """A launch that did not end well gives its reason instead of results."""
    said = message(spy_trial.SpyTrial(2, error="rank 1 raised ValueError").of_ranks)

    assert said == "the run did not end well: rank 1 raised ValueError"
