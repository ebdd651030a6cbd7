"""Properties of shards, whatever was shared out: disjoint, complete, as equal as possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coursekit.checks.check import require

if TYPE_CHECKING:
    from collections.abc import Sequence


def check_owners(owners: dict[int, list[int]], num_ranks: int, tolerated_missing: int = 0, advice: str = "") -> None:
    """Every sample belongs to exactly one rank; `owners` maps samples to the ranks that use them.

    `advice`, such as ": shard first", is added where shards are not disjoint.
    """
    shared = [sample for sample, by in owners.items() if len(by) > 1]
    unused = [sample for sample, by in owners.items() if not by]
    is_whole = num_ranks > 1 and len(shared) == len(owners) and all(len(by) == num_ranks for by in owners.values())
    require(not is_whole, f"no shard: each of the {num_ranks} ranks uses all samples")
    disjoint = not shared
    told = f"the shards are not disjoint: {len(shared)} of {len(owners)} samples are used by several ranks"
    require(disjoint, f"{told}{advice}")
    is_complete = len(unused) <= tolerated_missing
    require(is_complete, f"the shards are not complete: {len(unused)} of {len(owners)} samples are used by no rank")


def check_uses(uses: int | None, num_uses: int, num_samples: int, num_ranks: int) -> None:
    """Every sample is used once in an epoch.

    Args:
        uses: how many ranks use each sample, None where that differs.
        num_uses: how many samples all ranks use in all.
        num_samples: how many there are.
        num_ranks: the world size.
    """
    require(
        uses != num_ranks or num_ranks == 1,
        f"no shard: expected each of the {num_samples} samples on one rank, got each on all {num_ranks} ranks",
    )
    is_once = uses in {None, 1}
    require(is_once, f"the shards are not disjoint: expected each sample on one rank, got each on {uses}")
    expected = f"expected each of the {num_samples} samples once in an epoch, got"
    enough = uses or num_uses >= num_samples
    require(bool(enough), f"the shards are not complete: {expected} {num_uses}, so that some are used by no rank")
    require(bool(uses), f"the shards are not disjoint and complete: {expected} some by several ranks or by none")


def check_sizes(sizes: Sequence[int]) -> None:
    """No rank has more than one sample more than another; `sizes` holds each rank's number of samples."""
    is_even = max(sizes) - min(sizes) <= 1
    require(is_even, f"expected shards of equal size, or with one sample more, got {list(sizes)} samples")
