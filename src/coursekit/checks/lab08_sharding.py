"""Checks of lab 08's last section: bytes on a rank under DDP, ZeRO-1 and FSDP, counted and predicted."""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np

from coursekit.checks.check import CheckError, fresh_rng, require
from coursekit.checks.compare import explained, require_close, require_equal
from coursekit.checks.on_ranks import TIMEOUT_S, call_answer, run_on_ranks
from coursekit.drivers import lab08_sharding as drivers
from coursekit.drivers.calls import Answer
from coursekit.drivers.lab08 import joined
from coursekit.errors import Cause
from coursekit.text import counted

KINDS = ("ddp", "zero", "fsdp")
NAMES = ("parameters", "gradients", "optimizer")
BYTES = 4  # per number
# For each kind, per weight: the bytes that every rank holds, the bytes that the ranks share out, and how often 4 bytes
# travel.
TABLE = {"ddp": (16, 0, 2), "zero": (8, 8, 3), "fsdp": (0, 16, 3)}
COUNTS = tuple(2**power for power in range(7))  # of GPUs in a budget
ALIKE = 1e-6  # numbers in 32 bits
NUM_WEIGHTS = drivers.NUM_LAYERS * drivers.WIDTH * (drivers.WIDTH + 1)


def _launch(num_ranks: int) -> dict[str, Any]:
    private = fresh_rng().normal(size=(num_ranks, 4, drivers.WIDTH)).astype(np.float32)
    return {"num_ranks": num_ranks, "private": list(private), "wrapper": joined, "timeout_s": 2 * TIMEOUT_S}


def check_bytes_held(bytes_held: Answer, num_ranks: int) -> None:
    """The answer counts a rank's bytes of parameters, gradients and optimiser state under DDP, ZeRO-1 and FSDP.

    Adam's counters, one number for each tensor, may be counted, too.
    """
    kinds = (*KINDS, f"ddp{drivers.BEFORE}")
    for rank, of_rank in enumerate(run_on_ranks(drivers.counted, bytes_held, kinds, **_launch(num_ranks))):
        for kind, name in product(kinds, NAMES):
            counts, there, whole = of_rank[kind]
            require(name in counts, f"there is no entry {name!r}", "answer.no-entry")
            got, counters = counts[name], there["counters"] if name == "optimizer" else 0
            if got != there[name] + counters:
                what = f"{kind}, bytes of {name} on rank {rank}"
                mistakes = _mistakes_of_bytes(kind, name, there, whole, num_ranks)
                near = {cause: got if got - one in {0, counters} else one for cause, one in mistakes.items()}
                require_close(got, there[name], what, "bytes-held.wrong", near)


