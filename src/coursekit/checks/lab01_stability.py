"""Checks of lab 01's last section: which learning rates are stable, found by experiment and from the Hessian."""

import math
from collections.abc import Sequence

import numpy as np

from coursekit.checks.check import fresh_rng, require
from coursekit.checks.compare import Array, as_array, as_list, as_number, close, require_close
from coursekit.checks.lab01_linear import reference_hessian, reference_limit
from coursekit.checks.on_ranks import call_answer
from coursekit.drivers import lab01 as drivers
from coursekit.drivers.calls import Answer
from coursekit.errors import Cause

Case = tuple[float, Array, Array]  # learning rate, x, y

# Intervals from which x is drawn; some are centred on zero. The largest stable rates are 1, 0.08 and 0.26.
INTERVALS = ((-0.5, 0.5), (-6.0, 6.0), (0.0, 3.0))
# Rates to try, as multiples of the limit; even close to it, errors shrink or grow a thousandfold in 200 steps.
FACTORS = (0.3, 0.98, 1.02, 3.0)
# Whatever common mistake a step makes, it converges with one of these multiples and diverges with another.
OWN_FACTORS = (-0.3, 0.002, 0.3, 3.0)
NUM_STEPS = 200  # as the exercise asks


def data_in_a_valley(rng: np.random.Generator, x: Array) -> Array:
    """Return targets y for which the loss at first falls and only later grows if the learning rate is too large.

    At the usual start, the loss along the flat direction is thirty times as large as along the steep direction.
    """
    eigenvalues, directions = np.linalg.eigh(reference_hessian(x))
    along_steep = rng.choice([-1, 1]) * rng.uniform(0.5, 1)
    along_flat = math.sqrt(30 * eigenvalues[1] / eigenvalues[0])
    slope, offset = np.array([0.5, 0.8]) + directions @ [along_flat, along_steep]
    return np.asarray(slope * x + offset + rng.uniform(-0.5, 0.5, len(x)))


def check_is_stable(is_stable: Answer, step: Answer, seed: int | None = None) -> None:
    """The experiment tells stable from unstable learning rates, on data sets with different limits.

    A result that is right for the student's own `step` counts as right, so a wrong step costs points only once.
    """
    rng = fresh_rng(seed)
    valleys = [(x, data_in_a_valley(rng, x)) for x in [rng.uniform(low, high, 200) for low, high in INTERVALS]]
    tried = [(factor, (factor * reference_limit(x), x, y)) for x, y in valleys for factor in FACTORS]
    for number in rng.permutation(len(tried)):
        factor, case = tried[number]
        says, verdict = _verdict(is_stable, case), "stable" if factor < 1 else "unstable"
        is_right = says == (factor < 1) or _is_right_for_own_step(is_stable, step, [case for _, case in tried])
        case_in_words = f"at {factor:g} times the limit of this data set, training is {verdict}"
        require(is_right, f"{case_in_words}, but is_stable returns {says}", "stability.wrong")


def _verdict(is_stable: Answer, case: Case) -> bool:
    got = as_number(is_stable(*case), "the result of is_stable")
    message = f"is_stable: expected True or False, got {got:.4g}: compare the final loss with the initial loss"
    require(got in {0, 1}, message, "answer.wrong-type")
    return bool(got)


def _is_right_for_own_step(is_stable: Answer, step: Answer, tried: Sequence[Case]) -> bool:
    """Return whether `is_stable` returns the right result for the student's own step in every case.

    This step must converge in some of the cases, but not in all of them.
    """
    rng, cases = fresh_rng(), list(tried)
    for x in (rng.uniform(-0.5, 0.5, 100), np.full(100, rng.uniform(1, 2))):
        y = 2 * x + rng.uniform(-0.5, 0.5, 100)
        cases += [(factor * reference_limit(x), x, y) for factor in OWN_FACTORS]
    ends = as_list(call_answer(drivers.walks, step, cases, NUM_STEPS), "the steps")
    settles = [_settles(as_array(end, "the result of step"), case) for end, case in zip(ends, cases)]
    return len(set(settles)) > 1 and settles == [_verdict(is_stable, case) for case in cases]


def _settles(end: Array, case: Case) -> bool:
    _, x, y = case
    with np.errstate(all="ignore"):  # if the steps diverged, numbers overflow
        before, after = (np.mean((slope * x + offset - y) ** 2) for slope, offset in ((0.5, 0.8), end))
    return bool(after <= before)


def check_hessian(hessian: Answer, seed: int | None = None) -> None:
    """The Hessian equals the second difference quotients of the loss.

    Example: for x = (1, 2), the Hessian is ((5, 3), (3, 2)). Its eigenvalues are 6.85 and 0.15, so rates up to
    2 / 6.85 = 0.29 are stable.
    """
    rng = fresh_rng(seed)
    for num_samples in (30, 30, 1):
        x = rng.uniform(1, 3, num_samples) - (num_samples > 1) * rng.uniform(0, 3)
        got = as_array(hessian(x), "the Hessian")
        expected = reference_hessian(x)
        message = f"the Hessian of two parameters is a 2 x 2 matrix, but this has shape {got.shape}"
        require(got.shape == (2, 2), message, "hessian.wrong-shape")
        mistakes = {
            Cause("the factor 2 from the square is missing", "square.no-factor"): expected / 2,
            Cause("this is the sum: take the mean over the samples", "mean.missing"): expected * len(x),
            Cause("the mixed derivatives are missing", "hessian.no-mixed"): np.diag(np.diag(expected)),
            Cause("its order is offset, slope: put the slope first", "parameters.swapped"): expected[::-1, ::-1],
        }
        require_close(got, expected, "the Hessian", "hessian.wrong", mistakes)


def _limit_of(hessian: Array) -> float:
    """Return the largest stable rate that follows from a student's own Hessian, or nan if none follows from it."""
    if hessian.shape != (2, 2) or not np.isfinite(hessian).all():
        return math.nan
    largest = float(np.max(np.linalg.eigvals(hessian).real))
    return 2 / largest if largest > 0 else math.nan


def check_largest_stable_rate(largest_stable_rate: Answer, hessian: Answer, seed: int | None = None) -> None:
    """The limit is two over the largest eigenvalue of the Hessian, or of the student's own Hessian.

    As in `check_step`, the student's Hessian is computed first, and it counts only if it depends on the data.
    """
    rng = fresh_rng(seed)
    intervals = ((-0.5, 0.5), (-2.0, 3.0), (1.0, 4.0), (-9.0, 1.0))
    cases = [rng.uniform(low, high, 100) for low, high in intervals]
    own_limits = [_limit_of(as_array(hessian(x), "the Hessian")) for x in cases]
    depends_on_data = len(set(own_limits)) == len(cases)
    for (low, high), x, own in zip(intervals, cases, own_limits):
        got, expected = as_number(largest_stable_rate(x), "the limit"), reference_limit(x)
        if depends_on_data and close(got, own):
            continue
        matrix = reference_hessian(x)
        flattest, centred = 2 / np.linalg.eigvalsh(matrix)[0], 2 / np.max(np.diag(matrix))
        mistakes = {
            Cause("this is the limit of the flattest direction, but the steepest decides", "limit.flattest"): flattest,
            Cause("this is one over the eigenvalue, but the limit is two over it", "limit.no-factor"): expected / 2,
            Cause("this is the eigenvalue, but the limit is two over it", "limit.inverse"): 2 / expected,
            Cause("this holds only for x around zero: take the eigenvalues", "limit.centred"): centred,
        }
        require_close(got, expected, f"the limit for x between {low:g} and {high:g}", "limit.wrong", mistakes)
