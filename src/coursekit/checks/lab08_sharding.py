"""Checks of lab 08's last section: the bytes of a rank under DDP, ZeRO-1 and FSDP, counted and predicted."""

from itertools import product
from typing import Any

import numpy as np

from coursekit.checks.check import fresh_rng, require
from coursekit.checks.compare import as_dict, as_number, require_close, require_equal
from coursekit.checks.on_ranks import TIMEOUT_S, run_here
from coursekit.drivers import lab08_sharding as drivers
from coursekit.drivers.calls import Answer
from coursekit.drivers.lab08 import joined

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
    for rank, of_rank in enumerate(run_here(drivers.counted, bytes_held, KINDS, **_launch(num_ranks))):
        for kind in KINDS:
            got, there = of_rank[kind]
            for name, expected in there.items():
                require(name in got, f"there is no entry {name!r}")
                slips = {"these are numbers, not bytes": expected / BYTES}
                whole = (2 if name == "optimizer" else 1) * BYTES * NUM_WEIGHTS
                slips |= {"these are all of the model's: count what this rank holds, x.to_local()": whole}
                if (kind, name) == ("zero", "optimizer"):
                    slips["ZeRO's optimiser wraps the one that has the state, optimizer.optim"] = 0
                what = f"{kind}, bytes of {name} on rank {rank}"
                if not expected <= got[name] <= expected + STEPS_BYTES:
                    require_close(got[name], expected, what, slips)


def check_zero(make_zero: Answer, num_ranks: int) -> None:
    """The ranks share out Adam's state, and their weights are those that Adam alone gives."""
    results = run_here(drivers.zero, make_zero, **_launch(num_ranks))
    _check_weights(results)
    held = [one["held"]["optimizer"] for one in results]
    whole = 2 * BYTES * NUM_WEIGHTS
    told = f"expected a share of the {whole} bytes of Adam's state on each rank, got {held}"
    require(max(held) < whole and sum(held) == whole, told)


def check_shard(shard: Answer, num_ranks: int) -> None:
    """A rank holds its share of the weights, layer by layer, and training gives the same weights as DDP."""
    results = run_here(drivers.sharded, shard, **_launch(num_ranks))
    _check_weights(results)
    for rank, one in enumerate(results):
        expected = BYTES * NUM_WEIGHTS // num_ranks
        require_equal(one["held"]["parameters"], expected, f"bytes of weights on rank {rank}")
        hint = ": with one unit for the whole model all weights are collected at once"
        require_equal(one["num_units"], drivers.NUM_LAYERS, "the number of layers that are units of their own", hint)


def _check_weights(results: list[Any]) -> None:
    for rank, one in enumerate(results):
        same = np.shape(one["weights"]) == np.shape(one["expected"])
        gap = np.abs(np.subtract(one["weights"], one["expected"])).max() if same else np.inf
        require(gap < ALIKE, f"after two steps the weights on rank {rank} are not those that DDP and Adam give")


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
        of_sent = {"it counts N and not N - 1 of N parts": times * BYTES * num_weights}
        of_sent["that is the sum of all ranks"] = sent * num_ranks
        for name, expected, slips in (("held", held, of_held), ("sent", sent, of_sent)):
            require(name in found, f"predict_bytes returns no entry {name!r}")
            what = f"{kind}, {num_weights} weights, {num_ranks} ranks, bytes {name}"
            require_close(as_number(found[name], what), expected, what, slips, is_relative=True)


def check_fewest_gpus(fewest_gpus: Answer, num_cases: int) -> None:
    """The smallest number of GPUs with which all fits: with as many bytes as there are it does."""
    rng = fresh_rng()
    for number in range(num_cases):
        kind, num_weights = KINDS[number % len(KINDS)], int(rng.integers(1, 1000)) * 2**20
        own, shared, _ = TABLE[kind]
        other = float(rng.integers(0, 8)) * 2**24
        needs = [(own + shared / count) * num_weights + other for count in COUNTS]
        memory = float(rng.choice([*needs, needs[0] + 1, needs[-1] - 1, needs[2] - 1, needs[3] + 1]))
        expected = next((count for count, need in zip(COUNTS, needs) if need <= memory), None)
        case = f"{kind}, {num_weights} weights, {other:.0f} other bytes, {memory:.0f} bytes of memory: GPUs"
        require_equal(fewest_gpus(kind, num_weights, memory, other), expected, case)
