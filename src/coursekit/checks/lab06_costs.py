"""Checks of lab 06's numbers about messages: latency and bandwidth, where ways cross, equal sums, fused tensors."""

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
NUM_FITS = 3  # the noise may help a wrong one once
MAX_ERROR = 0.15  # relative, three times what noise does to a right fit; without weights alpha is off by several times
FAR = 20  # times the bound of rounding errors; the mean over 200 numbers hides one of them
LARGEST_GAP = 12  # between operations, in microseconds
MAX_NUM_SHOWN = 5  # intervals that a message lists

# Intervals that touch, are the same, lie in one another, or overlap in a chain, and how many operations they are.
TIMELINES = {
    ((0, 10),): 1,
    ((0, 10), (10, 20), (20, 21)): 3,
    ((3, 9), (3, 9), (9, 12), (9, 12)): 2,
    ((0, 30), (5, 10), (20, 25), (29, 40), (41, 42)): 2,
    ((0, 10), (8, 18), (16, 26), (24, 34)): 1,
    ((0, 10), (8, 18), (18, 26), (24, 34)): 2,
}


def check_fit_cost(fit_cost: Answer, num_sizes: int) -> None:
    """Latency and inverse bandwidth behind noisy measurements are found, however far apart their sizes are.

    Example: 6 steps and 1.5 MB take 6 * 50 us + 1.5e6 * 0.5 ns = 1.05 ms, and 6 steps with 1.5 kB take 0.3 ms.
    """
    ranks, sizes = (grid.ravel() for grid in np.meshgrid([2, 4, 8], np.geomspace(1e3, 1e9, num_sizes)))
    num_steps = 2 * (ranks - 1)
    num_bytes = num_steps / ranks * sizes
    for _ in range(NUM_FITS):
        require_fit(fit_cost, (num_steps, num_bytes), num_steps, num_bytes)


def require_fit(  # noqa: PLR0913  # the case, by keyword
    fit: Answer,
    given: Sequence[Array],  # the columns that it gets, before the seconds
    num_steps: Any,  # of each measurement; each takes alpha, each byte beta, and there is noise
    num_bytes: Array,
    *,
    case: str = "",
    factors: Mapping[Cause, float] | None = None,  # how many times too large a common mistake makes both
) -> None:
    """Require a fit of alpha and beta, up to what noise does to it."""
    rng = fresh_rng()
    truth = {"alpha": rng.uniform(20e-6, 80e-6), "beta": rng.uniform(0.2e-9, 1e-9)}
    noise, order = rng.normal(1, NOISE, num_bytes.shape), rng.permutation(len(num_bytes))
    seconds = (num_steps * truth["alpha"] + num_bytes * truth["beta"]) * noise
    found = as_list(fit(*(column[order] for column in (*given, seconds))), "what a fit returns")
    require_equal(len(found), len(truth), "number of values that a fit returns", "fit.wrong-number")
    for (name, expected), value in zip(truth.items(), found):
        other = "beta" if name == "alpha" else "alpha"
        mistakes = {
            Cause(f"which is {other}: alpha comes first", "fit.swapped"): truth[other],
            Cause(f"which is 1/{name}", "fit.inverse"): 1 / expected,
            **{cause: factor * expected for cause, factor in (factors or {}).items()},
        }
        unweighted = "do the largest messages dominate the fit? Divide each row by its seconds"
        otherwise = Cause(unweighted, "fit.unweighted") if name == "alpha" else None
        what = f"{case}{name} in {'s' if name == 'alpha' else 's for each byte'}, about"
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
    """Above that many bytes the ring is faster than recursive doubling.

    Example: on 4 ranks the ring takes 6 alpha + 1.5 n beta and recursive doubling 2 alpha + 2 n beta, equal at
    n = 8 alpha / beta.
    """
    rng = fresh_rng()
    for number in num_ranks:
        alpha, beta = rng.uniform(1e-6, 1e-4), rng.uniform(1e-11, 1e-9)
        got = as_number(crossover(number, alpha, beta), f"the crossover on {number} ranks")
        steps, arrays = (2 * (number - 1), log2(number)), (2 * (number - 1) / number, log2(number))
        ring, doubling = (one * alpha + many * got * beta for one, many in zip(steps, arrays))
        expected = (steps[0] - steps[1]) * alpha / ((arrays[1] - arrays[0]) * beta)
        both = f"there the ring takes {ring:.3g} s, recursive doubling {doubling:.3g} s"
        otherwise = Cause(both, "crossover.wrong")
        if got < 0:
            otherwise = Cause("no message has so few bytes", "crossover.negative")
        mistakes = {Cause("it is its inverse", "crossover.inverse"): 1 / expected}
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
    """Sums of the same parts in any order are the same; a part that is missing or a NaN is found.

    The error of a sum is at most N eps times the sum of magnitudes (Higham 2002, section 4.2), which is large beside
    the sum where parts cancel, and small beside any fixed number where parts are small.
    """
    for num_ranks in (4, max_num_ranks):
        for name, parts in _parts(num_ranks):
            case = f"{name} of {num_ranks} ranks, {parts.dtype}"
            total, *others = _sums(parts)
            for other in others:
                far = np.max(np.abs(total - other))
                what = f"sums of the same parts in two orders, which differ by {far:.2g} at most"
                _require_verdict(same_sum(total, other, parts), f"{case}: {what}", expected=True)
            for what, wrong in _wrong_sums(total, parts):
                _require_verdict(same_sum(wrong, total, parts), f"{case}: {what}", expected=False)
                _require_verdict(same_sum(total, wrong, parts), f"{case}: {what}, as second", expected=False)
            broken = total * np.nan
            _require_verdict(same_sum(broken, broken, parts), f"{case}: NaNs alone, in both", expected=False)