def _mistakes_of_bytes(
    kind: str, name: str, there: dict[str, int], whole: dict[str, int], num_ranks: int
) -> dict[Cause, float]:
    """Return the counts to which common mistakes lead, given the bytes on the rank and in the whole model."""
    expected, parameters, num_bytes = there[name], there["parameters"], drivers.NUM_BYTES.get(kind, BYTES)
    if kind.endswith(drivers.BEFORE):
        none = Cause("grad is None before the first backward()", "bytes-held.no-gradients-yet")
        return {none: parameters} if name == "gradients" else {}
    of_4 = Cause(f"a number in this model has {num_bytes} bytes: ask each tensor", "bytes-held.of-4-bytes")
    numbers = Cause("these are numbers, not bytes", "bytes-held.numbers")
    mistakes = {numbers: expected / num_bytes, of_4: expected * BYTES / num_bytes}
    if expected < whole[name]:
        part = "a rank's part is x.to_local(), and the parts of two ranks may differ in size"
        mistakes[Cause(part, "bytes-held.equal-parts")] = whole[name] // num_ranks
    if name != "optimizer":
        divided = "do not divide the bytes that a rank holds by the number of ranks"
        all_of_it = "these are the bytes of the whole model: count this rank's part, x.to_local()"
        frozen = "a frozen parameter has no gradient: its grad is None"
        buffers = Cause("a buffer is not a parameter", "bytes-held.buffers")
        return {
            **mistakes,
            Cause(divided, "bytes-held.divided"): expected / num_ranks,
            Cause(all_of_it, "bytes-held.of-all-ranks"): whole[name],
            **({buffers: expected + num_bytes * drivers.BUFFER_SIZE} if name == "parameters" else {}),
            **({Cause(frozen, "bytes-held.frozen"): parameters} if name == "gradients" else {}),
        }
    mistakes[Cause("Adam keeps two numbers for each weight", "bytes-held.one-of-two")] = expected / 2
    frozen = "Adam keeps nothing for a frozen parameter"
    mistakes[Cause(frozen, "bytes-held.state-of-frozen")] = 2 * parameters
    part = "optimizer.optim has the part" if kind == "zero" else "x.to_local() is the part"
    all_of_it = f"these are the numbers of all ranks: {part} of this rank"
    mistakes[Cause(all_of_it, "bytes-held.of-all-ranks")] = whole[name]
    if kind == "zero":
        wrapper = "ZeRO's optimiser wraps the one that holds the state: optimizer.optim"
        mistakes[Cause(wrapper, "bytes-held.of-wrapper")] = 0
    return mistakes


def check_zero(make_zero: Answer, num_ranks: int) -> None:
    """Adam's state is sharded among the ranks, which end with the same weights as with plain Adam."""
    by_name = Cause("pass the rate to ZeRO by name: lr=rate", "zero.rate-by-place")
    with explained({"'float' object has no attribute 'size'": by_name}):
        results = run_on_ranks(drivers.zero, make_zero, **_launch(num_ranks))
    scaled = "this is multiplied by the number of ranks: pass the given rate on"
    mistakes = {
        Cause("this is Adam's default: pass the given rate on", "zero.default-rate"): 0.001,
        Cause(scaled, "zero.scaled-rate"): drivers.RATE * num_ranks,
    }
    for rank, one in enumerate(results):
        what = f"the rate of the optimiser on rank {rank}"
        require_close(one["rate"], drivers.RATE, what, "zero.wrong-rate", mistakes)
        for name, (got, own) in one["settings"].items():
            raise CheckError(f"{name} of the optimiser is {got}, expected Adam's default, {own}", "zero.settings")
    name = results[0]["name"]
    _check_weights(results, f": {name} updates the shares" if name != "Adam" else "")
    held = [one["held"]["optimizer"] for one in results]
    whole = 2 * BYTES * NUM_WEIGHTS
    message = f"expected a share of the {whole} bytes of Adam's state on each rank, got {held}"
    require(max(held) < whole and sum(held) == whole, message, "zero.not-shared")


def check_shard(shard: Answer, num_ranks: int) -> None:
    """Each rank holds its share of every layer's weights, and training gives the same weights as DDP."""
    order = Cause("call fully_shard for the layers first, and for the model last", "fsdp.model-first")
    with explained({"Invariant encountered": order}):
        results = run_on_ranks(drivers.sharded, shard, **_launch(num_ranks))
    for rank, one in enumerate(results):
        expected, got = BYTES * NUM_WEIGHTS // num_ranks, one["held"]["parameters"]
        whole = Cause("these are all weights of the model: share them out with fully_shard", "fsdp.not-sharded")
        require_equal(
            got, expected, f"bytes of weights on rank {rank}", "fsdp.wrong-bytes", mistakes={whole: BYTES * NUM_WEIGHTS}
        )
        units, each = "the number of layers that are separate units", ": call fully_shard for each of them"
        single = Cause("with one unit for the whole model, all weights are gathered at once", "fsdp.one-unit")
        require_equal(one["num_units"], drivers.NUM_LAYERS, units, "fsdp.too-few-units", each, mistakes={single: 0})
        message, is_split = "after its forward pass, a layer still holds all its weights", not one["still_whole"]
        later = "do not set reshard_after_forward to False, and put only one layer into a unit"
        require(
            is_split or one["is_unit"], f"{message}: make the model a unit, too, after its layers", "fsdp.model-no-unit"
        )
        require(is_split, f"{message}: {later}", "fsdp.not-resharded")
        added = f"fully_shard gets another {' and '.join(one['policies'])} than its default: keep the default settings"
        require(not one["policies"], added, "fsdp.policy")
    _check_weights(results)


