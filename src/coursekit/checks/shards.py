"""Properties of shards, whatever was shared out: disjoint, complete, as equal as possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coursekit.checks.check import require

if TYPE_CHECKING:
    from collections.abc import Sequence


def check_owners(owners: dict[int, list[int]], num_ranks: int, tolerated_missing: int = 0) -> None:
    """Every sample belongs to exactly one rank; `owners` maps samples to the ranks that use them."""
    shared = [sample for sample, by in owners.items() if len(by) > 1]
    unused = [sample for sample, by in owners.items() if not by]
    is_whole = num_ranks > 1 and len(shared) == len(owners) and all(len(by) == num_ranks for by in owners.values())
    require(not is_whole, f"no shard: each of the {num_ranks} ranks uses all samples")
    disjoint = not shared
    require(disjoint, f"the shards are not disjoint: {len(shared)} of {len(owners)} samples are used by several ranks")
    is_complete = len(unused) <= tolerated_missing
    require(is_complete, f"the shards are not complete: {len(unused)} of {len(owners)} samples are used by no rank")


def check_sizes(sizes: Sequence[int]) -> None:
    """No rank has more than one sample more than another; `sizes` holds each rank's number of samples."""
    require(max(sizes) - min(sizes) <= 1, f"the shards have {sizes} samples: they must be as equal as possible")
