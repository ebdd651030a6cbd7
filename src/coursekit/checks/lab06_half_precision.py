"""Checks of lab 06's 16-bit gradients: which are lost, how a loss scale changes, and whether all ranks agree."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from coursekit.checks.check import fresh_rng, require
from coursekit.checks.compare import Array, as_array, as_list, as_lists, as_number, require_close, require_equal
from coursekit.checks.on_ranks import call_answer, run_on_ranks
from coursekit.drivers import lab06 as drivers
from coursekit.drivers.calls import Answer
from coursekit.errors import Cause

SHAPES = ((5,), (), (2, 3))
SCALE = 2.0**16
STEPS = (
    "finite gradients",
    "finite gradients whose sum overflows 16 bits",
    "an infinity on rank 1",
    "a NaN on the last rank",
    "infinities of both signs",
    "a negative infinity on rank 0",
)
HALF_ERROR = 2.0**-9  # relative tolerance: four times the rounding error of numbers with 11 significant bits

# Scaled gradients at the edges of the range of 16 bits. A third of the nonzero gradients are lost: half of the smallest
# number becomes zero, but no larger number does; half a unit above the largest number becomes infinite, but no smaller
# number does.
EDGES = (2.0**-25, 2.0**-25 * (1 + 2.0**-23), -(2.0**-24), 65504.0, -65519.0, 65520.0, 0.0)


def check_lost_share(lost_share: Answer, num_gradients: int) -> None:
    """The lost share is the share of nonzero gradients that, after scaling, become zero or infinite in 16 bits.

    Example: the gradients are 0, 1e-8 and 1e-3. In 16 bits, numbers below 3e-8 become zero, so 1e-8 is lost. The lost
    share is one half, because only two gradients are nonzero. If the gradients are scaled by 1024, none is lost,
    because 1e-8 * 1024 is above 3e-8.
    """
    rng = fresh_rng()
    cases = []
    for scale in (1.0, 2.0**10, 2.0**20):
        gradients = rng.choice([-1, 1], num_gradients) * 10 ** rng.uniform(-12, 1, num_gradients)
        gradients[rng.permutation(num_gradients)[: num_gradients // 3]] = 0
        cases.append((gradients, scale, "share lost"))
    numbers = ", ".join(f"{edge:.9g}" for edge in EDGES)
    edges = f"share lost of {numbers}, each divided by the scale first,"
    cases += [(np.array(EDGES) / scale, scale, edges) for scale in (1.0, 2.0**10, 2.0**-10)]
    for values, scale, what in cases:
        gradients = values.astype(np.float32)
        with np.errstate(over="ignore"):
            halves = (gradients * np.float32(scale)).astype(np.float16)
        gone = (gradients != 0) & ((halves == 0) | np.isinf(halves))
        got = as_number(lost_share(gradients, scale), "the lost share")
        mistakes = {
            Cause("zeros are counted as lost", "lost-share.zeros-count"): np.mean((halves == 0) | np.isinf(halves)),
            Cause("this is the share of all gradients, including zeros", "lost-share.of-all"): np.mean(gone),
            Cause("new infinities are not counted", "lost-share.no-infinities"): np.mean(halves[gradients != 0] == 0),
            Cause("new zeros are not counted", "lost-share.no-zeros"): np.mean(np.isinf(halves[gradients != 0])),
        }
        expected = np.sum(gone) / np.sum(gradients != 0)
        require_close(
            got,
            expected,
            f"{what} with a scale of {scale:g}",
            "lost-share.wrong",
            mistakes,
            tolerance=0.5 / num_gradients,
        )


def check_next_scale(next_scale: Answer, num_steps: int) -> None:
    """The scale is halved when a gradient overflows, and doubled after a given number of good steps in a row.

    Example: the scale grows after two good steps. If it is 8 at first, it is 8 after a good step, 16 after another good
    step, 8 after an overflow, 8 after a good step, and 4 after another overflow.
    """
    rng = fresh_rng()
    for growth_steps in (1, 2, 5):
        scale, num_good = 2.0 ** int(rng.integers(5, 15)), 0
        were_finite = [bool(one) for one in rng.uniform(size=num_steps) < growth_steps / (growth_steps + 1)]
        states = call_answer(drivers.scales, next_scale, scale, growth_steps, were_finite)
        for step, (is_finite, state) in enumerate(zip(were_finite, states), 1):
            before = f"scale {scale:g} after {num_good} good steps, growth after {growth_steps}"
            num_good = num_good + 1 if is_finite else 0
            scale = scale if is_finite else scale / 2
            if num_good == growth_steps:
                scale, num_good = 2 * scale, 0
            got = [as_number(one, f"the state after step {step}") for one in state]
            case = f"{before}, then {'a good step' if is_finite else 'an overflow'}"
            require_equal(
                got, [scale, float(num_good)], f"{case}: scale and number of good steps", "loss-scale.wrong-state"
            )


def check_mean_gradients(mean_gradients: Answer, num_ranks: int) -> None:
    """All ranks get the same mean in 32 bits without the scale, or all get None if any rank has an overflow.

    Example: the scale is 8, and the scaled gradients of two ranks are 2 and 4 in 16 bits. Both ranks must get the mean
    0.375; a result of 3 still includes the scale, and a result of 0.75 is the sum. If rank 1 has an infinity, rank 0
    must also get None.
    """
    steps = {name: [_gradients() for _ in range(num_ranks)] for name in STEPS}
    finite, large, infinity, nan, both, negative = steps.values()
    for gradients in large:
        gradients[:] = [np.asarray(2e4 + 3e4 * np.abs(one) / np.abs(one).max(), np.float16) for one in gradients]
    infinity[1][2][1, 0] = np.inf
    nan[-1][0][4] = np.nan
    both[0][0][1], both[1][0][1] = np.inf, -np.inf
    negative[0][2][0, 2] = -np.inf
    private = [[of_step[rank] for of_step in steps.values()] for rank in range(num_ranks)]
    replies = run_on_ranks(drivers.mean_gradients, mean_gradients, SCALE, num_ranks=num_ranks, private=private)
    for rank, results in enumerate(as_lists(replies, len(steps), "the means")):
        for (name, of_ranks), result in zip(steps.items(), results):
            if of_ranks is finite or of_ranks is large:
                _check_mean(result, of_ranks, rank, name)
            else:
                expected = "expected None on every rank, so that all skip the step"
                require(result is None, f"{name}: {expected}, got gradients on rank {rank}", "overflow.not-skipped")


def _gradients() -> list[Array]:
    """Return scaled gradients in 16 bits; one is zero and some are negative, at the same places on all ranks.

    If they were divided by their scale in 16 bits, they would be 1 to 4 times the smallest 16-bit number, and would
    lose nearly all digits.
    """
    rng = fresh_rng()
    gradients = [np.asarray(rng.uniform(0.5, 2, shape) * 2.0**-7, np.float16) for shape in SHAPES]
    gradients[0] *= np.array([1, -1, 0, 1, -1], np.float16)
    return gradients


def _check_mean(result: Any, gradients: Sequence[Sequence[Array]], rank: int, name: str) -> None:
    """Check the mean that one rank returns for finite gradients, which differ between ranks."""
    require(result is not None, f"{name}: expected their mean, got None on rank {rank}", "overflow.finite-skipped")
    means = as_list(result, f"the means on rank {rank}")
    require_equal(len(means), len(SHAPES), f"number of gradients on rank {rank}", "means.wrong-number")
    for number, mean in enumerate(means):
        got = as_array(mean, f"gradient {number} on rank {rank}")
        scaled = np.mean([of_rank[number] for of_rank in gradients], axis=0, dtype=float)
        require_equal(got.shape, scaled.shape, f"shape of gradient {number} on rank {rank}", "means.wrong-shape")
        otherwise = Cause("this is not the mean over the ranks without the scale", "means.wrong")
        if not np.isfinite(got).all():
            otherwise = Cause(f"this is not finite: are {name} added up in 16 bits?", "means.overflow")
        elif np.array_equal(got, got.astype(np.float16)):
            otherwise = Cause("bits are lost: did you divide by the scale in 16 bits?", "means.lost-bits")
        mistakes = {
            Cause("this still includes the scale", "means.scaled"): scaled,
            Cause("this is the sum over the ranks", "means.sum"): scaled * len(gradients) / SCALE,
        }
        what = f"gradient {number} on rank {rank}"
        require_close(
            got,
            scaled / SCALE,
            what,
            "means.wrong",
            mistakes,
            tolerance=HALF_ERROR,
            is_relative=True,
            otherwise=otherwise,
        )
