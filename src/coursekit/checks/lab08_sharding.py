"""Checks of lab 08's last section: the bytes of a rank under DDP, ZeRO-1 and FSDP, counted and predicted."""

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
BYTES = 4  # of a number
# By kind: the bytes of each weight that every rank holds and that ranks share out, and how many times 4 bytes travel.
TABLE = {"ddp": (16, 0, 2), "zero": (8, 8, 3), "fsdp": (0, 16, 3)}
COUNTS = tuple(2**power for power in range(7))  # of GPUs, in a budget
ALIKE = 1e-6  # numbers in 32 bits
NUM_WEIGHTS = drivers.NUM_LAYERS * drivers.WIDTH * (drivers.WIDTH + 1)


def _launch(num_ranks: int) -> dict[str, Any]:
    private = fresh_rng().normal(size=(num_ranks, 4, drivers.WIDTH)).astype(np.float32)
    return {"num_ranks": num_ranks, "private": list(private), "wrapper": joined, "timeout_s": 2 * TIMEOUT_S}


def check_bytes_held(bytes_held: Answer, num_ranks: int) -> None:
    """What a rank holds of parameters, gradients and Adam's state is counted in each of the three ways.

    Adam's counters, a number for each tensor, may be counted.
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
    """Return what one counts by mistake, where a rank holds these bytes, and the whole model has those."""
    expected, parameters, num_bytes = there[name], there["parameters"], drivers.NUM_BYTES.get(kind, BYTES)
    if kind.endswith(drivers.BEFORE):
        none = Cause("a grad is None before the first backward()", "bytes-held.no-gradients-yet")
        return {none: parameters} if name == "gradients" else {}
    of_4 = Cause(f"a number of this model has {num_bytes} bytes: ask each tensor", "bytes-held.of-4-bytes")
    numbers = Cause("these are numbers, not bytes", "bytes-held.numbers")
    mistakes = {numbers: expected / num_bytes, of_4: expected * BYTES / num_bytes}
    if expected < whole[name]:
        part = "a rank's part is x.to_local(), which need not be as large as that of the others"
        mistakes[Cause(part, "bytes-held.equal-parts")] = whole[name] // num_ranks
    if name != "optimizer":
        divided = "what a rank holds is not to be divided by the number of ranks"
        all_of_it = "these are all of the model's: count what this rank holds, x.to_local()"
        frozen = "a frozen parameter has no gradient: its grad is None"
        buffers = Cause("a buffer is no parameter", "bytes-held.buffers")
        return {
            **mistakes,
            Cause(divided, "bytes-held.divided"): expected / num_ranks,
            Cause(all_of_it, "bytes-held.of-all-ranks"): whole[name],
            **({buffers: expected + num_bytes * drivers.BUFFER_SIZE} if name == "parameters" else {}),
            **({Cause(frozen, "bytes-held.frozen"): parameters} if name == "gradients" else {}),
        }
    mistakes[Cause("Adam has two numbers for each weight", "bytes-held.one-of-two")] = expected / 2
    frozen = "Adam keeps nothing of a frozen parameter"
    mistakes[Cause(frozen, "bytes-held.state-of-frozen")] = 2 * parameters
    part = "optimizer.optim has those" if kind == "zero" else "x.to_local() is the part"
    all_of_it = f"these are the numbers of all ranks: {part} of this rank"
    mistakes[Cause(all_of_it, "bytes-held.of-all-ranks")] = whole[name]
    if kind == "zero":
        wrapper = "ZeRO's optimiser wraps the one that has the state, optimizer.optim"
        mistakes[Cause(wrapper, "bytes-held.of-wrapper")] = 0
    return mistakes


def check_zero(make_zero: Answer, num_ranks: int) -> None:
    """The ranks share out Adam's state, and their weights are those that Adam alone gives."""
    by_name = Cause("ZeRO takes the rate by its name: lr=rate", "zero.rate-by-place")
    with explained({"'float' object has no attribute 'size'": by_name}):
        results = run_on_ranks(drivers.zero, make_zero, **_launch(num_ranks))
    scaled = "it is multiplied by the number of ranks, and is to be the one given"
    mistakes = {
        Cause("this is Adam's own: pass the rate on", "zero.default-rate"): 0.001,
        Cause(scaled, "zero.scaled-rate"): drivers.RATE * num_ranks,
    }
    for rank, one in enumerate(results):
        what = f"the rate of the optimiser on rank {rank}"
        require_close(one["rate"], drivers.RATE, what, "zero.wrong-rate", mistakes)
        for name, (got, own) in one["settings"].items():
            raise CheckError(f"{name} of the optimiser is {got}, expected Adam's own, {own}", "zero.settings")
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
        results = run_on_ranks(drivers.sharded, shard, **_launch(num_ranks))
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
        added = f"fully_shard gets another {' and '.join(one['policies'])} than its own: leave all settings as they are"
        require(not one["policies"], added, "fsdp.policy")
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
    rng = fresh_rng()  # so many weights that nobody needs to know whether bytes are rounded
    sizes = [(1, 10**9), *zip(rng.integers(2, 65, num_cases).tolist(), rng.integers(10**9, 10**11, num_cases).tolist())]
    cases = list(product(KINDS, sizes))
    results = call_answer(drivers.predicted, predict_bytes, [(kind, size, number) for kind, (number, size) in cases])
    for (kind, (num_ranks, num_weights)), found in zip(cases, results):
        own, shared, times = TABLE[kind]
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
            require_close(found[name], expected, what, "bytes-predicted.wrong", mistakes, is_relative=True)


def check_fewest_gpus(fewest_gpus: Answer, predict_bytes: Answer, num_cases: int) -> None:
    """The smallest number of GPUs with which all fits: with as many bytes as there are it does.

    Who uses a prediction that is wrong has lost its point already, and gets this one if the rest is right.
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
    """Return the first number of GPUs with which a rank needs no more than this."""
    return next((count for count, need in needs if need <= most), None)


def _by_own(predict_bytes: Answer, cases: Sequence[tuple[str, int, float, float]]) -> list[int | None]:
    """Return the numbers of GPUs that follow from the answer's own prediction."""
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
    """Return the numbers of GPUs that common mistakes lead to, where so many bytes are left for what a rank holds."""
    expected = _first(zip(COUNTS, held), free)
    shared = 2 * (held[0] - held[1])
    both = [one + more for one, more in zip(held, sent)]
    every = range(1, COUNTS[-1] + 1)
    return {
        Cause("what fits exactly, fits", "budget.exact"): _first(zip(COUNTS, held), np.nextafter(free, 0)),
        Cause("each rank needs its other_bytes as well", "budget.no-others"): _first(zip(COUNTS, held), free + other),
        Cause("what a rank sends is no more memory", "budget.sent"): _first(zip(COUNTS, both), free),
        Cause("1, 2, 4, … 64 are to be tried, and no others", "budget.every-number"): _first(
            ((count, held[0] - shared + shared / count) for count in every), free
        ),
        Cause("1 is to be tried, too", "budget.without-1"): expected and max(COUNTS[1], expected),
        Cause("64 is to be tried, too", "budget.without-64"): None if expected == COUNTS[-1] else expected,
        Cause("None is to say that all are too few", "budget.no-none"): expected or got,
    }
