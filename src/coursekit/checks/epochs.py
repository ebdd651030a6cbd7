"""What the batches of an epoch must be, whatever the lab: how many, how large, in which order, with which labels."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from coursekit.checks.check import require
from coursekit.checks.compare import require_equal
from coursekit.text import counted

ASSIGN = "and assign the data set that `shuffle` returns"  # it changes none


def check_once(samples: Iterable[Any], rank: int) -> None:
    """In one epoch a rank gets some samples, and none of them twice."""
    numbers = Counter(samples)
    require(numbers, f"rank {rank} gets no sample at all", "samples.none")
    most = max(numbers.values())
    message = f"rank {rank} gets a sample {most} times in one epoch, expected once: do not repeat"
    require(most == 1, message, "samples.repeated")


def check_end(batches: Sequence[Any], most: int, where: str) -> None:
    """Batches end before the `most` that were asked for, as they must in an evaluation or an epoch."""
    require(len(batches) < most, f"the data {where} have no end: do not repeat them", "data.endless")


def check_endless(batches: Sequence[Any], num_batches: int, where: str) -> None:
    """So many batches come as were asked for, which are those of several epochs."""
    found = len(batches)
    message = f"the data {where} end after {counted(found, 'batch')}: repeat them without end"
    require(found == num_batches, message, "data.not-repeated")


def check_new_order(order: Any) -> None:
    """Some epoch is not in the order of the first: 3, 0, 7, 0, 7, 3 is right, and 3, 0, 7, 3, 0, 7 is not.

    Two epochs of few samples may be alike by chance, one in 24 with four samples; so all epochs are asked.
    """
    is_same = np.array_equal(order, np.resize(order[: len(set(order.tolist()))], len(order)))
    require(not is_same, "every epoch comes in the same order: shuffle, and then repeat", "order.repeated")


def check_new_batches(batches: Iterable[Any], num_own: int, batch_size: int, where: str) -> None:
    """The batches of several epochs over the same `num_own` samples are not those of one epoch in other orders."""
    num_sets = len({frozenset(numbers.tolist()) for numbers in batches})
    # Only who has several batches can have others.
    has_others = num_own < 2 * batch_size or num_sets > -(-num_own // batch_size)
    message = (
        f"{where} the same images are together in a batch in every epoch: shuffle the records, and then batch them"
    )
    require(has_others, message, "batches.repeated")


def check_pairs(labels: Any, expected: Any, where: str) -> None:
    """The labels of a batch are those of its images."""
    message = f"{where} images and labels do not belong together"
    require(np.array_equal(np.ravel(labels), expected), message, "labels.mismatched")


def check_batches(batches: Iterable[Collection[Any]], batch_size: int, what: str) -> None:
    """All batches are full: with a size of 2, batches of 2, 2 and 2 samples are right, and 2, 2 and 1 are not."""
    sizes = sorted({len(batch) for batch in batches})
    require(sizes == [batch_size], f"{what}: expected {batch_size}, got {sizes}", "batches.wrong-size")


def check_last_batch(batches: Iterable[Collection[Any]], batch_size: int, where: str) -> None:
    """All batches but the last are full: with a size of 2, five samples come in batches of 2, 2 and 1."""
    sizes = [len(batch) for batch in batches]
    num_full, rest = divmod(sum(sizes), batch_size)
    expected = [batch_size] * num_full + [rest] * (rest > 0)
    require_equal(sizes, expected, f"the sizes of the batches {where}", "batches.wrong-size")
