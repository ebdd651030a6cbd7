"""Checks of lab 08's last section: the bytes of a rank under DDP, ZeRO-1 and FSDP, counted and predicted."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from coursekit.checks.check import fresh_rng, require
from coursekit.checks.compare import as_dict, as_number, explained, require_close, require_equal
from coursekit.checks.on_ranks import TIMEOUT_S, run_here
from coursekit.drivers import lab08_sharding as drivers
from coursekit.drivers.calls import Answer
from coursekit.drivers.lab08 import joined
from coursekit.errors import Cause
from coursekit.text import counted

KINDS = ("ddp", "zero", "fsdp")
BYTES = 4  # of a number
# By kind: the bytes of each weight that every rank holds and that ranks share out, and how many times 4 bytes travel.
TABLE = {"ddp": (16, 0, 2), "zero": (8, 8, 3), "fsdp": (0, 16, 3)}
COUNTS = tuple(2**power for power in range(7))  # of GPUs, in a budget
STEPS_BYTES = 64  # of Adam's own counters, a number for each tensor, which may be counted
ALIKE = 1e-5  # numbers in 32 bits
NUM_WEIGHTS = drivers.NUM_LAYERS * drivers.WIDTH * (drivers.WIDTH + 1)


def _launch(num_ranks: int) -> dict[str, Any]:
    private = fresh_rng().normal(size=(num_ranks, 4, drivers.WIDTH)).astype(np.float32)
    return {"num_ranks": num_ranks, "private": list(private), "by": joined, "timeout_s": 2 * TIMEOUT_S}


def check_bytes_held(bytes_held: Answer, num_ranks: int) -> None:
    """What a rank holds of parameters, gradients and Adam's state is counted in each of the three ways."""
    kinds = (*KINDS, f"ddp{drivers.BEFORE}")
    for rank, of_rank in enumerate(run_here(drivers.counted, bytes_held, kinds, **_launch(num_ranks))):
        for kind in kinds:
            got, there = of_rank[kind]
            for name, expected in there.items():
                require(name in got, f"there is no entry {name!r}", "answer.no-entry")
                mistakes = _mistakes_of_bytes(kind, name, expected, num_ranks)
                near = {words: got[name] if _with_steps(got[name], one) else one for words, one in mistakes.items()}
                if not _with_steps(got[name], expected):
                    require_close(
                        got[name], expected, f"{kind}, bytes of {name} on rank {rank}", "bytes-held.wrong", near
                    )


def _with_steps(got: float, expected: float) -> bool:
    """Return whether these are so many bytes, with Adam's counters or without."""
    return expected <= got <= expected + STEPS_BYTES


def _mistakes_of_bytes(kind: str, name: str, expected: float, num_ranks: int) -> dict[Cause, float]:
    """Return what one counts by mistake."""
    if kind.endswith(drivers.BEFORE):
        none = Cause("a grad is None before the first backward()", "bytes-held.no-gradients-yet")
        return {none: BYTES * NUM_WEIGHTS} if name == "gradients" else {}
    mistakes = {Cause("these are numbers, not bytes", "bytes-held.numbers"): expected / BYTES}
    if name != "optimizer":
        divided = "what a rank holds is not to be divided by the number of ranks"
        whole = "these are all of the model's: count what this rank holds, x.to_local()"
        return {
            **mistakes,
            Cause(divided, "bytes-held.divided"): expected / num_ranks,
            Cause(whole, "bytes-held.of-all-ranks"): BYTES * NUM_WEIGHTS,
        }
    mistakes[Cause("Adam has two numbers for each weight", "bytes-held.one-of-two")] = expected / 2
    part = "optimizer.optim has those" if kind == "zero" else "x.to_local() is the part"
    whole = f"these are the numbers of all ranks: {part} of this rank"
    mistakes[Cause(whole, "bytes-held.of-all-ranks")] = 2 * BYTES * NUM_WEIGHTS
    if kind == "zero":
        mistakes[
            Cause("ZeRO's optimiser wraps the one that has the state, optimizer.optim", "bytes-held.of-wrapper")
        ] = 0
    return mistakes


