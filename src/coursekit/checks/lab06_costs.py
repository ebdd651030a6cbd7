"""Checks of lab 06's calculations about messages: latency and bandwidth, the crossover, equal sums, fused tensors."""

from collections.abc import Iterator, Mapping, Sequence
from math import log2
from typing import Any

import numpy as np

from coursekit.checks.check import fresh_rng, require
from coursekit.checks.compare import Array, as_list, as_number, brief, require_close, require_equal
from coursekit.drivers.calls import Answer
from coursekit.errors import Cause
from coursekit.text import counted

NOISE = 0.05  # of each measurement, relative
NUM_FITS = 3  # noise may make a wrong fit look right once
MAX_ERROR = 0.15  # relative; three times the error of a right fit; without weights, alpha is off by a large factor
FAR = 20  # times the bound of rounding errors; a mean over 200 numbers would hide one such error
LARGEST_GAP = 12  # between operations, in microseconds
MAX_NUM_SHOWN = 5  # the most intervals that a message lists

# Intervals that touch, coincide, lie inside each other or overlap in a chain, and the number of operations they form.
TIMELINES = {
    ((0, 10),): 1,
    ((0, 10), (10, 20), (20, 21)): 3,
    ((3, 9), (3, 9), (9, 12), (9, 12)): 2,
    ((0, 30), (5, 10), (20, 25), (29, 40), (41, 42)): 2,
    ((0, 10), (8, 18), (16, 26), (24, 34)): 1,
    ((0, 10), (8, 18), (18, 26), (24, 34)): 2,
}


def check_fit_cost(fit_cost: Answer, num_sizes: int) -> None:
    """The fit finds latency and inverse bandwidth from noisy measurements, however far apart their sizes are.

    Example: a step takes 50 us, and a byte takes 0.5 ns. So 6 steps with 1.5 MB take
    6 * 50 us + 1.5e6 * 0.5 ns = 1.05 ms, and 6 steps with 1.5 kB take 0.3 ms.
    """
    ranks, sizes = (grid.ravel() for grid in np.meshgrid([2, 4, 8], np.geomspace(1e3, 1e9, num_sizes)))
    num_steps = 2 * (ranks - 1)
    num_bytes = num_steps / ranks * sizes
    for _ in range(NUM_FITS):
        require_fit(fit_cost, (num_steps, num_bytes), num_steps, num_bytes)


def require_fit(  # noqa: PLR0913  # the case, by keyword
    fit: Answer,
    given: Sequence[Array],  # the columns that the fit gets before the seconds
    num_steps: Any,  # of each measurement; a step takes alpha, a byte takes beta, and the sum is multiplied by noise
    num_bytes: Array,
    *,
    case: str = "",
    factors: Mapping[Cause, float] | None = None,  # for each mistake, how many times too large it makes alpha and beta
) -> None:
    """Require a fit to find alpha and beta, within the error that noise causes."""
    rng = fresh_rng()
    truth = {"alpha": rng.uniform(20e-6, 80e-6), "beta": rng.uniform(0.2e-9, 1e-9)}
    noise, order = rng.normal(1, NOISE, num_bytes.shape), rng.permutation(len(num_bytes))
    seconds = (num_steps * truth["alpha"] + num_bytes * truth["beta"]) * noise
    found = as_list(fit(*(column[order] for column in (*given, seconds))), "the return value of the fit")
    require_equal(len(found), len(truth), "number of values that the fit returns", "fit.wrong-number")
    for (name, expected), value in zip(truth.items(), found):
        other = "beta" if name == "alpha" else "alpha"
        mistakes = {
            Cause(f"this is {other}: alpha comes first", "fit.swapped"): truth[other],
            Cause(f"this is 1/{name}", "fit.inverse"): 1 / expected,
            **{cause: factor * expected for cause, factor in (factors or {}).items()},
        }
        unweighted = "do the largest messages dominate the fit? Divide each row by its seconds"
        otherwise = Cause(unweighted, "fit.unweighted") if name == "alpha" else None
        what = f"{case}{name} in {'s' if name == 'alpha' else 's per byte'}, within the noise"
        require_close(
            as_number(value, name),
            expected,
            what,
            "fit.wrong",
            mistakes,
            tolerance=MAX_ERROR,
            is_relative=True,
            otherwise=otherwise,
        )