def _check_weights(results: list[Any], hint: str = "") -> None:
    for rank, one in enumerate(results):
        same = np.shape(one["weights"]) == np.shape(one["expected"])
        gap = np.abs(np.subtract(one["weights"], one["expected"])).max() if same else np.inf
        message = f"after two steps, the weights on rank {rank} are not those that DDP and Adam give{hint}"
        require(gap < ALIKE, message, "sharding.wrong-weights")


def check_predict_bytes(predict_bytes: Answer, num_cases: int) -> None:
    """The bytes that a rank holds and sends follow from the lab's table.

    Example: with 1000 weights and ZeRO-1 on 4 ranks, a rank holds 8000 + 8000 / 4 bytes and sends 3 * 4000 * 3 / 4
    bytes.
    """
    rng = fresh_rng()  # so many weights that rounding bytes does not matter
    sizes = [(1, 10**9), *zip(rng.integers(2, 65, num_cases).tolist(), rng.integers(10**9, 10**11, num_cases).tolist())]
    cases = list(product(KINDS, sizes))
    results = call_answer(drivers.predicted, predict_bytes, [(kind, size, number) for kind, (number, size) in cases])
    for (kind, (num_ranks, num_weights)), found in zip(cases, results):
        own, shared, times = TABLE[kind]
        held = (own + shared / num_ranks) * num_weights
        sent = times * BYTES * num_weights * (num_ranks - 1) / num_ranks
        four = "a weight, its gradient and two numbers of Adam's are four numbers"
        little = "this shares out only 4 of the 16 bytes of each weight"
        zero_2 = "this shares out the gradients, too, as ZeRO-2 does"
        of_held = {
            Cause(f"this is {name}", "bytes-predicted.other-way"): (whole + split / num_ranks) * num_weights
            for name, (whole, split, _) in TABLE.items()
        } | {
            Cause(four, "bytes-predicted.three-numbers"): 3 * BYTES * num_weights,
            Cause(little, "bytes-predicted.little-shared"): (12 + 4 / num_ranks) * num_weights,
            Cause("these are the bytes sent", "bytes-predicted.sent"): sent,
            Cause(zero_2, "bytes-predicted.zero-2"): (4 + 12 / num_ranks) * num_weights,
        }
        of_sent = {
            Cause("this counts N of N parts, not N - 1", "bytes-predicted.n-parts"): times * BYTES * num_weights,
            Cause("this is the sum over all ranks", "bytes-predicted.of-all-ranks"): sent * num_ranks,
            Cause("these are numbers, not bytes", "bytes-predicted.numbers"): sent / BYTES,
        } | {
            Cause(f"{BYTES} bytes of each weight travel {times} times, not {n} times", "bytes-predicted.times"): (
                sent * n / times
            )
            for n in {1, *(times for _, _, times in TABLE.values())}
        }
        for name, expected, mistakes in (("held", held, of_held), ("sent", sent, of_sent)):
            require(name in found, f"predict_bytes returns no entry {name!r}", "answer.no-entry")
            what = f"{kind}, {num_weights} weights, {counted(num_ranks, 'rank')}, bytes {name}"
            require_close(found[name], expected, what, "bytes-predicted.wrong", mistakes, is_relative=True)


