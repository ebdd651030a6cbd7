"""Checks of an epoch's batches, shared by several labs: their number, their size, their order and their labels."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from coursekit.checks.check import require
from coursekit.checks.compare import require_equal
from coursekit.text import counted

ASSIGN = "and assign the data set that `shuffle` returns"  # because `shuffle` changes no data set in place


def check_once(samples: Iterable[Any], rank: int) -> None:
    """In one epoch, a rank gets some samples, and none of them twice."""
    numbers = Counter(samples)
    require(numbers, f"rank {rank} gets no samples at all", "samples.none")
    most = max(numbers.values())
    message = f"rank {rank} gets one sample {most} times in an epoch, expected once: do not repeat the data"
    require(most == 1, message, "samples.repeated")


def check_end(batches: Sequence[Any], most: int, where: str) -> None:
    """The data end after fewer than `most` batches, as they must in an evaluation or a single epoch."""
    require(len(batches) < most, f"the data {where} never end: do not repeat them", "data.endless")


def check_endless(batches: Sequence[Any], num_batches: int, where: str) -> None:
    """The data provide all of the `num_batches` requested batches, which are enough for several epochs."""
    found = len(batches)
    message = f"the data {where} end after {counted(found, 'batch')}: repeat them endlessly"
    require(found == num_batches, message, "data.not-repeated")


def check_new_order(order: Any) -> None:
    """At least one epoch has a different order from the first.

    Example: for two epochs of three samples, the order 3, 0, 7, 0, 7, 3 is right, because the epochs differ. The order
    3, 0, 7, 3, 0, 7 is wrong. Two short epochs may agree by chance (with four samples, once in 24 cases), so all epochs
    are compared.
    """
    is_same = np.array_equal(order, np.resize(order[: len(set(order.tolist()))], len(order)))
    require(not is_same, "every epoch has the same order: shuffle first, then repeat", "order.repeated")


def check_new_batches(batches: Iterable[Any], num_own: int, batch_size: int, where: str) -> None:
    """Over several epochs of the same `num_own` samples, the batches are not always made up of the same samples."""
    num_sets = len({frozenset(numbers.tolist()) for numbers in batches})
    # Only a rank with several batches can group its samples differently.
    has_others = num_own < 2 * batch_size or num_sets > -(-num_own // batch_size)
    message = f"{where} the same images share a batch in every epoch: shuffle the records first, then batch them"
    require(has_others, message, "batches.repeated")


def check_pairs(labels: Any, expected: Any, where: str) -> None:
    """Each label in a batch belongs to its image."""
    message = f"{where} the labels do not match the images"
    require(np.array_equal(np.ravel(labels), expected), message, "labels.mismatched")


def check_batches(batches: Iterable[Collection[Any]], batch_size: int, what: str) -> None:
    """All batches are full.

    Example: if the size is 2, batches of 2, 2 and 2 samples are right, and batches of 2, 2 and 1 samples are wrong.
    """
    sizes = sorted({len(batch) for batch in batches})
    require(sizes == [batch_size], f"{what}: expected {batch_size}, got {sizes}", "batches.wrong-size")


def check_last_batch(batches: Iterable[Collection[Any]], batch_size: int, where: str) -> None:
    """All batches are full, except perhaps the last.

    Example: if the size is 2, five samples come in batches of 2, 2 and 1.
    """
    sizes = [len(batch) for batch in batches]
    num_full, rest = divmod(sum(sizes), batch_size)
    expected = [batch_size] * num_full + [rest] * (rest > 0)
    require_equal(sizes, expected, f"the sizes of the batches {where}", "batches.wrong-size")