def check_crossover(crossover: Answer, num_ranks: Sequence[int]) -> None:
    """The crossover is the number of bytes above which the ring is faster than recursive doubling.

    Example: for n bytes on 4 ranks, the ring takes 6 alpha + 1.5 n beta, and recursive doubling takes
    2 alpha + 2 n beta. These times are equal at n = 8 alpha / beta.
    """
    rng = fresh_rng()
    for number in num_ranks:
        alpha, beta = rng.uniform(1e-6, 1e-4), rng.uniform(1e-11, 1e-9)
        got = as_number(crossover(number, alpha, beta), f"the crossover on {number} ranks")
        steps, arrays = (2 * (number - 1), log2(number)), (2 * (number - 1) / number, log2(number))
        ring, doubling = (one * alpha + many * got * beta for one, many in zip(steps, arrays))
        expected = (steps[0] - steps[1]) * alpha / ((arrays[1] - arrays[0]) * beta)
        both = f"at this size, the ring takes {ring:.3g} s and recursive doubling {doubling:.3g} s"
        otherwise = Cause(both, "crossover.wrong")
        if got < 0:
            otherwise = Cause("a number of bytes cannot be negative", "crossover.negative")
        mistakes = {Cause("this is the inverse", "crossover.inverse"): 1 / expected}
        require_close(
            got,
            expected,
            f"crossover on {number} ranks, in bytes",
            "crossover.wrong",
            mistakes,
            is_relative=True,
            otherwise=otherwise,
        )


def check_same_sum(same_sum: Answer, max_num_ranks: int) -> None:
    """Two sums of the same parts, in any order, count as the same; a missing part or a NaN is noticed.

    The error of a sum is at most N eps times the sum of magnitudes (Higham 2002, section 4.2). This bound is large
    compared with the sum if parts cancel, and small compared with any fixed number if parts are small.
    """
    for num_ranks in (4, max_num_ranks):
        for name, parts in _parts(num_ranks):
            case = f"{name} of {num_ranks} ranks, {parts.dtype}"
            total, *others = _sums(parts)
            for other in others:
                far = np.max(np.abs(total - other))
                what = f"sums of the same parts in two orders, at most {far:.2g} apart"
                _require_verdict(same_sum(total, other, parts), f"{case}: {what}", expected=True)
            for what, wrong in _wrong_sums(total, parts):
                _require_verdict(same_sum(wrong, total, parts), f"{case}: {what}", expected=False)
                _require_verdict(same_sum(total, wrong, parts), f"{case}: {what}, as the second sum", expected=False)
            broken = total * np.nan
            _require_verdict(same_sum(broken, broken, parts), f"{case}: only NaNs in both sums", expected=False)


def _parts(num_ranks: int) -> Iterator[tuple[str, Array]]:
    """Yield cases, each as a name and the gradients of all ranks, shape (num_ranks, 200).

    In the first three cases, the last rank's gradients are smaller than those of the other ranks: a hundredth of their
    size in 32 bits, and a millionth in 64 bits.
    """
    rng = fresh_rng()
    kinds = (("gradients", 1.0, np.float32), ("small gradients", 1e-9, np.float32), ("gradients", 1.0, np.float64))
    for name, size, dtype in kinds:
        parts = rng.normal(0, size, (num_ranks, 200))
        parts[-1] *= 1e-2 if dtype is np.float32 else 1e-6
        yield name, parts.astype(dtype)
    parts[1::2] = -parts[::2] * (1 + rng.uniform(0, 1e-5, parts[1::2].shape))
    yield "gradients that cancel", (1e3 * parts).astype(np.float32)
    # The gradients of layers differ in size, and dead units have zero gradients on every rank.
    parts = rng.normal(0, 1, (num_ranks, 200)) * np.geomspace(1e3, 1e-6, 200)
    parts[:, 1::7] = 0
    yield "gradients of many sizes, some of them zero,", parts.astype(np.float32)
    yield "gradients that are all zero", np.zeros((num_ranks, 200), np.float32)


