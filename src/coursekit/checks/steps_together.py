"""Checks of lab 05's steps: the same samples whatever the number of ranks, and as many on each."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks.check import require
from coursekit.checks.on_ranks import run_here
from coursekit.checks.plain_numbers import as_list, require_equal
from coursekit.checks.random_inputs import fresh_rng
from coursekit.drivers import feeding
from coursekit.drivers.calls import with_horovod

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coursekit.drivers.feeding import Array

BATCH_SIZE = 4


def check_global_batches(global_batches: Callable[..., Any], all_num_ranks: Sequence[int]) -> None:
    """A step uses the same samples whatever the number of ranks, each on one rank, and every epoch another order."""
    rng = fresh_rng()
    seed, more = (int(one) for one in rng.integers(1, 1000, 2))
    size = 12
    cases = [(38, size, seed), (38, size, seed + more), (47, 10, seed)]  # 10 is divided by few world sizes
    use = feeding.share_batches
    seen = [
        (num_ranks, run_here(with_horovod, use, global_batches, cases, 2, num_ranks=num_ranks))
        for num_ranks in all_num_ranks
    ]
    first_sets: list[Any] = []
    for num_ranks, by_rank in seen:
        sets = [
            [_step_set(of_epochs, epoch, case[1], num_ranks) for epoch in range(2)]
            for case, of_epochs in zip(cases, zip(*by_rank))
        ]
        first_sets = first_sets or sets
        told = f"with {num_ranks} ranks a step uses other samples than with {all_num_ranks[0]}"
        require(sets == first_sets, f"{told}: expected the same, whatever their number: shuffle before you share out")
    (first, second), (other, _), _ = first_sets
    require(len(set().union(*first)) == sum(map(len, first)), "a sample is used twice in one epoch, expected once")
    require_equal(len(first), cases[0][0] // size, f"the steps of an epoch with {cases[0][0]} samples, {size} in each,")
    in_order = [set(range(step * size, (step + 1) * size)) for step in range(len(first))]
    require(not first == second == other == in_order, "the samples come in their order: shuffle them")
    neighbours = all(max(step) - min(step) == size - 1 for step in (*first, *second))
    require(not neighbours, "neighbours stay together in every batch: shuffle the numbers, and then batch them")
    require(first != second, "the second epoch has the same batches as the first: let the order be drawn anew")
    require(first != other, "another seed gives the same batches: shuffle with the seed given")


def _step_set(by_rank: Sequence[Any], epoch: int, size: int, num_ranks: int) -> list[set[int]]:
    """Return for each step of an epoch the samples that all ranks use together."""
    epochs = [as_list(of_rank[epoch], "an epoch") for of_rank in by_rank]
    num_steps = [len(batches) for batches in epochs]
    told = f"with {num_ranks} ranks they make {num_steps} steps in an epoch"
    require(len(set(num_steps)) == 1, f"{told}, expected as many on each: the others would wait")
    steps: list[set[int]] = []
    for batches in zip(*epochs):
        sizes, together = [len(batch) for batch in batches], Counter(sample for batch in batches for sample in batch)
        told = f"with {num_ranks} ranks the shares of a global batch of {size} have {sizes} samples"
        is_rest = 0 < len(steps) == num_steps[0] - 1
        advice = ": a last batch that is not full is left out" if is_rest else ""
        is_whole = sum(sizes) == size and max(sizes) - min(sizes) <= 1
        require(is_whole, f"{told}, expected {size} in all, in shares that differ by one at most{advice}")
        told = f"with {num_ranks} ranks a step uses a sample on several ranks"
        require(max(together.values()) == 1, f"{told}: draw one order for all, by the seed given, and share by rank")
        steps.append(set(together))
    return steps


def check_equal_steps(equal_steps: Callable[..., Any], num_ranks: int) -> None:
    """All ranks make as many steps as the one with the most samples needs; none is lost, and every batch is full.

    Once the most samples fill their batches, once they do not; rank 0 never has the most.
    """
    rng = fresh_rng()
    cases = []
    for most in (14, 12):
        others = rng.permutation([5, 9, 7][: num_ranks - 1])
        counts = np.insert(others, rng.integers(1, num_ranks), most)
        cases.append(np.split(np.arange(sum(counts)) + 100, np.cumsum(counts)[:-1]))
    use = feeding.step_together
    private = [list(of_rank) for of_rank in zip(*cases)]
    by_rank = run_here(with_horovod, use, equal_steps, BATCH_SIZE, num_ranks=num_ranks, private=private)
    for shares, batches_of_ranks in zip(cases, zip(*by_rank)):
        _require_equal_steps(batches_of_ranks, shares)


def _require_equal_steps(by_rank: Sequence[Sequence[Sequence[int]]], shares: Sequence[Array]) -> None:
    counts = [len(share) for share in shares]
    expected = -(-max(counts) // BATCH_SIZE)
    for rank, (batches, share) in enumerate(zip(by_rank, shares)):
        where = f"ranks hold {counts} samples; in batches of {BATCH_SIZE}, steps of rank {rank}"
        require_equal(len(batches), expected, where, ": as many as the largest share needs, on every rank")
        sizes = sorted({len(batch) for batch in batches})
        require(sizes == [BATCH_SIZE], f"batches of rank {rank} hold {sizes} samples, not always {BATCH_SIZE}")
        uses = Counter(number for batch in batches for number in batch)
        require(set(uses) <= set(share.tolist()), f"rank {rank} uses samples that are not its own")
        num_lost = len(share) - len(uses)
        require(num_lost == 0, f"rank {rank} does not use {num_lost} of its {len(share)} samples: let none be lost")
        told = f"rank {rank} uses a sample {max(uses.values())} times, and another {min(uses.values())} times"
        require(max(uses.values()) - min(uses.values()) <= 1, f"{told}: begin again only when all were used")
