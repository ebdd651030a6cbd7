"""Lab 08: checks tell right from wrong whatever the inputs are; all is computed here, without ranks."""

import numpy as np
import pytest

from coursekit.checks import CheckError, lab08_pieces, lab08_sharding, lab08_training, lab08_validation
from coursekit.checks.check import repeatable
from coursekit.checks.steps import gradient
from coursekit.checks.trials import Trial
from coursekit.drivers.probe_model import Record

NUM_INPUTS = 20


def predict_bytes(kind, num_parameters, num_ranks):
    """Return what is held and sent, by the words of the lab's table."""
    numbers, n = 4 * num_parameters, num_ranks
    held = {"ddp": 4 * numbers, "zero": 2 * numbers + 2 * numbers / n, "fsdp": 4 * numbers / n}[kind]
    return {"held": held, "sent": (2 if kind == "ddp" else 3) * (numbers - numbers / n)}


def fewest_gpus(kind, num_parameters, memory_bytes, other_bytes):
    """Return the smallest power of two that fits."""
    fits = (
        n
        for n in (1, 2, 4, 8, 16, 32, 64)
        if predict_bytes(kind, num_parameters, n)["held"] + other_bytes <= memory_bytes
    )
    return next(fits, None)


@pytest.mark.parametrize("entropy", range(NUM_INPUTS))
def test_right_bytes_and_budgets_pass_whatever_the_cases_are(entropy):
    """Also where all fits exactly."""
    with repeatable(entropy):
        lab08_sharding.check_predict_bytes(predict_bytes, num_cases=5)
        lab08_sharding.check_fewest_gpus(fewest_gpus, predict_bytes, num_cases=40)


def test_a_budget_that_is_off_by_one_number_of_gpus_fails():
    """Twice as many GPUs fit as well, and are not the fewest."""

    def twice(*args):
        found = fewest_gpus(*args)
        return found and min(64, 2 * found)

    with repeatable(1), pytest.raises(CheckError, match=r"budget\."):
        lab08_sharding.check_fewest_gpus(twice, predict_bytes, num_cases=20)


@pytest.mark.parametrize(
    ("mistake", "code"),
    [
        (lambda *args: fewest_gpus(*args) or 64, "budget.no-none"),
        (lambda *args: fewest_gpus(*args[:3], 0.0), "budget.no-others"),
        (lambda *args: fewest_gpus(args[0], args[1] + 2**18, *args[2:]), "budget.wrong"),
    ],
)
def test_a_cause_is_named_that_explains_all_budgets(mistake, code):
    """And else the question is whether the prediction is right."""
    with repeatable(1), pytest.raises(CheckError, match=code):
        lab08_sharding.check_fewest_gpus(mistake, predict_bytes, num_cases=40)


def epochs_of(num_ranks, order_of):
    """Return the trial of ranks that take every N-th sample of an order for seed and epoch, filled up as DDP does."""
    results = []
    for rank in range(num_ranks):
        found = []
        for seed in (0, 1, 0):
            orders = [order_of(seed, epoch) for epoch in range(lab08_pieces.NUM_EPOCHS)]
            filled = [np.concatenate([order, order[: -len(order) % num_ranks]]) for order in orders]
            own = [order[rank::num_ranks] for order in filled]
            found.append([np.array_split(one, range(3, len(one), 3)) for one in own])
        results.append(found)
    return Trial(num_ranks, results)


def shuffled(seed, epoch):
    """Return an order of its own for seed and epoch."""
    return np.random.default_rng([seed, epoch]).permutation(lab08_pieces.NUM_SAMPLES)


@pytest.mark.parametrize("num_ranks", [2, 3, 4])
def test_orders_that_are_filled_up_are_shards(num_ranks):
    """Some samples come twice, so that all ranks have equally many."""
    lab08_pieces.check_shards(epochs_of(num_ranks, shuffled))
    lab08_pieces.check_order(epochs_of(num_ranks, shuffled))


@pytest.mark.parametrize(
    ("order_of", "code"),
    [
        (lambda seed, _: shuffled(seed, 0), "order.repeated"),
        (lambda _, epoch: shuffled(0, epoch), "order.fixed-seed"),
        (lambda *_: np.arange(lab08_pieces.NUM_SAMPLES), "order.not-shuffled"),
    ],
)
def test_an_order_that_does_not_change_is_refused(order_of, code):
    """With what is missing."""
    with pytest.raises(CheckError, match=code):
        lab08_pieces.check_order(epochs_of(3, order_of))


def evaluation(shares, result_of):
    """Return the trial of an evaluation in which ranks have seen these shares of 5 samples."""
    bias = np.array([0.5, 2.0, 0.1, 0.0, -1.0, 0.3])
    labels = np.array([[1, 1, 0, 2, 3], [1, 0, 0, 1, 2]])
    losses = np.log(np.exp(bias).sum()) - bias[labels]
    own = [losses[rank][share] for rank, share in enumerate(shares)]
    hits = [labels[rank][share] == 1 for rank, share in enumerate(shares)]
    result = {"loss": result_of(own), "accuracy": result_of(hits)}
    records = [[Record(bias, np.array(share), training=False)] for share in shares]
    private = tuple({"labels": one, "bias": bias} for one in labels)
    rest = {"result": result, "again": result, "is_changed": False, "is_trainable": True}
    return Trial(2, [{**rest, "records": one} for one in records], private=private)


def test_an_evaluation_weighs_samples_and_not_ranks():
    """Shares of 3 and 2 samples: the mean of the two means is another number."""
    shares = [[0, 2, 4], [1, 3]]
    right = evaluation(shares, lambda own: np.concatenate(own).mean())
    lab08_validation.check_once_each(right)
    lab08_validation.check_evaluate(right)
    with pytest.raises(CheckError, match=r"metrics.unweighted"):
        lab08_validation.check_evaluate(evaluation(shares, lambda own: np.mean([one.mean() for one in own])))


def test_a_sample_that_two_ranks_see_is_refused():
    """As a sampler that fills up would have it."""
    with pytest.raises(CheckError, match="1 of 5 samples"):
        lab08_validation.check_once_each(evaluation([[0, 2, 4], [1, 3, 0]], lambda own: np.concatenate(own).mean()))


def test_the_end_of_unequal_batches_by_both_divisors():
    """Two steps, the second with a batch on rank 1 alone."""
    bias, batches = np.zeros(5), [[np.array([0, 1])], [np.array([2]), np.array([3])]]
    pull = lab08_training.RATE_UNEQUAL * lab08_training.GAIN_UNEQUAL
    after = bias - pull * (gradient(bias, batches[0][0]) + gradient(bias, batches[1][0])) / 2
    last = gradient(after, batches[1][1])
    for by_all, divisor in ((True, 2), (False, 1)):
        found = lab08_training.weights_after(bias, batches, by_all=by_all)
        np.testing.assert_allclose(found, after - pull * last / divisor)
