"""Checks that several labs share: which ranks use which samples, and which ranks read and write which files.

Five labs use the messages of `check_owners`; `advice` and `what` adapt their wording to each lab.

In the examples, two ranks share out six samples, which are in two files: 0, 1, 2 and 3, 4, 5.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from coursekit.checks.check import require

Owners = dict[int, list[int]]  # by sample, the ranks that use it


def owners(samples: Sequence[Any], num_samples: int) -> Owners:
    """Return, for each sample, the ranks that use it, given the samples of each rank.

    Example: if rank 0 uses the samples 0 and 2, and rank 1 uses the samples 2 and 3, sample 0 has the owners [0],
    sample 2 has the owners [0, 1], and sample 1 has no owners.
    """
    used = [set(np.asarray(of_rank).tolist()) for of_rank in samples]
    return {sample: [rank for rank, mine in enumerate(used) if sample in mine] for sample in range(num_samples)}


def check_owners(owners: Owners, num_ranks: int, tolerated: int = 0, advice: str = "", what: str = "samples") -> None:
    """Every sample belongs to exactly one rank, except for a tolerated number that belong to none.

    Example: the shares 0, 2, 4 and 1, 3, 5 are right. If the shares are 0, 1, 2 and 2, 3, 4, sample 2 is used by
    several ranks, and sample 5 is used by none. If both ranks use all six samples, the data are not sharded.

    `advice`, such as ": shard first", is added to the message if there are no shards or if they are not disjoint.
    """
    shared = [sample for sample, by in owners.items() if len(by) > 1]
    unused = [sample for sample, by in owners.items() if not by]
    is_whole = num_ranks > 1 and len(shared) == len(owners) and all(len(by) == num_ranks for by in owners.values())
    require(not is_whole, f"nothing is sharded: each of the {num_ranks} ranks uses all {what}{advice}", "shards.none")
    overlap = f"the shards are not disjoint: {len(shared)} of {len(owners)} {what} are used by several ranks{advice}"
    require(not shared, overlap, "shards.overlap")
    check_complete(len(unused), len(owners), tolerated, what)


def check_complete(num_unused: int, num_samples: int, tolerated: int = 0, what: str = "samples") -> None:
    """Every sample is used by some rank, except for a tolerated number."""
    gap = f"the shards are not complete: {num_unused} of {num_samples} {what} are used by no rank"
    require(num_unused <= tolerated, gap, "shards.incomplete")


def check_used_in_batches(owners: Owners, counts: Sequence[int], num_ranks: int, batch_size: int) -> None:
    """Ranks that train in full batches use every file, and every sample except for leftovers that do not fill a batch.

    A pipeline that shuffles, batches and only then repeats drops different leftover samples in each epoch.
    If there are only a few epochs, it may by chance drop the same samples every time. On each rank, the number of
    dropped samples is always below the batch size.

    Example: rank 0 has the samples 0, 1, 2 in batches of two. Its epochs may be (2, 0) and (0, 2), which leave out
    sample 1. If it leaves out two of its three samples, or if no rank reads a file, the check fails.

    `owners` holds, for each sample, the ranks that use it in the whole training; `counts` holds the samples per file.
    """
    left: Counter[tuple[int, ...]] = Counter()  # by the ranks that read a file; only one if ranks share out whole files
    unused = np.split([not owners[sample] for sample in range(sum(counts))], np.cumsum(counts)[:-1])
    for readers, in_file in zip(readers_of(owners, counts), unused):
        left[tuple(readers)] += int(np.sum(in_file))
    rest = batch_size - 1
    tolerated = sum(min(num_left, len(readers) * rest) for readers, num_left in left.items())
    check_owners(owners, num_ranks, min(tolerated, num_ranks * rest))


def readers_of(owners: Owners, counts: Sequence[int]) -> list[list[int]]:
    """Return, for each file, the ranks that use some of its samples, given the number of samples in each file.

    Example: there are two files with 3 samples each. If the ranks' shares are [0, 1, 2] and [3, 4, 5], the readers of
    the files are [0] and [1]. If the shares are [0, 2, 4] and [1, 3, 5], both files have the readers [0, 1].
    """
    ends = np.cumsum((0, *counts))
    return [sorted({rank for sample in range(*file) for rank in owners[sample]}) for file in zip(ends, ends[1:])]


def check_readers(readers: Sequence[Sequence[int]]) -> None:
    """Every file is read by exactly one rank.

    Example: the readers [0] and [1] of two files are right. If both files have the readers [0, 1], the answer has
    sharded the records instead of the files.
    """
    for file, by in enumerate(readers):
        which = f"file {file} of {len(readers)} is read by"
        advice = "the number of files need not be a multiple of the number of ranks"
        require(by, f"{which} no rank, expected one: {advice}", "files.unread")
        advice = "shard the list of files before you read them"
        require(len(by) == 1, f"{which} the ranks {by}, expected one: {advice}", "files.shared")


def check_file_shares(readers: Sequence[Sequence[int]], counts: Sequence[int], num_ranks: int) -> None:
    """Every file is read by one rank, and files are shared out evenly, by their number or by the samples in them.

    Example: if there are seven files, two ranks may read 3 and 4 of them, but not 2 and 5. If there are five files,
    they may read 1 and 4 if that one file holds as many samples as the other four. `readers` holds the ranks that read
    each file; `counts` holds the number of samples per file.
    """
    check_readers(readers)
    num_files = [sum(by == [rank] for by in readers) for rank in range(num_ranks)]
    samples = [sum(count for by, count in zip(readers, counts) if by == [rank]) for rank in range(num_ranks)]
    is_even = max(num_files) - min(num_files) <= 1 or max(samples) - min(samples) <= max(counts)
    message = f"of {len(counts)} files, the ranks read {num_files}, with {samples} samples: expected equal shares, "
    require(is_even, message + "or one file more on some ranks, because all wait for the slowest", "files.uneven")


def check_writers(left: Sequence[Collection[str]], hint: str = "") -> None:
    """Rank 0 writes files, and no other rank writes any; `left` holds what each rank left in its own folder."""
    writers = [rank for rank, files in enumerate(left) if files]
    require(writers, f"no rank wrote a file{hint}", "writers.none")
    require(writers == [0], f"expected files only from rank 0, got files from ranks {writers}", "writers.not-rank-0")
