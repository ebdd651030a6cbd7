"""Lab 03's checks of data, on pipelines that are made up here: chance alone refuses none."""

import numpy as np
import pytest

from coursekit.checks import CheckError, lab03_data
from coursekit.checks.lab03_data import BATCH_SIZE, NUM_BATCHES, SAMPLES_PER_FILE, WAYS
from coursekit.checks.trials import Trial

FILES = np.split(np.arange(sum(SAMPLES_PER_FILE)), np.cumsum(SAMPLES_PER_FILE)[:-1])
NUM_RANKS = 3


def pipeline(in_epoch):
    """Return the trial of a pipeline in which an epoch of training has the order that `in_epoch(mine, rng)` says."""
    results = []
    for rank in range(NUM_RANKS):
        mine, rng = np.concatenate(FILES[rank::NUM_RANKS]), np.random.default_rng(rank)
        epochs = [in_epoch(mine, number, rng) for number in range(NUM_BATCHES)]
        training = in_batches(np.concatenate(epochs)[: NUM_BATCHES * BATCH_SIZE])
        ways = dict(zip(WAYS, (in_batches(mine), training, training)))
        tilts = {
            way: np.zeros(len(mine)) if way == "validation" else rng.normal(size=NUM_BATCHES * BATCH_SIZE)
            for way in WAYS
        }
        made_of = {way: stages(way) for way in (*WAYS, "asked")}
        results.append(
            {**ways, "tilts": tilts, "made_of": made_of, "are_files_shuffled": True, "caches": [], "files": [0]}
        )
    return Trial(NUM_RANKS, results)


def stages(way):
    """Return the stages of a right pipeline, as far as they are asked for."""
    gives_text = {"ParallelInterleaveDatasetV4": True, "ShuffleDatasetV3": True, "ParallelMapDatasetV2": False}
    kinds = gives_text | {"PrefetchDataset": False}
    numbers = [1000, 4, 1, 1000, 1000, 1000]  # four files at a time, blocks of one record
    found = [{"kind": kind, "is_text": is_text, "numbers": numbers} for kind, is_text in kinds.items()]
    found = [stage for stage in found if way != "validation" or "Shuffle" not in stage["kind"]]
    return {"stages": [stage | {"is_ordered": way != "asked"} for stage in found], "skips": way == "asked"}


def in_batches(numbers):
    """Return batches of samples and labels."""
    return [(batch, batch + 1) for batch in np.split(numbers, range(BATCH_SIZE, len(numbers), BATCH_SIZE))]


def full(numbers):
    """Return the samples without the rest that fills no batch."""
    return numbers[: len(numbers) // BATCH_SIZE * BATCH_SIZE]


@pytest.mark.parametrize(
    "in_epoch",
    [
        lambda mine, _, rng: rng.permutation(mine),
        lambda mine, number, rng: mine if number == 0 else rng.permutation(mine),
        lambda mine, number, rng: mine[::-1] if number < 2 else rng.permutation(mine),
    ],
    ids=["shuffled", "by chance in order at first", "by chance alike twice"],
)
def test_what_is_shuffled_is_right_whatever_is_drawn(in_epoch):
    """An epoch in the order of the files, or like the one before, is no fault where others are not."""
    lab03_data.check_order(pipeline(in_epoch))
    lab03_data.check_shards(pipeline(in_epoch))


@pytest.mark.parametrize(
    ("in_epoch", "code"),
    [
        (lambda mine, *_: mine, "order.not-shuffled"),
        (lambda mine, *_: full(mine), "order.not-shuffled"),
        (lambda mine, _, rng: np.concatenate(rng.permutation(np.array(files_of(mine), object))), "order.not-shuffled"),
        (lambda mine, *_: interleaved(files_of(mine)), "order.not-shuffled"),
        (lambda mine, *_: mine[::-1], "order.repeated"),
        (lambda mine, *_: full(mine[::-1]), "order.repeated"),
        (lambda mine, _, rng: rng.choice(mine, len(mine)), "epochs.mixed"),
        (lambda mine, _, rng: full(rng.permutation(mine)), "epochs.rest-dropped"),
    ],
)
def test_what_is_not_shuffled_in_every_epoch_is_refused(in_epoch, code):
    """Not at all, the files only, once for all epochs, across the epochs, or without the rest of each."""
    with pytest.raises(CheckError) as caught:
        lab03_data.check_order(pipeline(in_epoch))
    assert caught.value.code == code


def files_of(mine):
    """Return the samples of each file that a rank reads."""
    return [file for file in FILES if file[0] in mine]


def interleaved(files):
    """Return the first records of all files, then the second ones, and so on."""
    longest = max(map(len, files))
    return np.concatenate([[file[place] for file in files if place < len(file)] for place in range(longest)])
