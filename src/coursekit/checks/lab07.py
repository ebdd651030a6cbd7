"""Checks of lab 07: a model of a training step, tested on cases that its author has not seen."""

from collections.abc import Sequence
from functools import partial
from math import ceil
from typing import Any

import numpy as np

from coursekit.checks.check import fresh_rng
from coursekit.checks.compare import as_list, as_number, require_close, require_equal
from coursekit.checks.lab06_costs import require_fit
from coursekit.drivers.calls import Answer
from coursekit.errors import Cause
from coursekit.text import counted

PARTS = ("computing", "sharing", "predicted communication", "the unexplained part")

# In each case: a table of speeds, the required gain, and the place at which doubling no longer pays. The tables have,
# in this order, a gain that is exactly the required one, equal speeds, falling speeds, doublings that more than double
# the speed, and several doublings that do not pay.
TABLES: tuple[tuple[list[float], float, int], ...] = (
    ([100.0, 150.0, 225.0, 300.0], 1.5, 2),
    ([100.0, 100.0, 200.0], 1.5, 0),
    ([100.0, 100.0, 50.0], 1.0, 1),
    ([100.0, 250.0, 200.0, 700.0], 1.5, 1),
    ([100.0, 190.0, 260.0, 280.0, 540.0], 1.75, 1),
)

# In each case: numbers of nodes, the seconds that a job takes on each number, the limit in hours, the margin, and the
# right request. All times are powers of two times an hour, so that whole hours are exact, whatever the order of the
# calculation is.
REQUESTS: tuple[tuple[list[int], list[int], int, float, tuple[int, int] | None], ...] = (
    ([3, 6, 12], [28800, 14400, 7200], 16, 2.0, (3, 16)),
    ([3, 6, 12], [28800, 14400, 7200], 8, 2.0, (6, 8)),
    ([3, 6, 12], [28800, 14400, 7200], 3, 2.0, None),
    ([3, 6, 12], [28800, 14400, 7200], 7, 1.0, (6, 4)),
    ([5, 10], [14400, 14400], 4, 1.0, (5, 4)),
    ([4], [900], 1, 2.0, (4, 1)),
)


def check_allreduce_s(allreduce_s: Answer, num_cases: int) -> None:
    """A ring allreduce takes as long as 2(N - 1) messages, each with an N-th of the bytes.

    Example: on 4 ranks, with 1 MB, a latency of 10 microseconds and a bandwidth of 1 GB/s, an allreduce takes
    6 * (10 us + 250 us) = 1.56 ms.
    """
    rng = fresh_rng()
    cases = [(number, _link(rng)) for number in (1, *rng.integers(3, 600, num_cases).tolist(), 2)]
    num_bytes, alpha, beta = _link(rng)
    cases += [(3, (num_bytes, 0.0, beta)), (3, (0.0, alpha, beta)), (8, (4.0, 0.0, beta))]
    for num_ranks, (num_bytes, alpha, beta) in cases:
        messages_s, bytes_s = 2 * (num_ranks - 1) * alpha, 2 * (num_ranks - 1) / num_ranks * num_bytes * beta
        got = as_number(allreduce_s(num_ranks, num_bytes, alpha, beta), f"the seconds on {num_ranks} ranks")
        mistakes = {
            Cause("the time for the bytes is missing", "allreduce-time.no-bytes"): messages_s,
            Cause("the latency is missing", "allreduce-time.no-latency"): bytes_s,
            Cause("each message holds only an N-th of the array", "allreduce-time.whole-array"): (
                2 * (num_ranks - 1) * (alpha + num_bytes * beta)
            ),
            Cause("this is only half of the ring allreduce", "allreduce-time.half-ring"): (messages_s + bytes_s) / 2,
        }
        case = f"{counted(num_ranks, 'rank')}, {num_bytes:.0f} bytes, alpha {alpha:.3g} s, beta {beta:.3g} s per byte"
        require_close(got, messages_s + bytes_s, f"{case}: seconds", "allreduce-time.wrong", mistakes, is_relative=True)


