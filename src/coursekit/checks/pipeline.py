"""Checks of the input pipeline of lab 03: images, shards by files, batches and their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks.check import require
from coursekit.checks.knowledge import secrets
from coursekit.checks.on_ranks import run_here
from coursekit.checks.random_inputs import fresh_rng
from coursekit.checks.shards import check_owners
from coursekit.checks.spy_steps import check_colors
from coursekit.checks.spy_trial import SAMPLES_PER_FILE, owners, samples_read, try_pipeline
from coursekit.drivers import keras_ranks
from coursekit.drivers.calls import with_horovod
from coursekit.drivers.spy import MAX_NUM_SAMPLES, Array

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coursekit.checks.spy_trial import SpyTrial

NUM_SAMPLES = sum(SAMPLES_PER_FILE)
BATCH_SIZE = 4
NUM_EPOCHS = 3
NUM_BATCHES = NUM_EPOCHS * NUM_SAMPLES // BATCH_SIZE  # that each rank is asked for in training
MOST_BATCHES = 100  # where an end is expected
# Whether to read for training, and how many batches.
WAYS = {"validation": (False, MOST_BATCHES), "training": (True, NUM_BATCHES), "again": (True, NUM_BATCHES)}
NUM_CALLS = 24  # of images: one in 8 million lets all be flipped alike
HEIGHT, WIDTH = 60, 100


def check_load_picture(load_picture: Callable[..., Any], image_size: int) -> None:
    """Images have the right size, range and label; for training each is cut anew, for validation in the middle."""
    rng = fresh_rng()
    wanted, darkest = int(rng.integers(1, 1001)), float(rng.uniform(10, 30))
    image = darkest + _ramp(*np.mgrid[:HEIGHT, :WIDTH])
    label, validation, training = run_here(
        with_horovod, keras_ranks.load_pictures, load_picture, image.astype(np.uint8), wanted, NUM_CALLS, num_ranks=1
    )[0]
    require(label == wanted, f"the label is {label}, the record says {wanted}")
    images = np.concatenate([validation, training])
    shape = (image_size, image_size, 3)
    require(images.shape[1:] == shape, f"the image has the shape {images.shape[1:]}, not {shape}")
    require(images.dtype == np.float32, f"the image is {images.dtype}, not float32")
    low, high = float(images.min()), float(images.max())
    require(-1.1 <= low < 0 and high <= 1.1, f"the pixels go from {low:.3g} to {high:.3g}, not from -1 to 1")  # noqa: PLR2004  # -1 to 1 and a little
    # A random window can be the middle by chance, so the worst of many is asked for.
    gap = float(np.abs(validation - _middle(image_size, darkest)).mean(axis=(1, 2, 3)).max())
    require(gap < 0.04, "the image for validation is not the square in the middle")  # noqa: PLR2004  # JPEG leaves 0.01
    spread = float(np.ptp(training.mean(axis=(1, 2, 3))))
    require(spread > 0.05, "the images for training are all cut alike: use a random window")  # noqa: PLR2004  # windows give 0.5
    rises = np.diff(training.mean(axis=(1, 3)), axis=1).mean(axis=1) > 0
    require(bool(rises.any() and not rises.all()), "the images for training are never mirrored, or always")


def _ramp(y: Array, x: Array) -> Array:
    """Return an image that gets brighter to the right, and a little downwards."""
    return np.repeat((1.8 * x + 0.5 * y)[..., np.newaxis], 3, axis=2)


def _middle(image_size: int, darkest: float) -> Array:
    """Return the square in the middle of the ramp, at another size: a ramp again."""
    places = (np.arange(image_size) + 0.5) * HEIGHT / image_size - 0.5
    y, x = np.meshgrid(places, places + (WIDTH - HEIGHT) // 2, indexing="ij")
    return (darkest + _ramp(y, x)) / 127.5 - 1


def try_dataset(make_dataset: Callable[..., Any], num_ranks: int = 2) -> SpyTrial:
    """Read tiny files on real ranks, for validation once and for training for some epochs."""
    told = secrets(num_ranks, MAX_NUM_SAMPLES + 1, files={"train": SAMPLES_PER_FILE})
    return try_pipeline(keras_ranks.read_dataset, make_dataset, BATCH_SIZE, WAYS, num_ranks=num_ranks, secrets=told)


def _samples(trial: SpyTrial, way: str) -> list[Array]:
    """Return the samples of each rank, in their order."""
    samples = samples_read(trial, way)
    check_colors(samples)
    return samples


def check_shards(trial: SpyTrial) -> None:
    """Every sample belongs to one rank, in training as in validation, and every file is read by one rank."""
    samples = _samples(trial, "validation")
    training = _samples(trial, "training")
    for rank, (result, numbers) in enumerate(zip(trial.of_ranks(), samples)):
        endless = len(result["validation"]) >= MOST_BATCHES
        require(not endless, f"the validation data of rank {rank} have no end: do not repeat them")
        require(len(numbers) > 0, f"rank {rank} gets no sample at all")
    check_owners(owners(samples, NUM_SAMPLES), trial.num_ranks)
    first = 0
    for file, count in enumerate(SAMPLES_PER_FILE):
        readers = [rank for rank, mine in enumerate(samples) if set(range(first, first + count)) & set(mine.tolist())]
        is_one = len(readers) == 1
        require(is_one, f"file {file} is read by the ranks {readers}: shard the list of files, before they are read")
        first += count
    # One epoch drops the rest of its last batch; that the data end is asked with their order.
    ended = any(len(numbers) < NUM_BATCHES * BATCH_SIZE for numbers in training)
    tolerated = trial.num_ranks * (BATCH_SIZE - 1) if ended else 0
    by_sample = owners(training, NUM_SAMPLES)
    num_shared = sum(len(ranks) > 1 for ranks in by_sample.values())
    require(
        num_shared == 0,
        f"the shards are not disjoint over the epochs: {num_shared} of {NUM_SAMPLES} samples are used by several ranks "
        "in training: shard the files before anything is shuffled",
    )
    check_owners(by_sample, trial.num_ranks, tolerated_missing=tolerated)


def check_order(trial: SpyTrial) -> None:
    """Batches have their size and right pairs; the order changes with every epoch and is the same in every run."""
    for rank, result in enumerate(trial.of_ranks()):
        for way, batches in result.items():
            check_colors([numbers for numbers, _ in batches] or [np.zeros(0)])
            for numbers, labels in batches:
                right = np.array_equal(np.ravel(labels), numbers + 1)
                require(right, f"on rank {rank} images and labels ({way}) do not belong together")
        _check_sizes(rank, result)
        order = np.concatenate([numbers for numbers, _ in result["training"]])
        again = np.concatenate([numbers for numbers, _ in result["again"]])
        require(np.array_equal(order, again), "two runs see different orders: give every shuffle the seed")
        _check_shuffled(order)


def _check_sizes(rank: int, result: dict[str, Sequence[Any]]) -> None:
    sizes = {way: [len(numbers) for numbers, _ in batches] for way, batches in result.items()}
    require(
        len(sizes["training"]) == NUM_BATCHES,
        f"the training data of rank {rank} end after {len(sizes['training'])} batches: repeat them without end",
    )
    found = sorted(set(sizes["training"]))
    require(found == [BATCH_SIZE], f"batches for training hold {found} images, not always {BATCH_SIZE}")
    expected = [BATCH_SIZE] * (sum(sizes["validation"]) // BATCH_SIZE)
    rest = sum(sizes["validation"]) % BATCH_SIZE
    expected += [rest] if rest else []
    require(sizes["validation"] == expected, f"the batches for validation hold {sizes['validation']} images")


def _check_shuffled(order: Array) -> None:
    num_mine = len(set(order.tolist()))
    first, second = order[:num_mine], order[num_mine : 2 * num_mine]
    # Interleaving mixes the files, but the records of one file still come in its order.
    ends = np.cumsum(SAMPLES_PER_FILE)
    in_files = [first[(end - count <= first) & (first < end)] for count, end in zip(SAMPLES_PER_FILE, ends)]
    is_shuffled = any(bool((np.diff(numbers) < 0).any()) for numbers in in_files)
    require(is_shuffled, "the records of each file come in the order of the file: shuffle the records, too")
    require(not np.array_equal(first, second), "every epoch comes in the same order: shuffle, and then repeat")
