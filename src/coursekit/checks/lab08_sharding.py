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
                require(name in got, f"there is no entry {name!r}")
                slips = _slips_of_bytes(kind, name, expected, num_ranks)
                near = {words: got[name] if _with_steps(got[name], one) else one for words, one in slips.items()}
                if not _with_steps(got[name], expected):
                    require_close(got[name], expected, f"{kind}, bytes of {name} on rank {rank}", "", near)


def _with_steps(got: float, expected: float) -> bool:
    """Return whether these are so many bytes, with Adam's counters or without."""
    return expected <= got <= expected + STEPS_BYTES


def _slips_of_bytes(kind: str, name: str, expected: float, num_ranks: int) -> dict[str, float]:
    """Return what one counts by mistake, by what is said of it."""
    if kind.endswith(drivers.BEFORE):
        return {"a grad is None before the first backward()": BYTES * NUM_WEIGHTS} if name == "gradients" else {}
    slips = {"these are numbers, not bytes": expected / BYTES}
    if name != "optimizer":
        slips["what a rank holds is not to be divided by the number of ranks"] = expected / num_ranks
        slips["these are all of the model's: count what this rank holds, x.to_local()"] = BYTES * NUM_WEIGHTS
        return slips
    slips["Adam has two numbers for each weight"] = expected / 2
    part = "optimizer.optim has those" if kind == "zero" else "x.to_local() is the part"
    slips[f"these are the numbers of all ranks: {part} of this rank"] = 2 * BYTES * NUM_WEIGHTS
    if kind == "zero":
        slips["ZeRO's optimiser wraps the one that has the state, optimizer.optim"] = 0
    return slips


def check_zero(make_zero: Answer, num_ranks: int) -> None:
    """The ranks share out Adam's state, and their weights are those that Adam alone gives."""
    with explained({"'float' object has no attribute 'size'": "ZeRO takes the rate by its name: lr=rate"}):
        results = run_here(drivers.zero, make_zero, **_launch(num_ranks))
    slips = {"this is Adam's own: pass the rate on": 0.001}
    slips["it is multiplied by the number of ranks, and is to be the one given"] = drivers.RATE * num_ranks
    for rank, one in enumerate(results):
        require_close(one["rate"], drivers.RATE, f"the rate of the optimiser on rank {rank}", "", slips)
    name = results[0]["name"]
    _check_weights(results, f": the shares are updated by {name}" if name != "Adam" else "")
    held = [one["held"]["optimizer"] for one in results]
    whole = 2 * BYTES * NUM_WEIGHTS
    told = f"expected a share of the {whole} bytes of Adam's state on each rank, got {held}"
    require(max(held) < whole and sum(held) == whole, told)


def check_shard(shard: Answer, num_ranks: int) -> None:
    """A rank holds its share of the weights, layer by layer, and training gives the same weights as DDP."""
    with explained({"Invariant encountered": "fully_shard is called for the layers first, and at last for the model"}):
        results = run_here(drivers.sharded, shard, **_launch(num_ranks))
    for rank, one in enumerate(results):
        expected, got = BYTES * NUM_WEIGHTS // num_ranks, one["held"]["parameters"]
        hint = ": these are all of the model's, which fully_shard shares out" if got == BYTES * NUM_WEIGHTS else ""
        require_equal(got, expected, f"bytes of weights on rank {rank}", "", hint)
        hint = ": call fully_shard for each of them"
        if not one["num_units"]:
            hint = ": with one unit for the whole model all weights are collected at once"
        require_equal(
            one["num_units"], drivers.NUM_LAYERS, "the number of layers that are units of their own", "", hint
        )
        cause = "reshard_after_forward is not to be False, and no unit is to have several layers"
        if not one["is_unit"]:
            cause = "make the model a unit, too, after its layers"
        require(not one["still_whole"], f"a layer's weights are still whole when its forward pass has ended: {cause}")
    _check_weights(results)


def _check_weights(results: list[Any], hint: str = "") -> None:
    for rank, one in enumerate(results):
        same = np.shape(one["weights"]) == np.shape(one["expected"])
        gap = np.abs(np.subtract(one["weights"], one["expected"])).max() if same else np.inf
        require(gap < ALIKE, f"after two steps the weights on rank {rank} are not those that DDP and Adam give{hint}")


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
        of_held = {f"this is {name}": (TABLE[name][0] + TABLE[name][1] / num_ranks) * num_weights for name in KINDS}
        of_held["weights, gradients and two numbers of Adam's are four numbers"] = 3 * BYTES * num_weights
        of_held["only 4 of its 16 bytes for each weight are shared out"] = (12 + 4 / num_ranks) * num_weights
        of_held["this is what is sent"] = sent
        of_held["gradients are shared out as well: this is ZeRO-2"] = (4 + 12 / num_ranks) * num_weights
        of_sent = {"it counts N and not N - 1 of N parts": times * BYTES * num_weights}
        of_sent |= {"that is the sum of all ranks": sent * num_ranks, "these are numbers, not bytes": sent / BYTES}
        others = {times for _, _, times in TABLE.values()} | {1}
        of_sent |= {
            f"{times} times {BYTES} bytes of each weight travel, not {n} times": sent * n / times for n in others
        }
        for name, expected, slips in (("held", held, of_held), ("sent", sent, of_sent)):
            require(name in found, f"predict_bytes returns no entry {name!r}")
            what = f"{kind}, {num_weights} weights, {counted(num_ranks, 'rank')}, bytes {name}"
            require_close(as_number(found[name], what), expected, what, "", slips, is_relative=True)


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
        cases.append((got, expected, case, _slips_of_budget(needs, memory, other, expected, got)))
    fitting = [words for words in cases[0][-1] if all(got == slips[words] for got, _, _, slips in cases)]
    hint = f": {(fitting or ['does your predict_bytes pass its check?'])[0]}"
    for got, expected, case, _ in cases:
        require_equal(got, expected, case, "", hint)


def _slips_of_budget(needs: list[float], memory: float, other: float, expected: Any, got: Any) -> dict[str, Any]:
    """Return the numbers of GPUs that common slips lead to, by what is said of them."""

    def first(fits: Callable[[float], bool]) -> int | None:
        return next((count for count, need in zip(COUNTS, needs) if fits(need)), None)

    return {
        "what fits exactly, fits": first(lambda need: need < memory),
        "each rank needs its other_bytes as well": first(lambda need: need - other <= memory),
        "1 is to be tried, too": expected and max(COUNTS[1], expected),
        "64 is to be tried, too": None if expected == COUNTS[-1] else expected,
        "None is to say that all are too few": expected or got,
    }