def check_fit_link(fit_link: Answer, num_sizes: int) -> None:
    """The fit finds latency and inverse bandwidth from noisy allreduces, on 2 ranks and on more."""
    sizes = np.geomspace(1e3, 1e9, num_sizes)
    for num_ranks in (2, 4, 3, 8):
        num_steps, fit = 2 * (num_ranks - 1), partial(fit_link, num_ranks)
        arrays, case = num_steps / num_ranks, f"{num_ranks} ranks, "
        whole = {
            Cause("this is the value for all steps together", "fit.of-all-steps"): num_steps,
            Cause("this is the value for the whole array in all steps", "fit.of-whole-array"): arrays,
        }
        require_fit(fit, (sizes,), num_steps, arrays * sizes, case=case, factors=whole)


def check_predict_step(predict_step: Answer, num_cases: int) -> None:
    """A step consists of computing and then an allreduce; the efficiency is the share of computing.

    Example: 0.2 s of computing and an allreduce of 0.05 s make a step of 0.25 s with an efficiency of 0.8.
    """
    rng = fresh_rng()
    for num_ranks in [1, *rng.integers(2, 600, num_cases).tolist()]:
        num_bytes, alpha, beta = _link(rng)
        alone_s = float(rng.uniform(0.01, 0.5))
        travel_s = 2 * (num_ranks - 1) * (alpha + num_bytes / num_ranks * beta)
        found = as_list(predict_step(alone_s, num_ranks, num_bytes, alpha, beta), "the return value of predict_step")
        require_equal(
            len(found),
            2,
            "number of values that predict_step returns (seconds and efficiency)",
            "step-time.wrong-number",
        )
        step_s, efficiency = (as_number(one, "a value that predict_step returns") for one in found)
        case = f"{alone_s:.3g} s alone, {counted(num_ranks, 'rank')}"
        share = alone_s / (alone_s + travel_s)
        mistakes = {
            Cause("this is only the computing time", "step-time.computing-alone"): alone_s,
            Cause("this is only the time of the allreduce", "step-time.allreduce-alone"): travel_s,
            Cause("this is the efficiency, which comes second", "step-time.swapped"): share,
            Cause("each rank has its own batch, and computes as long as a single rank", "step-time.per-rank"): (
                alone_s / num_ranks + travel_s
            ),
        }
        require_close(
            step_s, alone_s + travel_s, f"{case}: seconds of a step", "step-time.wrong", mistakes, is_relative=True
        )
        mistakes = {
            Cause("this is the speed-up", "efficiency.speed-up"): num_ranks * share,
            Cause("this is the share of communication", "efficiency.communication"): 1 - share,
        }
        require_close(efficiency, share, f"{case}: efficiency", "efficiency.wrong", mistakes, is_relative=True)