def _sums(parts: Array) -> list[Array]:
    """Return the sum of the parts in four orders: from the start, from the end, by halves, and around a ring."""
    one, back = parts[0], parts[-1]
    for part, other in zip(parts[1:], parts[-2::-1]):
        one, back = one + part, back + other
    halves = parts
    while len(halves) > 1:
        halves = halves[: len(halves) // 2] + halves[len(halves) // 2 :]
    ring = np.empty_like(one)
    for chunk in range(len(parts)):
        total = parts[chunk, chunk :: len(parts)]
        for rank in range(chunk + 1, chunk + len(parts)):
            total = total + parts[rank % len(parts), chunk :: len(parts)]
        ring[chunk :: len(parts)] = total
    return [one, back, halves[0], ring]


def _wrong_sums(total: Array, parts: Array) -> Iterator[tuple[str, Array]]:
    if parts.any():
        yield "a sum without the last part", total - parts[-1]
    one, little, none = total.copy(), total.copy(), total.copy()
    one[-1] += np.max(np.abs(parts)) or 1
    little[-2] -= FAR * len(parts) * np.finfo(parts.dtype).eps * np.sum(np.abs(parts[:, -2])) or 1e-9
    none[3] = np.nan
    yield "a sum with one wrong number among 200", one
    yield f"a sum with one number too small by {FAR} times the bound of rounding errors", little
    yield "a sum that holds a NaN", none


def _require_verdict(got: Any, what: str, *, expected: bool) -> None:
    is_verdict = as_number(got, "the return value of same_sum") in {0.0, 1.0}
    require(is_verdict, f"same_sum returns {brief(got)}, expected True or False", "answer.wrong-type")
    require(got or not expected, f"{what}: expected “the same”, got “not the same”", "same-sum.too-strict")
    require(expected or not got, f"{what}: expected “not the same”, got “the same”", "same-sum.too-lax")


def check_num_on_wire(num_on_wire: Answer, max_num_operations: int) -> None:
    """Overlapping intervals count as tensors of one operation, in whatever order they are listed."""
    rng = fresh_rng()
    timelines: list[tuple[list[tuple[int, int]], int]] = [([], 0)]
    for num_operations in (1, max_num_operations // 2, max_num_operations):
        intervals: list[tuple[int, int]] = []
        now = int(rng.integers(1000))
        for _ in range(num_operations):
            num_tensors, lasts = int(rng.integers(1, 9)), int(rng.integers(100, 9000))
            first = now + rng.integers(0, lasts, num_tensors)
            last = np.minimum(first + rng.integers(1, lasts, num_tensors), now + lasts)
            intervals += [(now, now + lasts), *zip(first.tolist(), last.tolist())]
            now += lasts + int(rng.integers(1, LARGEST_GAP))
        timelines.append((intervals, num_operations))
    timelines += [(list(intervals), expected) for intervals, expected in TIMELINES.items()]
    for intervals, expected in timelines:
        shuffled = [intervals[place] for place in rng.permutation(len(intervals))]
        got = as_number(num_on_wire(shuffled), "the return value of num_on_wire")
        listed = f" {', '.join(map(str, intervals))}" if 0 < len(intervals) <= MAX_NUM_SHOWN else ""
        mistakes = {Cause("this is the number of tensors", "operations.tensors-counted"): len(intervals)}
        what = f"number of operations in {counted(len(intervals), 'interval')}{listed}"
        require_equal(got, float(expected), what, "operations.wrong-number", mistakes=mistakes)
