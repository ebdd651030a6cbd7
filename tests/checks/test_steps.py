"""What is read off the probes' steps, and that these follow from what ranks were told: no ranks, exact causes.

What each wrong training is told, the banks of labs 03 and 04 hold on real ranks (tests/answers).
"""

from dataclasses import replace

import numpy as np
import pytest

from coursekit.checks import CheckError, private_data
from coursekit.checks.check import repeatable
from coursekit.checks.lab04_updates import Updates, check_direction
from coursekit.checks.private_data import check_samples
from coursekit.checks.rates import check_rates, rates_alone
from coursekit.checks.rates import rates as rates_of
from coursekit.checks.steps import Steps, steps_of
from coursekit.drivers.probe_model import Record

NUM_CLASSES, NUM_STEPS, BATCH_SIZE, RATE = 25, 8, 4, 0.3


def descend(  # noqa: PLR0913  # ways to go
    starts, samples, *, momentum=0.9, factors=1, rates=(RATE,) * NUM_STEPS, broadcast_before=0, average=True
):
    """Return the `Steps` of SGD with momentum, as Keras does it, with these factors of each rank's rate.

    The samples have the shape (num_ranks, num_steps, batch size). All ranks get rank 0's weights before one step.
    """
    bias = np.array(starts, dtype=float)
    move, seen = np.zeros_like(bias), []
    for step in range(NUM_STEPS):
        if step == broadcast_before:
            bias, move = (np.repeat(values[:1], len(bias), axis=0) for values in (bias, move))
        seen.append(bias)
        softmax = np.exp(bias) / np.exp(bias).sum(axis=1, keepdims=True)
        own = softmax - np.eye(NUM_CLASSES)[samples[:, step] + 1].mean(axis=1)
        gradients = own.mean(axis=0, keepdims=True) if average else own
        move = momentum * move - rates[step] * np.reshape(factors, (-1, 1)) * gradients
        bias = bias + move
    return Steps(np.array(seen).swapaxes(0, 1), tuple(tuple(batches) for batches in samples))


def of_two_ranks(factors=(1, 1), **how):
    """Return the `Steps` of as many ranks as there are factors, from one start."""
    rng = np.random.default_rng(3)
    samples = rng.integers(0, NUM_CLASSES - 1, size=(len(factors), NUM_STEPS, BATCH_SIZE))
    return descend(rng.normal(size=(len(factors), NUM_CLASSES)), samples, factors=factors, **how)


def as_told(private, **how):
    """Return the `Steps` of ranks that begin where they were told, with the samples that they were told."""
    samples = np.array([given["samples"].reshape(NUM_STEPS, BATCH_SIZE) for given in private])
    return descend([given["starts"][0] for given in private], samples, **how)


def private_inputs(num_ranks=2):
    """Return private inputs of ranks, the same in every test."""
    with repeatable(7):
        return private_data.draw_private(num_ranks, NUM_CLASSES, num_rounds=2, num_samples=NUM_STEPS * BATCH_SIZE)


def descend_by_probabilities(seed, num_before=0):
    """Return the `Steps` of SGD in 32 bits with Keras' own loss for probabilities, which gets logits.

    `num_before` steps are made before those that are seen.
    """
    import tensorflow as tf

    loss_of, rng = tf.keras.losses.SparseCategoricalCrossentropy(), np.random.default_rng(seed)
    samples = rng.integers(0, NUM_CLASSES - 1, size=(2, num_before + NUM_STEPS, 4))
    bias = rng.normal(size=NUM_CLASSES).astype(np.float32)
    move, seen = np.zeros_like(bias), []
    for step in range(num_before + NUM_STEPS):
        seen.append(bias)
        variable = tf.Variable(bias)
        with tf.GradientTape() as tape:
            loss = loss_of(samples[:, step].ravel() + 1, tf.zeros((8, 1)) + variable)
        move = np.float32(0.9) * move - np.float32(RATE) * tape.gradient(loss, variable).numpy()
        bias = bias + move
    seen, samples = seen[num_before:], samples[:, num_before:]
    return Steps(np.array([seen] * 2, dtype=float), tuple(tuple(batches) for batches in samples))


def code(function, *args, **settings):
    """Return the code of the `CheckError` that this call raises."""
    with pytest.raises(CheckError) as caught:
        function(*args, **settings)
    return caught.value.code


def records(steps, training=True):
    """Return what the probes of such steps write down, by rank."""
    return [
        [Record(bias, batch, training) for bias, batch in zip(of_rank, batches)]
        for of_rank, batches in zip(steps.bias, steps.samples)
    ]


@pytest.mark.parametrize("factors", [(1, 1), (1, 1, 1), (0.5, 2.0)])
def test_rates_are_those_that_each_rank_used(factors):
    """With averaged gradients the rate of every rank and step is found, also one that changes."""
    line = np.linspace(0.1, 0.4, NUM_STEPS)
    # With unequal rates the ranks drift apart, and each gradient is that of its rank's own weights.
    found = rates_of(of_two_ranks(factors=factors, rates=line))

    assert found == pytest.approx(np.outer(factors, line[2:-1]), rel=1e-6)


