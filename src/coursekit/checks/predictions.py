"""Checks of lab 07: a model of a training step, held against cases that its author has not seen."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks.check import CheckError, require
from coursekit.checks.plain_numbers import as_list, as_number, require_equal
from coursekit.checks.random_inputs import fresh_rng
from coursekit.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from coursekit.checks.plain_numbers import Array

NOISE = 0.05  # of each measured allreduce, relative
MAX_ERROR = 0.15  # relative, three times what noise does to a right fit; without weights alpha is off by several times
CLOSE = 1e-6  # relative, between two ways to compute the same
PARTS = ("computing", "sharing", "predicted communication", "the unexplained")


def check_allreduce_s(allreduce_s: Callable[..., Any], num_cases: int) -> None:
    """A ring allreduce takes 2(N - 1) messages, each of an N-th of the bytes.

    Example: 4 ranks, 1 MB, 10 microseconds and 1 GB/s: 6 * (10 us + 250 us) = 1.56 ms.
    """
    rng = fresh_rng()
    for num_ranks in [1, *rng.integers(2, 600, num_cases).tolist()]:
        num_bytes, alpha, beta = _link(rng)
        messages_s, bytes_s = 2 * (num_ranks - 1) * alpha, 2 * (num_ranks - 1) / num_ranks * num_bytes * beta
        got = as_number(allreduce_s(num_ranks, num_bytes, alpha, beta), f"the seconds on {num_ranks} ranks")
        hints = {
            "the bytes are missing": messages_s,
            "the latency is missing": bytes_s,
            "a message is the N-th part of the array": 2 * (num_ranks - 1) * (alpha + num_bytes * beta),
            "that is one half of the ring": (messages_s + bytes_s) / 2,
        }
        case = f"{counted(num_ranks, 'rank')}, {num_bytes:.0f} bytes, alpha {alpha:.3g} s, beta {beta:.3g} s per byte"
        _require_close(got, messages_s + bytes_s, f"{case}: seconds", hints)


def check_fit_link(fit_link: Callable[..., Any], num_sizes: int) -> None:
    """Latency and inverse bandwidth behind noisy allreduces are found, on 2 ranks and on more."""
    for num_ranks in (2, 4, 8):
        rng = fresh_rng()
        truth = {"alpha": rng.uniform(20e-6, 80e-6), "beta": rng.uniform(0.2e-9, 1e-9)}
        sizes = np.geomspace(1e3, 1e9, num_sizes)
        num_steps = 2 * (num_ranks - 1)
        seconds = num_steps * (truth["alpha"] + sizes / num_ranks * truth["beta"]) * rng.normal(1, NOISE, num_sizes)
        order = rng.permutation(num_sizes)
        found = as_list(fit_link(num_ranks, sizes[order], seconds[order]), "what fit_link returns")
        require_equal(len(found), len(truth), "number of values that fit_link returns")
        for (name, expected), value in zip(truth.items(), found):
            got = as_number(value, name)
            unit = {"alpha": "s", "beta": "s for each byte"}[name]
            hint = "" if abs(got / expected - 1) < MAX_ERROR else _fit_hint(name, got, truth, num_ranks)
            is_right = abs(got / expected - 1) < MAX_ERROR
            require(is_right, f"{num_ranks} ranks, {name}: expected about {expected:.3g} {unit}, got {got:.3g}{hint}")


def _fit_hint(name: str, got: float, truth: Mapping[str, float], num_ranks: int) -> str:
    """Return in words what a wrong value seems to be."""
    other = "beta" if name == "alpha" else "alpha"
    num_steps = 2 * (num_ranks - 1)
    known = {
        f", which is {other}: alpha comes first": truth[other],
        f", which is 1/{name}": 1 / truth[name],
        ", which belongs to all steps together": num_steps * truth[name],
        ", which belongs to the whole array in all steps": num_steps / num_ranks * truth[name],
    }
    close = [words for words, value in known.items() if abs(got / value - 1) < MAX_ERROR]
    if close or name != "alpha":
        return close[0] if close else ""
    return ": large arrays outvote the small ones where a row is not divided by its seconds"


def check_predict_step(predict_step: Callable[..., Any], num_cases: int) -> None:
    """A step is computing and then an allreduce; the efficiency is the share of computing."""
    rng = fresh_rng()
    for num_ranks in [1, *rng.integers(2, 600, num_cases).tolist()]:
        num_bytes, alpha, beta = _link(rng)
        alone_s = float(rng.uniform(0.01, 0.5))
        travel_s = 2 * (num_ranks - 1) * (alpha + num_bytes / num_ranks * beta)
        found = as_list(predict_step(alone_s, num_ranks, num_bytes, alpha, beta), "what predict_step returns")
        require_equal(len(found), 2, "number of values that predict_step returns, seconds and efficiency")
        step_s, efficiency = (as_number(one, "what predict_step returns") for one in found)
        case = f"{alone_s:.3g} s alone, {counted(num_ranks, 'rank')}"
        share = alone_s / (alone_s + travel_s)
        hints = {
            "it is computing alone": alone_s,
            "it is the allreduce alone": travel_s,
            "it is the efficiency, which comes second": share,
            "each rank has a batch of its own, and computes as long as one alone": alone_s / num_ranks + travel_s,
        }
        _require_close(step_s, alone_s + travel_s, f"{case}: seconds of a step", hints)
        hints = {
            "it is the speed-up": num_ranks * share,
            "it is the share of communication": 1 - share,
            "it is in per cent": 100 * share,
        }
        _require_close(efficiency, share, f"{case}: efficiency", hints)


def check_explain_gap(explain_gap: Callable[..., Any], num_cases: int) -> None:
    """The parts of a measured step add up to it; sharing and the unexplained may be negative."""
    rng = fresh_rng()
    for number in range(num_cases):
        alone_s, predicted_s = rng.uniform(0.01, 0.5, 2).tolist()
        # Four cases in turn have all pairs of signs.
        sharing_s = float(rng.uniform(0.1, 0.8)) * alone_s * (-1) ** number
        unexplained_s = float(rng.uniform(0.1, 0.9)) * predicted_s * (-1) ** (number // 2)
        expected = (alone_s, sharing_s, predicted_s, unexplained_s)
        together_s = alone_s + sharing_s
        averaging_s = together_s + predicted_s + unexplained_s
        found = as_list(explain_gap(alone_s, together_s, averaging_s, predicted_s), "what explain_gap returns")
        require_equal(len(found), len(PARTS), "number of parts that explain_gap returns")
        for name, value, right in zip(PARTS, found, expected):
            got = as_number(value, name)
            hints = {"that is with the sign turned": -right, "that is the whole measured step": averaging_s}
            hints |= {"it may be negative": 0.0} if right < 0 else {}
            hints |= {"that is what was measured": averaging_s - together_s} if name == PARTS[2] else {}
            hints |= {f"that is {other}": one for other, one in zip(PARTS, expected) if other != name}
            case = f"alone {alone_s:.3f} s, together {together_s:.3f} s, averaging {averaging_s:.3f} s: {name}"
            _require_close(got, right, case, hints)


def check_overlapped_s(overlapped_s: Callable[..., Any], num_tensors: int) -> None:
    """Gradients travel one after the other, none before it is ready; the step ends with the later of both.

    Example: ready at 1 and 2 s, travelling for 2 s each, with 2.5 s of computing: the first is there after 3 s, the
    second after 5 s.
    """
    rng = fresh_rng()
    # The last gradient is ready before computing ends, and is there by then, or it is the end of computing.
    for load, last in ((0.1, 0.8), (0.5, 1.0), (1.0, 1.0), (3.0, 1.0)):
        compute_s = float(rng.uniform(0.05, 0.5))
        ready = np.append(np.sort(rng.uniform(0.3, last, num_tensors - 1)), last) * compute_s
        travel = rng.uniform(0.2, 1.8, num_tensors) * load * compute_s / num_tensors
        expected = max(compute_s, _last_arrival(ready, travel))
        got = as_number(overlapped_s(compute_s, ready.tolist(), travel.tolist()), "the seconds of a step")
        hints = {
            "that is computing, and then all gradients": compute_s + travel.sum(),
            "that is computing alone": compute_s,
            "as if the link carried all at the same time": max(compute_s, float(np.max(ready + travel))),
            "as if all were ready at the first one's time": max(compute_s, float(ready[0] + travel.sum())),
            "as if all were ready at the last one's time": float(ready[-1] + travel.sum()),
            "a step cannot end before computing does": _last_arrival(ready, travel),
        }
        case = f"{num_tensors} gradients that travel for {travel.sum() / compute_s:.0%} of computing: seconds"
        _require_close(got, expected, case, hints)


def _last_arrival(ready: Array, travel: Array) -> float:
    """Return when the last gradient is there, by the longest chain: one gradient waits for nothing, others for it."""
    after = np.cumsum(travel[::-1])[::-1]  # how long a gradient and all later ones travel
    return float(np.max(ready + after))


def check_strong_limit(strong_limit: Callable[..., Any], num_tables: int) -> None:
    """Doubling is worth it up to the first time that it brings too little, whatever comes later."""
    rng = fresh_rng()
    for number in range(num_tables):
        length, min_gain = int(rng.integers(3, 9)), float(rng.uniform(1.5, 1.95))
        num_gpus = (int(rng.integers(1, 9)) * 2 ** np.arange(length)).tolist()
        # The first table never falls below, the second at once, others somewhere and perhaps above it again.
        place = {0: length - 1, 1: 0}.get(number, int(rng.integers(0, length)))
        gains = rng.uniform(min_gain + 0.01, 2.0, length - 1)
        gains[place : place + 1] = rng.uniform(1.0, min_gain - 0.01)
        speeds = (rng.uniform(100, 900) * np.cumprod([1, *gains])).tolist()
        got = as_number(strong_limit(num_gpus, speeds, min_gain), "the number of GPUs")
        listed = ", ".join(f"{gain:.2f}" for gain in gains)
        told = f"doubling from {num_gpus[0]} GPUs on brings {listed}, and has to bring {min_gain:.2f}"
        expected = num_gpus[place]
        hint = ""
        if got != expected and got in num_gpus:
            hint = ": that is after the doubling that did not pay" if got > expected else ": doubling still paid there"
        require_equal(got, float(expected), told, hint)


def check_request(request: Callable[..., Any], num_cases: int) -> None:
    """The smallest number of nodes whose whole hours, with the margin, are within the limit; None if there is none."""
    rng = fresh_rng()
    for number in range(num_cases):
        nums_nodes = (2 ** np.arange(int(rng.integers(3, 6)))).tolist()
        speeds = (rng.uniform(500, 1500) * np.array(nums_nodes) ** rng.uniform(0.8, 0.98)).tolist()
        num_epochs, margin = int(rng.integers(90, 300)), float(rng.uniform(1.1, 1.5))
        needed = [num_epochs * 1_281_167 / speed / 3600 for speed in speeds]
        hours = [ceil(margin * one) for one in needed]
        # In turns: one just suffices, one misses by an hour, none suffices, the smallest does with hours to spare.
        place = int(rng.integers(1, len(hours)))
        max_hours = (hours[place], hours[place - 1] - 1, min(hours) - 1, max(hours) + 5)[number % 4]
        expected = _smallest(nums_nodes, hours, max_hours)
        got = request(nums_nodes, speeds, 1_281_167, num_epochs, max_hours, margin)
        case = f"{num_epochs} epochs within {max_hours} h, margin {margin:.2f}, on {nums_nodes} nodes"
        if expected is None or got is None:
            require_equal(got, expected, case)
            continue
        pair = [as_number(one, "what request returns") for one in as_list(got, "what request returns")]
        require_equal(len(pair), 2, "number of values that request returns, nodes and hours")
        if pair != [float(one) for one in expected]:
            right, wrong = (f"{nodes:g} nodes for {hours:g} h" for nodes, hours in (expected, pair))
            exact = needed[nums_nodes.index(expected[0])]
            hints = {
                "the nodes come first": expected[::-1],
                "that is the limit, not what is needed": (expected[0], max_hours),
                "the margin is missing": (expected[0], ceil(exact)),
                "hours are rounded up at the end, with their margin": (expected[0], ceil(exact) * margin),
            }
            close = [words for words, value in hints.items() if np.allclose(pair, value)]
            raise CheckError(f"{case}: expected {right}, got {wrong}" + (f": {close[0]}" if close else ""))


def _smallest(nums_nodes: Sequence[int], hours: Sequence[int], max_hours: int) -> tuple[int, int] | None:
    fitting = [pair for pair in zip(nums_nodes, hours) if pair[1] <= max_hours]
    return fitting[0] if fitting else None


def _link(rng: np.random.Generator) -> tuple[float, float, float]:
    """Return bytes, latency in seconds, and seconds for each byte."""
    return float(rng.integers(10**4, 10**9)), float(rng.uniform(1e-6, 1e-4)), float(rng.uniform(1e-11, 1e-9))


def _require_close(got: float, expected: float, what: str, hints: Mapping[str, float]) -> None:
    """Require a number; where it is another that a mistake would give, say which."""
    if np.isclose(got, expected, rtol=CLOSE, atol=0):
        return
    close = [words for words, value in hints.items() if np.isclose(got, value, rtol=CLOSE, atol=0)]
    raise CheckError(f"{what}: expected {expected:.4g}, got {got:.4g}" + (f": {close[0]}" if close else ""))
