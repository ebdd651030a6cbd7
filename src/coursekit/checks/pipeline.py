"""Checks of the input pipeline of lab 03: images, shards by files, batches and their order."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks.check import require
from coursekit.checks.knowledge import secrets
from coursekit.checks.on_ranks import run_here
from coursekit.checks.random_inputs import fresh_rng
from coursekit.checks.shards import check_owners
from coursekit.checks.spy_steps import check_colors
from coursekit.checks.spy_trial import SAMPLES_PER_FILE, owners, samples_read, try_pipeline
from coursekit.drivers import pipeline
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
SAME_CUT = 0.3  # levels: the tilts of images that are all cut alike vary less, of others ten times as much


def check_load_picture(load_picture: Callable[..., Any], image_size: int) -> None:
    """Images have the right size, range and label; for training each is cut anew, for validation in the middle."""
    rng = fresh_rng()
    wanted, darkest = int(rng.integers(1, 1001)), float(rng.uniform(10, 30))
    image = darkest + _ramp(*np.mgrid[:HEIGHT, :WIDTH])
    label, validation, training = run_here(
        with_horovod, pipeline.load_pictures, load_picture, image.astype(np.uint8), wanted, NUM_CALLS, num_ranks=1
    )[0]
    require(label == wanted, f"the label: expected {wanted}, as the record says, got {label}")
    images = np.concatenate([validation, training])
    shape = (image_size, image_size, 3)
    require(images.shape[1:] == shape, f"the shape of an image: expected {shape}, got {images.shape[1:]}")
    require(images.dtype == np.float32, f"the type of an image: expected float32, got {images.dtype}")
    low, high = float(images.min()), float(images.max())
    require(-1.1 <= low < 0 and high <= 1.1, f"the pixels go from {low:.3g} to {high:.3g}, not from -1 to 1")  # noqa: PLR2004  # -1 to 1 and a little
    # A random window can be the middle by chance, so the worst of many is asked for.
    rest = validation - _middle(image_size, darkest)
    has_colors = float(np.ptp(rest.mean(axis=(0, 1, 2)))) < 0.04  # noqa: PLR2004  # windows move all channels alike
    require(has_colors, "the colours are not those of the record: expected its three channels, red, green and blue")
    gap = float(np.abs(rest).mean(axis=(1, 2, 3)).max())
    require(gap < 0.04, "the image for validation is not the square in the middle")  # noqa: PLR2004  # JPEG leaves 0.01
    spread = float(np.ptp(training.mean(axis=(1, 2, 3))))
    require(spread > 0.05, "the images for training are all cut alike: use a random window")  # noqa: PLR2004  # windows give 0.5
    rises = np.diff(training.mean(axis=(1, 3)), axis=1).mean(axis=1) > 0
    require(bool(rises.any() and not rises.all()), "the images for training are never mirrored, or always")


def _ramp(y: Array, x: Array) -> Array:
    """Return an image that gets brighter to the right, and a little downwards; its channels differ."""
    grey: Array = (1.5 * x + 0.4 * y)[..., np.newaxis]
    return np.concatenate([grey + shift for shift in (0, 20, 40)], axis=-1)


def _middle(image_size: int, darkest: float) -> Array:
    """Return the square in the middle of the ramp, at another size: a ramp again."""
    places = (np.arange(image_size) + 0.5) * HEIGHT / image_size - 0.5
    y, x = np.meshgrid(places, places + (WIDTH - HEIGHT) // 2, indexing="ij")
    return (darkest + _ramp(y, x)) / 127.5 - 1


def try_dataset(make_dataset: Callable[..., Any], load_picture: Callable[..., Any], num_ranks: int = 3) -> SpyTrial:
    """Read tiny files on real ranks, for validation once and for training for some epochs.

    `load_picture` says how images are cut, rightly or not: that they are cut so is what the pipeline is asked.
    """
    told = secrets(num_ranks, MAX_NUM_SAMPLES + 1, files={"train": SAMPLES_PER_FILE})
    answers = make_dataset, load_picture
    use = pipeline.read_dataset
    return try_pipeline(use, *answers, BATCH_SIZE, WAYS, num_ranks=num_ranks, secrets=told, look=True)


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
    by_sample = owners(samples, NUM_SAMPLES)
    readers = [set().union(*(by_sample[sample] for sample in file)) for file in _samples_of_files()]
    unread = [file for file, by in enumerate(readers) if not by]
    # That the last batch is not dropped is asked with the order, and a file that nobody reads below.
    check_owners(by_sample, trial.num_ranks, NUM_SAMPLES if unread else trial.num_ranks * (BATCH_SIZE - 1))
    told = f"of {len(readers)} files, number {unread[0]}" if unread else ""
    require(not unread, f"{told} is read by no rank, expected one: their number need not divide by that of the ranks")
    for file, by in enumerate(readers):
        told = f"file {file} is read by the ranks {sorted(by)}, expected one"
        require(len(by) == 1, f"{told}: shard the list of files, before they are read")
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
    written = Counter(path for files in trial.left for path in files if not path.startswith("files/train-"))
    shared = [path for path, count in written.items() if count > 1]
    told = "written by several ranks, expected a name for each rank, or a cache in memory"
    require(not shared, f"the file {shared[:1]} is {told}")


def _samples_of_files() -> list[range]:
    """Return the places of each file's samples."""
    ends = np.cumsum((0, *SAMPLES_PER_FILE))
    return [range(first, end) for first, end in zip(ends, ends[1:])]