def test_rates_begin_at_the_step_asked_for():
    """From step 1 there is one rate more than from step 2; the last step shows none, as its update is not seen."""
    line = np.linspace(0.1, 0.4, NUM_STEPS)

    assert rates_of(of_two_ranks(rates=line), first=1) == pytest.approx(np.tile(line[1:-1], (2, 1)), rel=1e-6)


def test_rates_without_momentum():
    """Plain SGD is read off when no momentum is expected, and refused where it is."""
    plain = of_two_ranks(momentum=0.0)

    assert rates_of(plain, momentum=0.0) == pytest.approx(np.full((2, 5), RATE), rel=1e-6)
    assert code(rates_of, plain) == "momentum.missing"


@pytest.mark.parametrize("seed", [0, 54, 67])
def test_a_loss_that_takes_logits_for_probabilities(seed):
    """It is named, and the rate of the steps is found, where steps have no gradient (54) or weights run away (67)."""
    steps = descend_by_probabilities(seed)

    assert code(rates_of, steps) == "loss.no-logits"
    assert rates_alone(steps) == pytest.approx(RATE, rel=1e-2)


def test_a_loss_that_takes_logits_for_probabilities_in_a_continued_training():
    """It is named also where the weights have run so far away that momentum alone moves them."""
    assert code(rates_of, descend_by_probabilities(38, num_before=8)) == "loss.no-logits"


@pytest.mark.parametrize(("seed", "rests"), [(0, True), (2, True), (6, False)])
def test_a_kernel_without_a_gradient_is_not_frozen(seed, rests):
    """Logits taken for probabilities are named in lab 04 also where the weight of class 0, and so the kernel, rests."""
    steps = descend_by_probabilities(seed)
    kernels = 1 + steps.bias[:, :, 0] - steps.bias[:, :1, 0]
    assert (np.ptp(kernels) == 0) == rests

    assert code(check_direction, Updates(steps, RATE, -1, BATCH_SIZE, kernels)) == "loss.no-logits"


def test_a_frozen_kernel_or_bias():
    """Either is named in lab 04, and both."""
    steps = of_two_ranks()
    rest = replace(steps, bias=np.ones_like(steps.bias))
    for seen, kernels, expected in (
        (steps, rest.bias[:, :, 0], "weights.partly-frozen"),
        (rest, steps.bias[:, :, 0], "weights.partly-frozen"),
        (rest, rest.bias[:, :, 0], "weights.frozen"),
    ):
        assert code(check_direction, Updates(seen, RATE, -1, BATCH_SIZE, kernels)) == expected


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({"rates": (0.0,) * NUM_STEPS}, "weights.frozen"),
        ({"average": False}, "gradients.not-averaged"),
        ({"rates": np.resize((RATE, -RATE), NUM_STEPS)[:, np.newaxis] * np.eye(NUM_CLASSES)[0]}, "updates.unexplained"),
    ],
)
def test_updates_that_the_mean_gradient_does_not_explain(how, expected):
    """Who stands still, or goes alone or anywhere, is told so."""
    assert code(rates_of, of_two_ranks(**how)) == expected


@pytest.mark.parametrize(
    ("factors", "expected"),
    [
        (2.0, "rate.scaled-twice"),
        (0.5, "rate.not-scaled"),
        (np.array([[1.0], [1.5]]), "rate.uneven"),
        (1.3, "rate.wrong"),
        (0.4 / np.linspace(0.1, 0.4, 5), "rate.no-warm-up"),
        (np.array([1.0, 2.0, 1.0, 1.0, 1.0]), "rate.wrong"),
    ],
)
def test_rates_are_held_against_the_expected_ones(factors, expected):
    """As many times too large or too small as there are ranks, on one rank alone, or without the warm-up's line."""
    line = np.linspace(0.1, 0.4, 5)
    check_rates(np.tile(line, (2, 1)), line, 2)

    assert code(check_rates, np.tile(line, (2, 1)) * factors, line, 2) == expected


