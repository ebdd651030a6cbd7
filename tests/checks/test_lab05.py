"""Lab 05's check of files that are read in turns, on pipelines that are made up here."""

import numpy as np
import pytest

from coursekit.checks import CheckError, lab05_feeding
from coursekit.checks.lab05_feeding import BATCH_SIZE, NUM_SAMPLES
from coursekit.checks.lab05_records import draw_images
from coursekit.checks.trials import SAMPLES_PER_FILE, Trial

FILES = np.split(np.arange(NUM_SAMPLES), np.cumsum(SAMPLES_PER_FILE)[:-1])
NUM_RANKS = 3


def trial_of(orders):
    """Return the trial of a pipeline that gives each rank these samples of its own, in their order."""
    results, private = [], []
    for rank, order in enumerate(orders):
        images, labels = draw_images(NUM_SAMPLES, np.random.default_rng(rank))
        parts = np.split(order, range(BATCH_SIZE, len(order), BATCH_SIZE))
        results.append([(images[part] / 255, labels[part]) for part in parts])
        private.append({"images": images, "labels": labels})
    return Trial(NUM_RANKS, results, private=tuple(private))


def one_after_the_other():
    """Return the samples of each rank's files, file by file."""
    return [np.concatenate(FILES[rank::NUM_RANKS]) for rank in range(NUM_RANKS)]


def test_files_in_turns_are_right():
    """Also where records are shuffled, and those of one rank come by chance file by file."""
    rng = np.random.default_rng(0)
    first, *others = one_after_the_other()

    lab05_feeding.check_interleaved(trial_of([rng.permutation(mine) for mine in (first, *others)]))
    lab05_feeding.check_interleaved(trial_of([first, *map(rng.permutation, others)]))


def test_files_one_after_the_other_are_refused():
    """In their order, or in another one on each rank."""
    orders = one_after_the_other()
    for some in (orders, [orders[0], *(order[::-1] for order in orders[1:])]):
        with pytest.raises(CheckError, match=r"files.not-interleaved"):
            lab05_feeding.check_interleaved(trial_of(some))