def check_zero(make_zero: Answer, num_ranks: int) -> None:
    """The ranks share out Adam's state, and their weights are those that Adam alone gives."""
    by_name = Cause("ZeRO takes the rate by its name: lr=rate", "zero.rate-by-place")
    with explained({"'float' object has no attribute 'size'": by_name}):
        results = run_here(drivers.zero, make_zero, **_launch(num_ranks))
    scaled = "it is multiplied by the number of ranks, and is to be the one given"
    mistakes = {
        Cause("this is Adam's own: pass the rate on", "zero.default-rate"): 0.001,
        Cause(scaled, "zero.scaled-rate"): drivers.RATE * num_ranks,
    }
    for rank, one in enumerate(results):
        require_close(
            one["rate"], drivers.RATE, f"the rate of the optimiser on rank {rank}", "zero.wrong-rate", mistakes
        )
    name = results[0]["name"]
    _check_weights(results, f": the shares are updated by {name}" if name != "Adam" else "")
    held = [one["held"]["optimizer"] for one in results]
    whole = 2 * BYTES * NUM_WEIGHTS
    message = f"expected a share of the {whole} bytes of Adam's state on each rank, got {held}"
    require(max(held) < whole and sum(held) == whole, message, "zero.not-shared")


def check_shard(shard: Answer, num_ranks: int) -> None:
    """A rank holds its share of the weights, layer by layer, and training gives the same weights as DDP."""
    order = Cause("fully_shard is called for the layers first, and at last for the model", "fsdp.model-first")
    with explained({"Invariant encountered": order}):
        results = run_here(drivers.sharded, shard, **_launch(num_ranks))
    for rank, one in enumerate(results):
        expected, got = BYTES * NUM_WEIGHTS // num_ranks, one["held"]["parameters"]
        whole = Cause("these are all of the model's, which fully_shard shares out", "fsdp.not-sharded")
        require_equal(
            got, expected, f"bytes of weights on rank {rank}", "fsdp.wrong-bytes", mistakes={whole: BYTES * NUM_WEIGHTS}
        )
        units, each = "the number of layers that are units of their own", ": call fully_shard for each of them"
        single = Cause("with one unit for the whole model all weights are collected at once", "fsdp.one-unit")
        require_equal(one["num_units"], drivers.NUM_LAYERS, units, "fsdp.too-few-units", each, mistakes={single: 0})
        message, is_split = "a layer's weights are still whole when its forward pass has ended", not one["still_whole"]
        later = "reshard_after_forward is not to be False, and no unit is to have several layers"
        require(
            is_split or one["is_unit"], f"{message}: make the model a unit, too, after its layers", "fsdp.model-no-unit"
        )
        require(is_split, f"{message}: {later}", "fsdp.not-resharded")
    _check_weights(results)


def _check_weights(results: list[Any], hint: str = "") -> None:
    for rank, one in enumerate(results):
        same = np.shape(one["weights"]) == np.shape(one["expected"])
        gap = np.abs(np.subtract(one["weights"], one["expected"])).max() if same else np.inf
        message = f"after two steps the weights on rank {rank} are not those that DDP and Adam give{hint}"
        require(gap < ALIKE, message, "sharding.wrong-weights")


