"""The references of lab 01 against closed forms, and each check against a right and a wrong answer."""

import numpy as np
import pytest

from coursekit.checks import CheckError, lab01_linear, lab01_stability


@pytest.fixture
def case():
    """A random model and data set."""
    return lab01_linear.random_case(np.random.default_rng(7))


def loss(slope, offset, x, y):
    """The loss in one line of NumPy."""
    return np.mean((slope * x + offset - y) ** 2)


def gradient(slope, offset, x, y):
    """Its gradient, derived by hand."""
    error = slope * x + offset - y
    return 2 * np.mean(error * x), 2 * np.mean(error)


def test_references_equal_the_closed_forms(case):
    """Loss, gradient, Hessian and limit of the checks equal the formulas of the lab."""
    x = case[2]
    hessian = 2 * np.array([[np.mean(x * x), np.mean(x)], [np.mean(x), 1]])

    assert lab01_linear.reference_loss(*case) == pytest.approx(loss(*case))
    assert lab01_linear.reference_gradient(*case) == pytest.approx(gradient(*case))
    assert lab01_linear.reference_hessian(x) == pytest.approx(hessian)
    assert lab01_linear.reference_limit(x) == pytest.approx(2 / np.linalg.eigvalsh(hessian).max())


def test_a_gradient_that_follows_the_step_is_no_reference():
    """Solved backwards from what the step returned, or constant, it does not make a wrong step right."""
    last = {"step": (1.0, 2.0), "rate": 0.1}

    def step(slope, offset, x, y, learning_rate):
        last.update(step=(slope + offset, x[0] + y[0]), rate=learning_rate)
        return last["step"]

    def backwards(slope, offset, x, y):
        del x, y
        rate = last["rate"] or 1.0
        return (slope - last["step"][0]) / rate, (offset - last["step"][1]) / rate

    def constant_step(slope, offset, x, y, learning_rate):
        del x, y
        return slope - 3 * learning_rate, offset - 4 * learning_rate

    with pytest.raises(CheckError):
        lab01_linear.check_step(step, backwards)
    with pytest.raises(CheckError):
        lab01_linear.check_step(constant_step, lambda *_: (3.0, 4.0))


def test_a_hessian_that_follows_the_limit_is_no_reference():
    """Made from what the limit was, or constant, it does not make a wrong limit right."""
    last = [1.0]

    def limit(x):
        last[0] = abs(float(x[0])) + 3
        return last[0]

    with pytest.raises(CheckError):
        lab01_stability.check_largest_stable_rate(limit, lambda _: 2 / last[0] * np.eye(2))
    with pytest.raises(CheckError):
        lab01_stability.check_largest_stable_rate(lambda _: 0.5, lambda _: 4 * np.eye(2))


def test_valleys_are_decided_late_and_clearly():
    """Next to the limit the loss first falls on both sides, and after the steps asked for it is far from undecided."""
    rng = np.random.default_rng(5)
    for low, high in lab01_stability.INTERVALS:
        x = rng.uniform(low, high, 200)
        y, limit, found = lab01_stability.data_in_a_valley(rng, x), lab01_linear.reference_limit(x), {}
        for factor in (0.98, 1.02):
            point = np.array([0.5, 0.8])
            for number in range(1, lab01_stability.NUM_STEPS + 1):
                point = point - factor * limit * np.array(gradient(*point, x, y))
                found[factor, number] = loss(*point, x, y) / loss(0.5, 0.8, x, y)

        assert max(found[factor, 10] for factor in (0.98, 1.02)) < 1
        assert found[0.98, lab01_stability.NUM_STEPS] < 0.1
        assert found[1.02, lab01_stability.NUM_STEPS] > 1000


def test_a_sample_on_the_line_moves_nothing():
    """A right step passes with a seed whose single sample lies so near the line that the step hardly moves."""

    def tape_step(slope, offset, x, y, learning_rate):
        d_slope, d_offset = gradient(slope, offset, x, y)
        value = loss(slope, offset, x, y)
        slope.assign_sub(learning_rate * d_slope)
        offset.assign_sub(learning_rate * d_offset)
        return value

    lab01_linear.check_tape_step(tape_step, seed=12989)