def check_explain_gap(explain_gap: Answer, num_cases: int) -> None:
    """The parts of a measured step add up to its time; the sharing part and the unexplained part may be negative.

    Example: a step takes 0.20 s on one rank, 0.22 s if all ranks compute side by side, and 0.30 s if they also average
    their gradients, which should take 0.05 s. So the parts are 0.20 s for computing, 0.02 s for sharing and 0.05 s for
    the predicted communication, and 0.03 s are unexplained.
    """
    rng = fresh_rng()
    for number in range(num_cases):
        alone_s, predicted_s = rng.uniform(0.01, 0.5, 2).tolist()
        # Every four cases cover all pairs of signs.
        sharing_s = float(rng.uniform(0.1, 0.8)) * alone_s * (-1) ** number
        unexplained_s = float(rng.uniform(0.1, 0.9)) * predicted_s * (-1) ** (number // 2)
        if number == num_cases - 1:  # sharing and the unexplained part are exactly zero
            alone_s, sharing_s, predicted_s, unexplained_s = 0.25, 0.0, 0.5, 0.0
        expected = (alone_s, sharing_s, predicted_s, unexplained_s)
        together_s = alone_s + sharing_s
        averaging_s = together_s + predicted_s + unexplained_s
        found = as_list(explain_gap(alone_s, together_s, averaging_s, predicted_s), "the return value of explain_gap")
        require_equal(len(found), len(PARTS), "number of parts that explain_gap returns", "gap.wrong-number")
        for name, value, right in zip(PARTS, found, expected):
            got = as_number(value, name)
            mistakes = {
                Cause("the sign is wrong", "gap.sign"): -right,
                Cause("this is the whole measured step", "gap.whole-step"): averaging_s,
                Cause("this is the measured time of averaging", "gap.averaging"): averaging_s - together_s,
                **{
                    Cause(f"this is {one}", "gap.other-part"): part for one, part in zip(PARTS, expected) if one != name
                },
            }
            mistakes |= {Cause("this part may be negative", "gap.not-negative"): 0.0} if right < 0 else {}
            case = f"alone {alone_s:.3f} s, together {together_s:.3f} s, averaging {averaging_s:.3f} s: {name}"
            require_close(got, right, case, "gap.wrong", mistakes, is_relative=True)


def check_overlapped_s(overlapped_s: Answer, num_tensors: int) -> None:
    """Gradients travel one after another, each once it is ready; a step ends when computing and sending are done.

    Example: two gradients are ready after 1 s and 2 s, each travels for 2 s, and computing takes 2.5 s. The first
    gradient arrives after 3 s, and the second arrives after 5 s, which is also the time of the step.
    """
    rng = fresh_rng()
    # In the first case, all mistakes give different times; in the last, all gradients arrive before computing ends.
    for load, last in ((3.0, 0.95), (1.0, 1.0), (0.5, 1.0), (0.1, 0.8)):
        compute_s = float(rng.uniform(0.05, 0.5))
        ready = np.append(np.sort(rng.uniform(0.3, last, num_tensors - 1)), last) * compute_s
        travel = rng.uniform(0.2, 1.8, num_tensors) * load * compute_s / num_tensors
        got = as_number(overlapped_s(compute_s, ready.tolist(), travel.tolist()), "the seconds of a step")
        # The longest chain: one gradient does not wait for the link, and all later ones follow it without a gap.
        arrival_s = float(np.max(ready + np.cumsum(travel[::-1])[::-1]))
        mistakes = {
            Cause("this is computing first, and then all gradients", "overlap.none"): compute_s + travel.sum(),
            Cause("this is only the computing time", "overlap.computing-alone"): compute_s,
            Cause("here the link carries all gradients at the same time", "overlap.side-by-side"): max(
                compute_s, float(np.max(ready + travel))
            ),
            Cause("here all gradients are ready as early as the first", "overlap.ready-with-first"): max(
                compute_s, float(ready[0] + travel.sum())
            ),
            Cause("here all gradients are ready as late as the last", "overlap.ready-with-last"): float(
                ready[-1] + travel.sum()
            ),
            Cause("a step cannot end before computing does", "overlap.shorter-than-computing"): arrival_s,
        }
        case = f"{num_tensors} gradients that travel for {travel.sum() / compute_s:.0%} of the computing: seconds"
        require_close(got, max(compute_s, arrival_s), case, "overlap.wrong", mistakes, is_relative=True)


def check_strong_limit(strong_limit: Answer, num_tables: int) -> None:
    """Doubling pays until it first gains too little, whatever later doublings gain.

    Example: the speeds are 100, 180, 250 and 480 on 1 to 8 GPUs, so the doublings gain factors of 1.8, 1.39 and 1.92.
    If a factor of 1.5 is required, the limit is 2 GPUs, because the next doubling gains too little.
    """
    rng = fresh_rng()
    tables = list(TABLES)
    for number in range(num_tables):
        length, min_gain = int(rng.integers(3, 9)), float(rng.uniform(1.5, 1.95))
        # The first table always reaches the gain; the second misses it at once, and the others miss it somewhere.
        place = {0: length - 1, 1: 0}.get(number, int(rng.integers(0, length)))
        gains = rng.uniform(min_gain + 0.01, 2.0, length - 1)
        gains[place : place + 1] = rng.uniform(1.0, min_gain - 0.01)
        tables.append(((rng.uniform(100, 900) * np.cumprod([1, *gains])).tolist(), min_gain, place))
    for speeds, min_gain, place in tables:
        num_gpus = (int(rng.integers(1, 9)) * 2 ** np.arange(len(speeds))).tolist()
        got, expected = as_number(strong_limit(num_gpus, speeds, min_gain), "the number of GPUs"), num_gpus[place]
        listed = ", ".join(f"{after / before:.2f}" for before, after in zip(speeds, speeds[1:]))
        case = f"doubling from {num_gpus[0]} GPUs on gains {listed}, and must gain {min_gain:.2f}; number of GPUs"
        cause = Cause("the next doubling still pays", "doubling.too-few")
        if got > expected:
            cause = Cause("this is after the first doubling that does not pay", "doubling.too-many")
        mistakes = {cause: got} if got in num_gpus else None
        require_equal(got, float(expected), case, "doubling.wrong", mistakes=mistakes)


def check_request(request: Answer, num_cases: int) -> None:
    """The request is for the fewest nodes with which the job ends within the limit, or None if no number is enough.

    The hours include the margin and are rounded up.
    Example: a job takes 8 hours on 3 nodes and 4 hours on 6 nodes. With a margin of 2, 3 nodes would need 16 hours. If
    the limit is 8 hours, 6 nodes are requested for 8 hours.
    """
    rng = fresh_rng()
    cases: list[tuple[Any, ...]] = []
    for number in range(num_cases):
        nums_nodes = (2 ** np.arange(int(rng.integers(3, 6)))).tolist()
        speeds = (rng.uniform(500, 1500) * np.array(nums_nodes) ** rng.uniform(0.8, 0.98)).tolist()
        num_epochs, margin = int(rng.integers(90, 300)), float(rng.uniform(1.1, 1.5))
        hours = [ceil(margin * num_epochs * 1_281_167 / speed / 3600) for speed in speeds]
        # In turn: some number just suffices, one takes an hour too long, none suffices, all have hours to spare.
        place = int(rng.integers(1, len(hours)))
        max_hours = (hours[place], hours[place - 1] - 1, min(hours) - 1, max(hours) + 5)[number % 4]
        expected = next((pair for pair in zip(nums_nodes, hours) if pair[1] <= max_hours), None)
        cases.append((nums_nodes, speeds, 1_281_167, num_epochs, max_hours, margin, expected))
    for nums_nodes, seconds, max_hours, margin, expected in REQUESTS:
        speeds = [8 * 1024 * 3600 / one for one in seconds]
        cases.append((nums_nodes, speeds, 1024 * 3600, 8, max_hours, margin, expected))
    for *job, expected in cases:
        _check_request(request(*job), job, expected)


def _check_request(got: Any, job: Sequence[Any], expected: tuple[int, int] | None) -> None:
    """Compare the answer's request with the expected one; `job` holds the arguments that the answer got."""
    nums_nodes, speeds, num_images, num_epochs, max_hours, margin = job
    case = f"{num_epochs} epochs within {max_hours} h, margin {margin:.2f}, on {nums_nodes} nodes"
    if expected is None or got is None:
        require_equal(got, expected, case, "request.wrong")
        return
    pair = [as_number(one, "a value that request returns") for one in as_list(got, "the return value of request")]
    require_equal(len(pair), 2, "number of values that request returns (nodes and hours)", "request.wrong-number")
    num_nodes, hours = expected
    swapped = {Cause("the nodes come first", "request.swapped"): pair[0]} if pair == [hours, num_nodes] else None
    case += f", of which {num_nodes} take {hours} h"
    require_equal(pair[0], float(num_nodes), f"{case}: nodes", "request.wrong-nodes", mistakes=swapped)
    exact = num_images * num_epochs / speeds[nums_nodes.index(num_nodes)] / 3600
    mistakes = {
        Cause("this is the limit, not the time that is needed", "request.limit"): max_hours,
        Cause("the margin is missing", "request.no-margin"): ceil(exact),
        Cause("apply the margin first, and then round the hours up", "request.rounded-early"): ceil(exact) * margin,
        Cause("hours that are whole already are not rounded up", "request.whole-hours"): hours + 1,
    }
    require_close(pair[1], hours, f"{case}: hours", "request.wrong-hours", mistakes)


def _link(rng: np.random.Generator) -> tuple[float, float, float]:
    """Return random values for a number of bytes to send, a link's latency in seconds, and its seconds per byte."""
    return float(rng.integers(10**4, 10**9)), float(rng.uniform(1e-6, 1e-4)), float(rng.uniform(1e-11, 1e-9))