def _parts(num_ranks: int) -> Iterator[tuple[str, Array]]:
    """Yield gradients of all ranks, shape (num_ranks, 200), by name; the last rank's are a hundredth of the others'."""
    rng = fresh_rng()
    kinds = (("gradients", 1.0, np.float32), ("small gradients", 1e-9, np.float32), ("gradients", 1.0, np.float64))
    for name, size, dtype in kinds:
        parts = rng.normal(0, size, (num_ranks, 200))
        parts[-1] *= 1e-2 if dtype is np.float32 else 1e-6
        yield name, parts.astype(dtype)
    parts[1::2] = -parts[::2] * (1 + rng.uniform(0, 1e-5, parts[1::2].shape))
    yield "gradients that cancel", (1e3 * parts).astype(np.float32)
    # Layers differ in size, and dead units have gradients that are zero on every rank.
    parts = rng.normal(0, 1, (num_ranks, 200)) * np.geomspace(1e3, 1e-6, 200)
    parts[:, 1::7] = 0
    yield "gradients of many sizes, some of them zero,", parts.astype(np.float32)
    yield "gradients that are all zero", np.zeros((num_ranks, 200), np.float32)


def _sums(parts: Array) -> list[Array]:
    """Return the sum of parts one after the other, from the end, by halves, and around a ring."""
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
    yield f"a sum with one number too small by {FAR} times what rounding can do", little
    yield "a sum that holds a NaN", none


def _require_verdict(got: Any, what: str, *, expected: bool) -> None:
    is_verdict = as_number(got, "what same_sum returns") in {0.0, 1.0}
    require(is_verdict, f"what same_sum returns: expected True or False, got {brief(got)}", "answer.wrong-type")
    require(got or not expected, f"{what}: expected “the same”, got “not the same”", "same-sum.too-strict")
    require(expected or not got, f"{what}: expected “not the same”, got “the same”", "same-sum.too-lax")


def check_num_on_wire(num_on_wire: Answer, max_num_operations: int) -> None:
    """Intervals that overlap are tensors of one operation, in whatever order they are listed."""
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
        got = as_number(num_on_wire(shuffled), "what num_on_wire returns")
        listed = f" {', '.join(map(str, intervals))}" if 0 < len(intervals) <= MAX_NUM_SHOWN else ""
        mistakes = {Cause("that is the number of tensors", "operations.tensors-counted"): len(intervals)}
        what = f"number of operations of {counted(len(intervals), 'interval')}{listed}"
        require_equal(got, float(expected), what, "operations.wrong-number", mistakes=mistakes)
