"""The references of lab 01 against closed forms, and each check against a right and a wrong answer."""

from __future__ import annotations

import numpy as np
import pytest

from coursekit.checks import CheckError, linear, linear_math


@pytest.fixture
def case():
    """A random model and data set."""
    return linear.random_case(np.random.default_rng(7))


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

    assert linear_math.reference_loss(*case) == pytest.approx(loss(*case))
    assert linear_math.reference_gradient(*case) == pytest.approx(gradient(*case))
    assert linear_math.reference_hessian(x) == pytest.approx(hessian)
    assert linear_math.reference_limit(x) == pytest.approx(2 / np.linalg.eigvalsh(hessian).max())


def test_data_of_the_seed_course_has_the_published_limit():
    """For x uniform in [-0.5, 0.5) the limit is close to 1.0, as earlier courses measured."""
    x = np.random.default_rng(1).uniform(-0.5, 0.5, 1000)

    assert linear_math.reference_limit(x) == pytest.approx(1.0, abs=0.01)


def test_step_is_judged_by_the_students_own_gradient():
    """A right step with a wrong gradient passes: the gradient's fault costs its points once."""

    def wrong_gradient(slope, offset, x, y):
        return 3 * slope + x.mean(), offset - y.mean()

    def step(slope, offset, x, y, learning_rate):
        d_slope, d_offset = wrong_gradient(slope, offset, x, y)
        return slope - learning_rate * d_slope, offset - learning_rate * d_offset

    linear.check_step(step, wrong_gradient)
    with pytest.raises(CheckError):
        linear.check_step(step, gradient)


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
        linear.check_step(step, backwards)
    with pytest.raises(CheckError):
        linear.check_step(constant_step, lambda *_: (3.0, 4.0))


def test_a_hessian_that_follows_the_limit_is_no_reference():
    """Made from what the limit was, or constant, it does not make a wrong limit right."""
    last = [1.0]

    def limit(x):
        last[0] = abs(float(x[0])) + 3
        return last[0]

    with pytest.raises(CheckError):
        linear.check_largest_stable_rate(limit, lambda _: 2 / last[0] * np.eye(2))
    with pytest.raises(CheckError):
        linear.check_largest_stable_rate(lambda _: 0.5, lambda _: 4 * np.eye(2))


def test_same_seed_gives_the_same_verdict_text():
    """With a seed the inputs repeat, so that hidden tests are the same for the whole class."""
    texts = []
    for _ in range(2):
        with pytest.raises(CheckError) as caught:
            linear.check_loss(lambda *case: loss(*case) + 1, seed=3)
        texts.append(str(caught.value))

    assert texts[0] == texts[1]
