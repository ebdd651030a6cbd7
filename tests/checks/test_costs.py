"""Latency, bandwidth, equal sums: right answers pass with any input, near ones fail; by NumPy and closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from coursekit.checks import CheckError, costs, half_precision
from coursekit.checks.random_inputs import repeatable

NUM_INPUTS = 30


def fit(weights):
    """Return a fit of latency and bandwidth with weights for measurements."""

    def fit_cost(num_steps, num_bytes, seconds):
        rows = np.stack([num_steps, num_bytes], axis=1) * weights(seconds)[:, np.newaxis]
        return np.linalg.lstsq(rows, seconds * weights(seconds), rcond=None)[0]

    return fit_cost


@pytest.mark.parametrize("entropy", range(NUM_INPUTS))
def test_relative_errors_find_latency_and_bandwidth_and_absolute_ones_do_not(entropy):
    """Least squares of relative errors pass whatever the noise is; else large messages outvote small ones."""
    with repeatable(entropy):
        costs.check_fit_cost(fit(np.reciprocal), num_sizes=12)
    with repeatable(entropy), pytest.raises(CheckError, match="alpha"):
        costs.check_fit_cost(fit(np.ones_like), num_sizes=12)


def test_a_crossover_is_where_two_lines_meet():
    """The closed form and bisection of the model agree with the check."""

    def crossover(num_ranks, alpha, beta):
        few, many = 0.0, 1e15
        for _ in range(200):
            middle = (few + many) / 2
            ring = 2 * (num_ranks - 1) * (alpha + middle / num_ranks * beta)
            butterfly = np.log2(num_ranks) * (alpha + middle * beta)
            few, many = (few, middle) if ring < butterfly else (middle, many)
        return many

    costs.check_crossover(crossover, (4, 8, 64))
    with pytest.raises(CheckError, match=r"expected .* bytes, got 0; there the ring takes"):
        costs.check_crossover(lambda *_: 0, (4,))


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
            costs.check_same_sum(same_sum(factor), 64)
    with repeatable(entropy), pytest.raises(CheckError, match="expected “not the same”"):
        costs.check_same_sum(same_sum(1e4), 64)


@pytest.mark.parametrize(
    ("compare", "words"),
    [
        (lambda first, second, _: np.array_equal(first, second), "at most: expected “the same”"),
        (lambda first, second, _: np.allclose(first, second), "gradients of 4 ranks"),
        (lambda first, second, _: np.allclose(first, second, atol=0), "expected “(not )?the same”"),
        (lambda first, second, _: first - second == 0, "expected one truth value, got 200"),
    ],
)
def test_tolerances_typed_in_are_refused(compare, words):
    """Whatever fits one size of numbers is wrong for another."""
    with pytest.raises(CheckError, match=words):
        costs.check_same_sum(compare, 16)


def test_intervals_that_overlap_are_one_operation():
    """Sorted by their begin, a gap before an interval starts an operation; counting tensors or begins is refused."""

    def num_on_wire(intervals):
        number, reached = 0, -1
        for begin, end in sorted(intervals):
            number += begin > reached
            reached = max(reached, end)
        return number

    costs.check_num_on_wire(num_on_wire, 40)
    with pytest.raises(CheckError, match="the number of tensors"):
        costs.check_num_on_wire(len, 40)


def test_sixteen_bits_lose_what_numpy_loses():
    """A share counted number by number passes, and one by the smallest normal number does not."""

    def lost(tiniest):
        def share(gradients, scale):
            scaled = np.abs(gradients[gradients != 0].astype(float)) * scale
            return np.mean((scaled <= tiniest) | (scaled >= 65520))

        return share

    half_precision.check_lost_share(lost(2.0**-25), 3000)
    with pytest.raises(CheckError, match="share lost"):
        half_precision.check_lost_share(lost(2.0**-14), 3000)