def check_order(trial: SpyTrial) -> None:
    """Batches have their size and right pairs; the order changes with every epoch and is the same in every run.

    Images are cut as `load_picture` cuts them for training or for validation.
    """
    for rank, result in enumerate(trial.of_ranks()):
        for way in WAYS:
            check_colors([numbers for numbers, _ in result[way]] or [np.zeros(0)])
            for numbers, labels in result[way]:
                right = np.array_equal(np.ravel(labels), numbers + 1)
                require(right, f"on rank {rank} images and labels ({way}) do not belong together")
        _check_sizes(rank, {way: result[way] for way in WAYS})
        order = np.concatenate([numbers for numbers, _ in result["training"]])
        again = np.concatenate([numbers for numbers, _ in result["again"]])
        require(np.array_equal(order, again), "two runs see different orders: give every shuffle the seed")
        _check_shuffled(order)
        # Files sharded anew in each epoch, or a rest that is lost, may shorten an epoch; drawing at random halves it.
        num_mine, num_apart = sum(len(numbers) for numbers, _ in result["validation"]), _num_before_a_repeat(order)
        told = f"rank {rank} has {num_mine} images, and sees one again after {num_apart:.1f} on average"
        require(num_apart > num_mine / 2, f"{told}: the epochs are mixed; expected a shuffle, and then a repeat")
        for way, name in (("training", "training=True"), ("validation", "training=False")):
            in_pipeline, by_itself = (spread > SAME_CUT for spread in result["spread"][way])
            told = f"the images for {way} are {'' if in_pipeline else 'not '}cut at random"
            # By itself it is asked few times, and may by chance cut them alike: what is right is never refused.
            as_asked = in_pipeline in {by_itself, way == "training"}
            require(as_asked, f"{told}, expected them as load_picture(record, {name}) cuts them: hand on the argument")


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
    told = f"the batches for validation: expected the sizes {expected}, got {sizes['validation']}"
    require(sizes["validation"] == expected, told)
    used, validated = (
        {number for numbers, _ in result[way] for number in numbers} for way in ("training", "validation")
    )
    num_lost = len(used - validated)
    is_dropped = 0 < num_lost < BATCH_SIZE  # other losses are the shards' affair
    require(not is_dropped, f"the validation data of rank {rank} leave out the last {num_lost} images, expected all")


def _check_shuffled(order: Array) -> None:
    num_mine = len(set(order.tolist()))
    first, second = order[:num_mine], order[num_mine : 2 * num_mine]
    # Interleaving mixes the files, but the records of one file still come in its order.
    ends = np.cumsum(SAMPLES_PER_FILE)
    in_files = [first[(end - count <= first) & (first < end)] for count, end in zip(SAMPLES_PER_FILE, ends)]
    is_shuffled = any(bool((np.diff(numbers) < 0).any()) for numbers in in_files)
    require(is_shuffled, "the records of each file come in the order of the file: shuffle the records, too")
    require(not np.array_equal(first, second), "every epoch comes in the same order: shuffle, and then repeat")


def _num_before_a_repeat(order: Array) -> float:
    """Return after how many images on average one comes again: in epochs that do not mix, as many as there are."""
    seen: set[int] = set()
    num_rounds = 1
    for number in order.tolist():
        if number in seen:
            seen, num_rounds = set(), num_rounds + 1
        seen.add(number)
    return len(order) / num_rounds
