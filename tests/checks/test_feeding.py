"""What is said of lab 05's pipelines, from samples that are made up here: no ranks, no files."""

from __future__ import annotations

import numpy as np
import pytest

from coursekit.checks import CheckError, feeding, slow_store
from coursekit.checks.records import draw_images
from coursekit.checks.slow_store import BATCH_SIZE, GOAL, NUM_SAMPLES, StoreTrial
from coursekit.checks.spy_trial import SpyTrial

NUM_RANKS = 3


def fed(order=lambda rng, mine: rng.permutation(mine), *, first_loaded=lambda mine: mine):
    """Return the trial of a pipeline that feeds each rank its share in this order, and the samples it loads."""
    rng = np.random.default_rng(3)
    secrets, results = [], []
    for rank in range(NUM_RANKS):
        images, labels = draw_images(feeding.NUM_FED, rng)
        mine = np.arange(rank, feeding.NUM_FED, NUM_RANKS)
        orders = [order(rng, mine) for _ in range(feeding.NUM_EPOCHS)]
        cuts = range(feeding.BATCH_SIZE, len(mine), feeding.BATCH_SIZE)
        epochs = [[images[batch].astype(np.float32) for batch in np.split(one, cuts)] for one in orders]
        secrets.append({"images": images, "labels": labels})
        results.append({"epochs": epochs, "loaded": list(first_loaded(mine))})
    return SpyTrial(NUM_RANKS, tuple(results), secrets=tuple(secrets))


def test_a_right_order_passes():
    """Own samples, shuffled anew in every epoch and loaded once, have all properties."""
    trial = fed()
    feeding.check_fed_shards(trial)
    feeding.check_loaded_once(trial)
    feeding.check_fed_order(trial)


@pytest.mark.parametrize(
    ("order", "words"),
    [
        (lambda _, mine: mine, "in the order of the files"),
        (lambda _, mine: mine[::-1], "every epoch comes in the same order"),
        (lambda rng, mine: np.concatenate([rng.permutation(mine[:6]), mine[6:]]), "of the first 7 samples of its rank"),
    ],
)
def test_faults_of_the_order(order, words):
    """Unshuffled samples, one order for all epochs and a buffer that is too small are told apart."""
    with pytest.raises(CheckError, match=words):
        feeding.check_fed_order(fed(order))


@pytest.mark.parametrize(
    ("loaded", "words"),
    [(lambda mine: np.tile(mine, 4), "loads a sample 4 times"), (lambda _: range(37), "loaded by 3 ranks")],
)
def test_faults_of_loading(loaded, words):
    """No cache, and a shard that comes after loading."""
    with pytest.raises(CheckError, match=words):
        feeding.check_loaded_once(fed(first_loaded=loaded))


def store_trial(*, fast_s=1.0, numbers=range(NUM_SAMPLES)):
    """Return the trial of a pipeline that gives these samples in so many seconds."""
    images = np.arange(NUM_SAMPLES * 6).reshape(NUM_SAMPLES, 2, 3)
    batches = list(images[list(numbers)].reshape(-1, BATCH_SIZE, 2, 3))
    busy_s = {"read": 0.2 * fast_s, "decode": 0.9 * fast_s, "train": 0.1 * fast_s}
    found = {"batches": batches, "asked": list(numbers), "seconds": fast_s, "busy_s": busy_s}
    return StoreTrial(found, images, slow_s=3.0)


def test_a_faster_pipeline_with_the_same_samples_passes():
    """In any order."""
    trial = store_trial(numbers=range(NUM_SAMPLES)[::-1])
    slow_store.check_same_samples(trial)
    slow_store.check_faster(trial)


def test_faults_of_a_faster_pipeline():
    """It may not leave out samples, and it must be faster by the factor that is asked for."""
    with pytest.raises(CheckError, match="20 of 40 images are missing"):
        slow_store.check_same_samples(store_trial(numbers=[*range(20), *range(20)]))
    with pytest.raises(
        CheckError, match=r"2\.0 times as fast, expected 2\.7; for 1\.35 s of them it is at the stage 'decode'"
    ):
        slow_store.check_faster(store_trial(fast_s=1.5))
    records = StoreTrial({**store_trial().found, "batches": np.arange(NUM_SAMPLES).reshape(-1, BATCH_SIZE)}, [])
    with pytest.raises(CheckError, match="no image of the store: is each record decoded"):
        slow_store.check_faster(records)
    assert 1.5 * 1.9 < 3 < GOAL * 1.5  # either stage alone is not enough
