"""Lab 06: right answers about costs and sums pass with any input, near ones fail; and the switch sees all messages."""

import sys

import cloudpickle
import numpy as np
import pytest

from coursekit.checks import CheckError, lab06_allreduce, lab06_costs
from coursekit.checks.check import repeatable
from coursekit.checks.on_ranks import run_on_ranks
from coursekit.drivers import lab06
from coursekit.drivers.calls import call

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules

NUM_INPUTS = 30


def fit(weights):
    """Return a fit of latency and bandwidth with weights for measurements."""

    def fit_cost(num_steps, num_bytes, seconds):
        rows = np.stack([num_steps, num_bytes], axis=1) * weights(seconds)[:, np.newaxis]
        return np.linalg.lstsq(rows, seconds * weights(seconds), rcond=None)[0]

    return fit_cost


@pytest.mark.parametrize("entropy", range(NUM_INPUTS))
def test_relative_errors_find_latency_and_bandwidth_and_absolute_ones_do_not(entropy):
    """Least squares of relative errors pass whatever the noise is; else large messages dominate the fit."""
    with repeatable(entropy):
        lab06_costs.check_fit_cost(fit(np.reciprocal), num_sizes=12)
    with repeatable(entropy), pytest.raises(CheckError, match="alpha"):
        lab06_costs.check_fit_cost(fit(np.ones_like), num_sizes=12)


def same_sum(factor):
    """Return a comparison whose tolerance is this many times the bound of rounding errors."""

    def compare(first, second, parts):
        bound = factor * len(parts) * np.finfo(parts.dtype).eps * np.abs(parts).sum(axis=0)
        return bool(np.all(np.abs(first - second) <= bound))

    return compare


@pytest.mark.parametrize("entropy", range(NUM_INPUTS))
def test_the_bound_of_rounding_errors_tells_sums_apart(entropy):
    """Twice and half of the bound do as well, whatever the numbers are, and a hundred times does not."""
    for factor in (0.5, 1, 2):
        with repeatable(entropy):
            lab06_costs.check_same_sum(same_sum(factor), 64)
    with repeatable(entropy), pytest.raises(CheckError, match=r"same-sum.too-lax"):
        lab06_costs.check_same_sum(same_sum(1e4), 64)


@pytest.mark.parametrize(("factor", "code"), [(8, "units.bits"), (1e3, "units.thousand"), (1e6, "units.million")])
def test_a_wrong_unit_is_named_with_its_factor(factor, code):
    """A crossover in bits, thousands or millions, too large or too small, says so, and another factor nothing."""

    def crossover(scale):
        def in_units(num_ranks, alpha, beta):
            rounds = np.log2(num_ranks)
            fewer = rounds - 2 * (num_ranks - 1) / num_ranks
            return scale * (2 * (num_ranks - 1) - rounds) * alpha / (fewer * beta)

        return in_units

    lab06_costs.check_crossover(crossover(1), (4, 8))
    for scale, expected in ((factor, code), (1 / factor, code), (5, "crossover.wrong")):
        with pytest.raises(CheckError) as caught:
            lab06_costs.check_crossover(crossover(scale), (4, 8))
        assert caught.value.code == expected


@pytest.mark.parametrize(
    ("numbers", "step", "code"),
    [
        ([20], 0, ""),
        ([11, 22], 1, "ring.chunk-too-long"),
        ([10], 1, "ring.not-added"),
        ([1], 1, "ring.not-added"),
        ([111], 1, "ring.finished-early"),
        ([21], 1, "ring.wrong-numbers"),
        ([444], 3, ""),
    ],
)
def test_the_examples_of_messages_in_a_ring_are_right(numbers, step, code):
    """Rank 1 of three may send its own, then sums with those of rank 0, then those of all."""
    own = np.array([[1, 2, 4], [10, 20, 40], [100, 200, 400]])
    allowed = [own[1], own[:2].sum(axis=0), own.sum(axis=0)][min(step, 2)]
    message = lab06_allreduce.Message(1, step, np.array(numbers), allowed, 1, own)
    found = [cause.code for cause, fits in lab06_allreduce.FAULTS.items() if fits(message)]
    assert (found or [""])[0] == code


def test_the_switch_sees_each_message_that_a_channel_counts():
    """What the last rank saw are number, target and bytes of all that the others sent."""

    def answer(channel, value):
        for other in range(channel.num_ranks):
            if other != channel.rank:
                channel.send(np.full(channel.rank + 1, value, np.float16), other)
        got = [channel.receive(other)[0] for other in range(channel.num_ranks) if other != channel.rank]
        return [float(sum(got)), channel.num_messages, channel.num_bytes]

    *results, seen = run_on_ranks(lab06.talk, answer, 3, wrapper=call, num_ranks=4, private=[1.0, 2.0, 4.0, None])
    assert [result for result, _ in results] == [[6.0, 2, 4], [5.0, 2, 8], [3.0, 2, 12]]
    found = sorted((source, target, numbers.tolist()) for source, target, numbers in seen)
    sent = {0: [1.0], 1: [2.0] * 2, 2: [4.0] * 3}
    assert found == [(one, other, sent[one]) for one in range(3) for other in range(3) if one != other]