def check_predict_bytes(predict_bytes: Answer, num_cases: int) -> None:
    """The bytes that a rank holds and sends follow from the table.

    Example: 1000 weights on 4 ranks with ZeRO-1: 8000 + 8000 / 4 bytes are held, 3 * 4000 * 3 / 4 are sent.
    """
    rng = fresh_rng()
    sizes = [(1, 1000), *zip(rng.integers(2, 65, num_cases).tolist(), rng.integers(10**3, 10**9, num_cases).tolist())]
    for kind, (num_ranks, num_weights) in product(KINDS, sizes):
        own, shared, times = TABLE[kind]
        found = as_dict(predict_bytes(kind, num_weights, num_ranks), "predict_bytes")
        held = (own + shared / num_ranks) * num_weights
        sent = times * BYTES * num_weights * (num_ranks - 1) / num_ranks
        four = "weights, gradients and two numbers of Adam's are four numbers"
        little = "only 4 of its 16 bytes for each weight are shared out"
        zero_2 = "gradients are shared out as well: this is ZeRO-2"
        of_held = {
            Cause(f"this is {name}", "bytes-predicted.other-way"): (whole + split / num_ranks) * num_weights
            for name, (whole, split, _) in TABLE.items()
        } | {
            Cause(four, "bytes-predicted.three-numbers"): 3 * BYTES * num_weights,
            Cause(little, "bytes-predicted.little-shared"): (12 + 4 / num_ranks) * num_weights,
            Cause("this is what is sent", "bytes-predicted.sent"): sent,
            Cause(zero_2, "bytes-predicted.zero-2"): (4 + 12 / num_ranks) * num_weights,
        }
        of_sent = {
            Cause("it counts N and not N - 1 of N parts", "bytes-predicted.n-parts"): times * BYTES * num_weights,
            Cause("that is the sum of all ranks", "bytes-predicted.of-all-ranks"): sent * num_ranks,
            Cause("these are numbers, not bytes", "bytes-predicted.numbers"): sent / BYTES,
        } | {
            Cause(f"{times} times {BYTES} bytes of each weight travel, not {n} times", "bytes-predicted.times"): (
                sent * n / times
            )
            for n in {1, *(times for _, _, times in TABLE.values())}
        }
        for name, expected, mistakes in (("held", held, of_held), ("sent", sent, of_sent)):
            require(name in found, f"predict_bytes returns no entry {name!r}", "answer.no-entry")
            what = f"{kind}, {num_weights} weights, {counted(num_ranks, 'rank')}, bytes {name}"
            require_close(
                as_number(found[name], what), expected, what, "bytes-predicted.wrong", mistakes, is_relative=True
            )


def check_fewest_gpus(fewest_gpus: Answer, num_cases: int) -> None:
    """The smallest number of GPUs with which all fits: with as many bytes as there are it does."""
    rng, cases = fresh_rng(), []
    for number in range(num_cases):
        kind, num_weights = KINDS[number % len(KINDS)], int(rng.integers(1, 1000)) * 2**20
        own, shared, _ = TABLE[kind]
        other = float(rng.integers(0, 8)) * 2**24
        needs = [(own + shared / count) * num_weights + other for count in COUNTS]
        memory = float(rng.choice([*needs, needs[0] + 1, needs[-1] - 1, needs[2] - 1, needs[3] + 1]))
        expected = next((count for count, need in zip(COUNTS, needs) if need <= memory), None)
        case = f"{kind}, {num_weights} weights, {other:.0f} other bytes, {memory:.0f} bytes of memory: GPUs"
        got = fewest_gpus(kind, num_weights, memory, other)
        cases.append((got, expected, case, _mistakes_of_budget(needs, memory, other, expected, got)))
    fitting = [cause for cause in cases[0][-1] if all(got == mistakes[cause] for got, _, _, mistakes in cases)]
    unclear = Cause("does your predict_bytes pass its check?", "budget.wrong")
    for got, expected, case, _ in cases:
        require_equal(got, expected, case, "budget.wrong", mistakes={(fitting or [unclear])[0]: got})


def _mistakes_of_budget(needs: list[float], memory: float, other: float, expected: Any, got: Any) -> dict[Cause, Any]:
    """Return the numbers of GPUs that common mistakes lead to."""

    def first(fits: Callable[[float], bool]) -> int | None:
        return next((count for count, need in zip(COUNTS, needs) if fits(need)), None)

    return {
        Cause("what fits exactly, fits", "budget.exact"): first(lambda need: need < memory),
        Cause("each rank needs its other_bytes as well", "budget.no-others"): first(
            lambda need: need - other <= memory
        ),
        Cause("1 is to be tried, too", "budget.without-1"): expected and max(COUNTS[1], expected),
        Cause("64 is to be tried, too", "budget.without-64"): None if expected == COUNTS[-1] else expected,
        Cause("None is to say that all are too few", "budget.no-none"): expected or got,
    }
