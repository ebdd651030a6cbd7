"""What is said of an input pipeline, from batches that are made up here: no ranks, no files."""

from __future__ import annotations

import numpy as np
import pytest

from coursekit.checks import CheckError, pipeline
from coursekit.checks.spy_trial import SAMPLES_PER_FILE, SpyTrial

NUM_RANKS = 3
FILES = np.split(np.arange(sum(SAMPLES_PER_FILE)), np.cumsum(SAMPLES_PER_FILE)[:-1])
AT_RANDOM, ALIKE = 5.0, 0.0


def batches(numbers, *, rest):
    """Return batches of these samples with their labels, a smaller last one only with a rest."""
    cut = [np.asarray(numbers[first : first + 4]) for first in range(0, len(numbers), 4)]
    return [(batch, batch + 1) for batch in cut if rest or len(batch) == 4]


def trial(*, files=FILES, epochs_mix=False, rest=True, spread=(AT_RANDOM, ALIKE), left=()):
    """Return the trial of a right pipeline, or of one with a fault.

    Args:
        files: that are read, each by one rank.
        epochs_mix: whether samples are drawn at random instead of in epochs.
        rest: whether the last batch of the validation is there.
        spread: of the tilts in training and in validation.
        left: names of the files that every rank leaves.
    """
    rng = np.random.default_rng(5)
    results = []
    for rank in range(NUM_RANKS):
        mine = np.concatenate(files[rank::NUM_RANKS])
        order = np.concatenate([rng.permutation(mine) for _ in range(20)])
        order = (rng.choice(mine, len(order)) if epochs_mix else order)[: 4 * pipeline.NUM_BATCHES]
        ways = {"training": (spread[0], AT_RANDOM), "validation": (spread[1], ALIKE)}
        training = batches(order, rest=False)
        results.append(
            {"training": training, "again": training, "validation": batches(mine, rest=rest), "spread": ways}
        )
    return SpyTrial(NUM_RANKS, tuple(results), left=(dict.fromkeys(left, b""),) * NUM_RANKS)


def test_a_right_pipeline_passes():
    """Shards by files, shuffled epochs and images cut as asked have all properties; training files may be left."""
    right = trial(left=["files/train-00000-of-00007"])
    pipeline.check_shards(right)
    pipeline.check_order(right)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"files": FILES[:6]}, "of 7 files, number 6 is read by no rank, expected one"),
        ({"left": ["files/cache.index"]}, "the file ['files/cache.index'] is written by several ranks"),
    ],
)
def test_faults_of_the_shards(fault, words):
    """A file that nobody reads and a cache that all write are faults of the shards, and none of the order."""
    with pytest.raises(CheckError) as caught:
        pipeline.check_shards(trial(**fault))
    assert words in str(caught.value)
    pipeline.check_order(trial(**fault))


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"epochs_mix": True}, "the epochs are mixed"),
        ({"rest": False}, "leave out the last 2 images"),
        ({"spread": (AT_RANDOM, AT_RANDOM)}, "the images for validation are cut at random"),
        ({"spread": (ALIKE, ALIKE)}, "the images for training are not cut at random"),
    ],
)
def test_faults_of_the_order(fault, words):
    """Mixed epochs, a lost rest and images cut otherwise than asked are faults of the order, and none of the shards."""
    with pytest.raises(CheckError) as caught:
        pipeline.check_order(trial(**fault))
    assert words in str(caught.value)
    pipeline.check_shards(trial(**fault))
