"""What is found in shards, files, batches and folders, from samples that are made up here."""

from contextlib import contextmanager, nullcontext

import numpy as np
import pytest

from coursekit.checks import CheckError, epochs, shards
from coursekit.checks.trials import Trial


@contextmanager
def raises(code, fact):
    """Require a `CheckError` with this code that tells this fact."""
    with pytest.raises(CheckError) as caught:
        yield
    assert caught.value.code == code
    assert fact in str(caught.value)


@pytest.mark.parametrize(
    ("of_ranks", "tolerated", "code", "fact"),
    [
        (([0, 2, 4], [1, 3, 5]), 0, None, ""),
        (([0, 1, 2], [3, 4]), 1, None, ""),
        (([0, 1, 2], [3, 4]), 0, "shards.incomplete", "1 of 6"),
        (([0, 1, 2, 3], [3, 4, 5]), 0, "shards.overlap", "1 of 6"),
        ((range(6), range(6)), 0, "shards.none", ""),
    ],
)
def test_every_sample_is_used_by_one_rank(of_ranks, tolerated, code, fact):
    """But for those whose absence is tolerated."""
    by_sample = shards.owners([np.array(samples) for samples in of_ranks], 6)
    with nullcontext() if code is None else raises(code, fact):
        shards.check_owners(by_sample, 2, tolerated)


@pytest.mark.parametrize(
    ("of_ranks", "batch_size", "code", "fact"),
    [
        (([0, 1, 2, 3, 4, 8, 9], [5, 6, 7, 10, 11]), 2, None, ""),
        (([0, 1, 2, 3, 4, 9], [5, 6, 7, 10]), 2, None, ""),  # one less on each rank
        (([0, 1, 2, 3, 4, 8, 9], [5, 6, 7, 10]), 1, "shards.incomplete", "1 of 12"),
        (([0, 1, 2, 4, 9], [5, 6, 7, 10, 11]), 2, "shards.incomplete", "2 of 12"),  # both of rank 0
        (([0, 1, 2, 4, 9], [5, 6, 7, 10, 11]), 3, None, ""),
        (([0, 1, 2, 3, 4, 8, 9], [5, 6, 7]), 3, "shards.incomplete", "2 of 12"),  # a whole file of two
        (([0, 1, 2, 3, 4, 8, 9], [10, 11]), 4, "shards.incomplete", "3 of 12"),  # a whole file of three
        (([0, 2, 4, 6, 8], [1, 3, 5, 7, 11]), 2, None, ""),  # shards of records: of which rank, nobody can say
        (([0, 2, 4, 6, 8], [1, 3, 5, 11]), 2, "shards.incomplete", "3 of 12"),
        (([0, 1, 2, 3, 4, 8, 9], [5, 6, 7, 9, 10, 11]), 2, "shards.overlap", "1 of 12"),
        ((range(12), range(12)), 4, "shards.none", ""),
    ],
)
def test_full_batches_leave_less_than_a_batch_on_each_rank(of_ranks, batch_size, code, fact):
    """Of files with 5, 3, 2 and 2 samples: what a rank may drop in all its epochs is tolerated, whole files are not."""
    by_sample = shards.owners([np.array(samples) for samples in of_ranks], 12)
    with nullcontext() if code is None else raises(code, fact):
        shards.check_used_in_batches(by_sample, (5, 3, 2, 2), 2, batch_size)


def test_batches_are_full_but_for_the_last():
    """Five samples in batches of two are 2, 2 and 1; where all have to be full, the last may not come."""
    batches = [range(2), range(2), range(1)]
    epochs.check_last_batch(batches, 2, "of rank 0")
    epochs.check_batches(batches[:2], 2, "batches")
    with raises("batches.wrong-size", "[1, 2]"):
        epochs.check_batches(batches, 2, "batches")
    with raises("batches.wrong-size", "rank 0"):
        epochs.check_last_batch(batches[::-1], 2, "of rank 0")


def test_a_trial_gives_what_there_is():
    """A launch that failed late gives what a shorter one found, and its reason for what is missing."""
    trial = Trial(2, ({"first": 1}, {"first": 2}), "rank 1: ValueError [answer.raised]")

    assert trial.of_ranks("first") == [1, 2]
    with raises("answer.raised", "rank 1"):
        trial.of_ranks("ended")
    failed = Trial(2, error="rank 1: ValueError [answer.raised]")
    for part in ("", "first"):
        with raises("answer.raised", "rank 1"):
            failed.of_ranks(part)
    with raises("answer.empty", ""):
        Trial(2, error="not answered yet [answer.empty]").of_ranks()