def check_fewest_gpus(fewest_gpus: Answer, predict_bytes: Answer, num_cases: int) -> None:
    """The answer is the smallest number of GPUs with which everything fits; an exact fit counts.

    An answer that uses the student's own wrong prediction passes if the rest is right, because that prediction has
    already cost its own point.
    """
    rng, cases, right = fresh_rng(), [], []
    for number in range(num_cases):
        kind, num_weights = KINDS[number % len(KINDS)], int(rng.integers(1, 1000)) * 2**20
        own, shared, times = TABLE[kind]
        other = float(rng.integers(1, 8)) * 2**24
        held = [(own + shared / count) * num_weights for count in COUNTS]
        sent = [times * BYTES * num_weights * (1 - 1 / count) for count in COUNTS]
        needs = [one + other for one in held]
        memory = float(rng.choice([*needs, needs[0] + 1, needs[-1] - 1, needs[2] - 1, needs[3] + 1]))
        cases.append((kind, num_weights, memory, other))
        right.append((held, sent))
    found = call_answer(drivers.budgets, fewest_gpus, cases)
    mistakes = [
        _mistakes_of_budget(*sizes, memory - other, other, got)
        for sizes, (_, _, memory, other), got in zip(right, cases, found)
    ]
    fitting = [cause for cause in mistakes[0] if all(got == one[cause] for got, one in zip(found, mistakes))]
    expected = [_first(zip(COUNTS, held), memory - other) for (held, _), (_, _, memory, other) in zip(right, cases)]
    if found == expected or (len(set(found)) > len(KINDS) and found == _by_own(predict_bytes, cases)):
        return
    for (kind, num_weights, memory, other), got, count in zip(cases, found, expected):
        what = f"{kind}, {num_weights} weights, {other:.0f} other bytes, {memory:.0f} bytes of memory: GPUs"
        require_equal(got, count, what, "budget.wrong", mistakes=dict.fromkeys(fitting[:1], got))


def _first(needs: Iterable[tuple[int, float]], most: float) -> int | None:
    """Return the first number of GPUs with which a rank needs at most `most` bytes, or None if there is none."""
    return next((count for count, need in needs if need <= most), None)


def _by_own(predict_bytes: Answer, cases: Sequence[tuple[str, int, float, float]]) -> list[int | None]:
    """Return the numbers of GPUs that follow from the answer's own prediction, or [] if it cannot be used."""
    asked = [(kind, num_weights, count) for kind, num_weights, _, _ in cases for count in COUNTS]
    try:
        found = [one["held"] for one in call_answer(drivers.predicted, predict_bytes, asked)]
    except Exception:  # noqa: BLE001  # whatever is wrong with it
        return []
    held = np.reshape(found, (len(cases), len(COUNTS))).tolist()
    return [_first(zip(COUNTS, needs), memory - other) for needs, (_, _, memory, other) in zip(held, cases)]


def _mistakes_of_budget(
    held: list[float], sent: list[float], free: float, other: float, got: float | None
) -> dict[Cause, Any]:
    """Return the numbers of GPUs to which common mistakes lead if a rank has `free` bytes for what it holds."""
    expected = _first(zip(COUNTS, held), free)
    shared = 2 * (held[0] - held[1])
    both = [one + more for one, more in zip(held, sent)]
    every = range(1, COUNTS[-1] + 1)
    return {
        Cause("an exact fit counts, too", "budget.exact"): _first(zip(COUNTS, held), np.nextafter(free, 0)),
        Cause("each rank needs its other_bytes as well", "budget.no-others"): _first(zip(COUNTS, held), free + other),
        Cause("the bytes that a rank sends need no extra memory", "budget.sent"): _first(zip(COUNTS, both), free),
        Cause("try only 1, 2, 4, … 64", "budget.every-number"): _first(
            ((count, held[0] - shared + shared / count) for count in every), free
        ),
        Cause("try 1 GPU, too", "budget.without-1"): expected and max(COUNTS[1], expected),
        Cause("try 64 GPUs, too", "budget.without-64"): None if expected == COUNTS[-1] else expected,
        Cause("return None if all are too few", "budget.no-none"): expected or got,
    }
