"""The references of lab 01 against closed forms, and each check against a right and a wrong answer."""

from __future__ import annotations

import numpy as np
import pytest

from coursekit.checks import CheckError, linear, linear_math, slips, stability


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
        stability.check_largest_stable_rate(limit, lambda _: 2 / last[0] * np.eye(2))
    with pytest.raises(CheckError):
        stability.check_largest_stable_rate(lambda _: 0.5, lambda _: 4 * np.eye(2))


def test_stability_is_judged_by_the_students_own_step():
    """An experiment that is right for a wrong step passes: the step's fault costs its points once."""

    def downhill(slope, offset, x, y, learning_rate):
        d_slope, d_offset = gradient(slope, offset, x, y)
        return slope - learning_rate * d_slope, offset - learning_rate * d_offset

    def uphill(slope, offset, x, y, learning_rate):
        return downhill(slope, offset, x, y, -learning_rate)

    def experiment(step, num_steps=200):
        def is_stable(learning_rate, x, y):
            point = (0.5, 0.8)
            for _ in range(num_steps):
                point = step(*point, x, y, learning_rate)
            with np.errstate(over="ignore"):
                return loss(*point, x, y) <= loss(0.5, 0.8, x, y)

        return is_stable

    stability.check_is_stable(experiment(downhill), downhill)
    stability.check_is_stable(experiment(uphill), uphill)
    for wrong, step in ((experiment(downhill, 10), downhill), (lambda *_: False, uphill), (lambda *_: False, downhill)):
        with pytest.raises(CheckError, match="is_stable says"):
            stability.check_is_stable(wrong, step)


def test_valleys_are_decided_late_and_clearly():
    """Next to the limit the loss first falls on both sides, and after the steps asked for it is far from undecided."""
    rng = np.random.default_rng(5)
    for low, high in stability.INTERVALS:
        x = rng.uniform(low, high, 200)
        y, limit, found = stability.data_in_a_valley(rng, x), linear_math.reference_limit(x), {}
        for factor in (0.98, 1.02):
            point = np.array([0.5, 0.8])
            for number in range(1, stability.NUM_STEPS + 1):
                point = point - factor * limit * np.array(gradient(*point, x, y))
                found[factor, number] = loss(*point, x, y) / loss(0.5, 0.8, x, y)

        assert max(found[factor, 10] for factor in (0.98, 1.02)) < 1
        assert found[0.98, stability.NUM_STEPS] < 0.1
        assert found[1.02, stability.NUM_STEPS] > 1000


def test_batches_without_end_are_not_waited_for():
    """Of an endless epoch only one batch more is taken than there are samples, and the message says so."""
    taken = []

    def batches(x, y, batch_size, rng):
        del batch_size, rng
        while True:
            taken.append(1)
            yield x[:1], y[:1]

    with pytest.raises(CheckError, match="expected batches to end after 12 samples"):
        linear.check_batches(batches)
    assert len(taken) <= 14


def test_numbers_that_look_alike_are_told_apart():
    """A message has few digits, more where the two numbers would look the same, and names the slip."""
    with pytest.raises(CheckError, match=r"^the limit: expected 0.3333, got 0.6667: twice$"):
        slips.require_close(2 / 3, 1 / 3, "the limit", {"half": 1 / 6, "twice": 2 / 3})
    with pytest.raises(CheckError, match=r"^the step: expected \(1, 2\), got \(1, 2.00001\)$"):
        slips.require_close((1, 2.00001), (1, 2), "the step")


def test_same_seed_gives_the_same_verdict_text():
    """With a seed the inputs repeat, so that hidden tests are the same for the whole class."""
    texts = []
    for _ in range(2):
        with pytest.raises(CheckError) as caught:
            linear.check_loss(lambda *case: loss(*case) + 1, seed=3)
        texts.append(str(caught.value))

    assert texts[0] == texts[1]