def test_steps_are_the_training_among_the_records():
    """What was seen in evaluation is left out; bias, samples and gradients are in rank and step order."""
    steps = of_two_ranks()
    mixed = [[*seen[:3], Record(seen[0].bias, seen[0].samples, training=False), *seen[3:]] for seen in records(steps)]
    found = steps_of(mixed)

    assert found.num_steps == NUM_STEPS
    assert np.array_equal(found.bias, steps.bias)
    assert np.array_equal(found.samples, steps.samples)
    assert np.array_equal(found.gradients(), steps.gradients())


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda seen: [seen[0], seen[1][:-1]], "steps.uneven"),
        (lambda seen: [seen[0][:3], seen[1][:3]], "steps.too-few"),
        (lambda seen: [seen[0], []], "training-mode.off"),
        (lambda seen: [seen[0], [replace(one, training=False) for one in seen[1]]], "training-mode.off"),
        (lambda seen: [seen[0], [replace(one, bias=one.bias / 0) for one in seen[1]]], "weights.not-finite"),
        (lambda seen: [seen[0], [replace(one, samples=one.samples[:0]) for one in seen[1]]], "batches.empty"),
        (lambda seen: [seen[0], [replace(one, samples=one.samples * 0 - 1) for one in seen[1]]], "images.foreign"),
        (lambda seen: [seen[0], [replace(one, samples=one.samples + 50) for one in seen[1]]], "images.foreign"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the division by zero above
def test_records_that_show_no_steps(change, expected):
    """Unequal steps, too few, none in training mode, weights that ran away and unknown images are refused."""
    assert code(steps_of, change(records(of_two_ranks()))) == expected


def test_images_of_another_ranks_files_are_told():
    """Every place in the files must belong to one rank, whatever each rank's files hold there."""
    numbers = (np.array([3, 9, 0, 7, 5, 1]), np.array([2, 0, 8, 11, 30, 6]))
    told = tuple({"files": {"train": {"counts": [2, 2, 2], "numbers": of_rank}}} for of_rank in numbers)
    places = ([np.array([0, 2]), np.array([4, 4])], [np.array([1, 3, 5])])
    own = [tuple(held[batch] for batch in of_rank) for held, of_rank in zip(numbers, places)]
    bias = np.zeros((2, 2, 7))

    check_samples(Steps(bias, tuple(own)), told, 2)
    foreign = Steps(bias, ((np.array([3, 4]),), (np.array([2]),)))
    assert code(check_samples, foreign, told, 2) == "images.foreign"


def test_private_inputs_differ():
    """No two ranks and no two rounds have one start, no two ranks a sample, and each run draws anew."""
    first, second = private_data.draw_private(2, NUM_CLASSES, num_rounds=2, num_samples=12, files={"train": (3, 2)})
    starts = np.concatenate([first["starts"], second["starts"]])

    assert len(np.unique(starts.round(5), axis=0)) == 4
    assert not set(first["samples"]) & set(second["samples"])
    assert first["files"]["train"]["counts"] == [3, 2]
    assert len(set(first["files"]["train"]["numbers"])) == 5
    assert first["files"]["train"]["labels"].tolist() == (first["files"]["train"]["numbers"] + 1).tolist()
    assert not np.array_equal(first["starts"], private_data.draw_private(2, NUM_CLASSES, num_rounds=2)[0]["starts"])


def test_samples_are_told_by_their_place_in_the_files():
    """Images and labels become places; what is not in the files is not a place; wrong pairs stay wrong."""
    given = {"files": {"train": {"numbers": np.array([9, 4, 200])}}}

    assert private_data.places_in_files(np.array([200, 9, 5, -1, 216, 4]), given).tolist() == [2, 0, -1, -1, -1, 1]
    batches = [([4, 9], [5, 10]), ([4], [4]), ([4], ["5"])]
    found = private_data.batches_in_files([(np.array(one), np.array(labels)) for one, labels in batches], given)
    assert [(samples.tolist(), labels.tolist()) for samples, labels in found] == [
        ([1, 0], [2, 1]),
        ([1], [-1]),
        ([1], [-1]),
    ]


@pytest.mark.parametrize("num_ranks", [1, 2, 3])
@pytest.mark.parametrize("broadcast_before", [0, 1, 2, None])
@pytest.mark.parametrize("average", [True, False])
def test_what_was_computed_follows(num_ranks, broadcast_before, average):
    """Whenever a start is broadcast, and whether gradients are averaged or not, the weights follow."""
    private = private_inputs(num_ranks)
    steps = as_told(private, broadcast_before=broadcast_before, average=average)

    private_data.check_follows(steps, private)
    private_data.check_sent(steps.samples, private)


@pytest.mark.parametrize("first_forged", [1, 2])
def test_weights_that_jump_are_refused(first_forged):
    """Ranks that report their own start, and then what they agreed on beforehand, are found out."""
    private = private_inputs()
    chosen = [{**given, "starts": np.full_like(given["starts"], 0.1)} for given in private]
    real, forged = as_told(private, broadcast_before=None, average=False), as_told(chosen)
    bias = np.concatenate([real.bias[:, :first_forged], forged.bias[:, first_forged:]], axis=1)

    assert code(private_data.check_follows, Steps(bias, real.samples), private) == "updates.impossible"


def test_other_samples_than_those_sent_are_refused():
    """Samples that a rank did not get are named; fewer than sent are no fault of theirs, nor are they when repeated."""
    private = private_inputs()
    steps = as_told(private)
    few = [of_rank[:2] for of_rank in steps.samples]

    private_data.check_sent(few, private)
    private_data.check_sent([[*of_rank, of_rank[0]] for of_rank in few], private, 2 * BATCH_SIZE)
    assert code(private_data.check_sent, [steps.samples[0], steps.samples[0]], private) == "images.foreign"
