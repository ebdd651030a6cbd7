"""Who uses which samples, and who reads and writes which files, whatever the lab.

Where to look: five labs raise the sentences of `check_owners`; `advice` and `what` are a lab's own words in them.

Examples are of two ranks that share out six samples, which lie in two files: 0, 1, 2 and 3, 4, 5.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from coursekit.checks.check import require

Owners = dict[int, list[int]]  # by sample, the ranks that use it


def owners(samples: Sequence[Any], num_samples: int) -> Owners:
    """Return for each sample the ranks that use it, from the samples of each rank.

    Example: where rank 0 uses 0, 2 and rank 1 uses 2, 3, sample 0 has the owners [0], 2 has [0, 1], and 1 has none.
    """
    used = [set(np.asarray(of_rank).tolist()) for of_rank in samples]
    return {sample: [rank for rank, mine in enumerate(used) if sample in mine] for sample in range(num_samples)}


def check_owners(owners: Owners, num_ranks: int, tolerated: int = 0, advice: str = "", what: str = "samples") -> None:
    """Every sample belongs to exactly one rank, but for a tolerated number that belongs to none.

    Example: shares of 0, 2, 4 and 1, 3, 5 are right. With 0, 1, 2 and 2, 3, 4 the sample 2 is used by several ranks and
    5 by none; if both use all six, there is no shard.

    `advice`, such as ": shard first", is added where there are no shards, or they are not disjoint.
    """
    shared = [sample for sample, by in owners.items() if len(by) > 1]
    unused = [sample for sample, by in owners.items() if not by]
    is_whole = num_ranks > 1 and len(shared) == len(owners) and all(len(by) == num_ranks for by in owners.values())
    require(not is_whole, f"no shard: each of the {num_ranks} ranks uses all {what}{advice}", "shards.none")
    overlap = f"the shards are not disjoint: {len(shared)} of {len(owners)} {what} are used by several ranks{advice}"
    require(not shared, overlap, "shards.overlap")
    check_complete(len(unused), len(owners), tolerated, what)


def check_complete(num_unused: int, num_samples: int, tolerated: int = 0, what: str = "samples") -> None:
    """No sample is left out by all ranks, but for a tolerated number."""
    gap = f"the shards are not complete: {num_unused} of {num_samples} {what} are used by no rank"
    require(num_unused <= tolerated, gap, "shards.incomplete")


def check_used_in_batches(owners: Owners, counts: Sequence[int], num_ranks: int, batch_size: int) -> None:
    """Ranks that train in full batches use every sample, but for what full batches may leave over, and every file.

    Who shuffles, fills batches and only then repeats drops the rest of the share in each epoch, another rest each time.
    In few epochs, by chance, the same sample may be dropped in all of them: at most one less than a batch on each rank.

    Example: rank 0 has the samples 0, 1, 2 in batches of two. Its epochs may be (2, 0) and (0, 2): that sample 1 is not
    used is tolerated. Two of its three samples that are not used are no rest, and a file that nobody reads is lost.

    `owners` holds by sample the ranks that use it in the whole training, `counts` how many samples each file holds.
    """
    left: Counter[tuple[int, ...]] = Counter()  # by the readers of a file, one of them where ranks share out files
    unused = np.split([not owners[sample] for sample in range(sum(counts))], np.cumsum(counts)[:-1])
    for readers, in_file in zip(readers_of(owners, counts), unused):
        left[tuple(readers)] += int(np.sum(in_file))
    rest = batch_size - 1
    tolerated = sum(min(num_left, len(readers) * rest) for readers, num_left in left.items())
    check_owners(owners, num_ranks, min(tolerated, num_ranks * rest))


def readers_of(owners: Owners, counts: Sequence[int]) -> list[list[int]]:
    """Return for each file, which holds so many samples, the ranks that use some of them.

    Example: shares of 0, 1, 2 and 3, 4, 5 give the readers [0] and [1]; shares of 0, 2, 4 and 1, 3, 5 twice [0, 1].
    """
    ends = np.cumsum((0, *counts))
    return [sorted({rank for sample in range(*file) for rank in owners[sample]}) for file in zip(ends, ends[1:])]


def check_readers(readers: Sequence[Sequence[int]]) -> None:
    """Every file is read by one rank: [0] and [1] are right; [0, 1] twice are shards of records, not of files."""
    for file, by in enumerate(readers):
        which = f"file {file} of {len(readers)} is read by"
        advice = "their number need not divide by that of the ranks"
        require(by, f"{which} no rank, expected one: {advice}", "files.unread")
        advice = "shard the list of files, before they are read"
        require(len(by) == 1, f"{which} the ranks {by}, expected one: {advice}", "files.shared")


def check_file_shares(readers: Sequence[Sequence[int]], counts: Sequence[int], num_ranks: int) -> None:
    """Every file is read by one rank, and files are shared out equally: by their number, or by the samples in them.

    Example: of seven files, 3 and 4 for two ranks are right, 2 and 5 are not; and 1 and 4 are right where the one holds
    as many samples as the four. `readers` holds the ranks that read each file, `counts` the samples in each.
    """
    check_readers(readers)
    num_files = [sum(by == [rank] for by in readers) for rank in range(num_ranks)]
    samples = [sum(count for by, count in zip(readers, counts) if by == [rank]) for rank in range(num_ranks)]
    is_even = max(num_files) - min(num_files) <= 1 or max(samples) - min(samples) <= max(counts)
    message = f"the ranks read {num_files} of {len(counts)} files, with {samples} samples: expected as many for each "
    require(is_even, message + "as for the others, or one file more: all wait for the slowest", "files.uneven")


def check_writers(left: Sequence[Collection[str]], hint: str = "") -> None:
    """Rank 0 writes files, and no other rank writes any; `left` holds what each rank left in a folder of its own."""
    writers = [rank for rank, files in enumerate(left) if files]
    require(writers, f"no rank wrote a file{hint}", "writers.none")
    require(writers == [0], f"expected files of rank 0 alone, got files of the ranks {writers}", "writers.not-rank-0")
