"""Checks of lab 05's pipelines: from files and generators, in which order, cached.

What reaches a rank is told by its content, which is random and known to that rank alone.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks.check import require
from coursekit.checks.on_ranks import run_here
from coursekit.checks.plain_numbers import require_equal
from coursekit.checks.random_inputs import fresh_rng
from coursekit.checks.records import draw_images
from coursekit.checks.shards import check_owners
from coursekit.checks.spy_trial import owners, try_on_ranks
from coursekit.drivers import feeding
from coursekit.drivers.calls import with_horovod

if TYPE_CHECKING:
    from collections.abc import Callable

    from coursekit.checks.spy_trial import SpyTrial
    from coursekit.drivers.feeding import Array

COUNTS = (5, 3, 6, 4, 5, 4, 3)  # samples in the files: unequal, and so many that no world size divides them
NUM_SAMPLES = sum(COUNTS)
BATCH_SIZE = 4
NUM_EPOCHS = 4  # so many that whole batches in a random order hardly look like one order
NUM_NEAR = 2 * BATCH_SIZE - 1  # samples that a first batch can reach with a buffer as large as a batch
SHARD_FIRST = ": shard by rank and size, before anything is shuffled"
NUM_FED = 37  # samples of one rank are at least nine: several batches, of which the last is smaller


def _secrets(num_ranks: int, num_samples: int) -> tuple[dict[str, Any], ...]:
    """Return for each rank images and labels that it alone knows."""
    drawn = (draw_images(num_samples, fresh_rng()) for _ in range(num_ranks))
    return tuple({"images": images, "labels": labels, "counts": list(COUNTS)} for images, labels in drawn)


def _numbers(images: Array, secret: dict[str, Any], scale: float = 255.0) -> Array:
    """Return which of a rank's samples images are, -1 for others."""
    by_content = {image.tobytes(): number for number, image in enumerate(secret["images"])}
    levels = np.rint(np.asarray(images, dtype=float) * scale).astype(np.uint8)
    return np.array([by_content.get(image.tobytes(), -1) for image in levels], dtype=int)


def _require_own(numbers: Array, rank: int) -> None:
    require(bool((numbers >= 0).all()), f"rank {rank} gets images that are not among its samples, 28 x 28 from 0 to 1")


def try_files(from_files: Callable[..., Any], num_ranks: int = 3) -> SpyTrial:
    """Read files on real ranks, once."""
    told = _secrets(num_ranks, NUM_SAMPLES)
    return try_on_ranks(feeding.read_files, from_files, BATCH_SIZE, num_ranks=num_ranks, secrets=told)


def _read(trial: SpyTrial) -> list[list[Array]]:
    """Return the numbers of the samples in each rank's batches."""
    found = []
    for rank, (batches, secret) in enumerate(zip(trial.of_ranks(), trial.secrets)):
        numbers = [_numbers(images, secret) for images, _ in batches]
        for mine, (_, labels) in zip(numbers, batches):
            _require_own(mine, rank)
            right = np.array_equal(np.ravel(labels), secret["labels"][mine])
            require(right, f"on rank {rank} images and labels do not belong together")
        found.append(numbers)
    return found


def check_files(trial: SpyTrial) -> None:
    """Every record reaches one rank, and every file is read by one rank."""
    samples = [np.concatenate([*batches, np.zeros(0, dtype=int)]) for batches in _read(trial)]
    for rank, numbers in enumerate(samples):
        require(len(numbers) > 0, f"rank {rank} gets no sample at all")
        most = max(Counter(numbers.tolist()).values())
        require(most == 1, f"rank {rank} gets a sample {most} times in one epoch, expected once: do not repeat")
    by_sample = owners(samples, NUM_SAMPLES)
    check_owners(by_sample, trial.num_ranks)
    ends = np.cumsum((0, *COUNTS))
    for file, (first, end) in enumerate(zip(ends, ends[1:])):
        readers = sorted({rank for sample in range(first, end) for rank in by_sample[sample]})
        told = f"file {file} is read by the ranks {readers}, expected one"
        require(len(readers) == 1, f"{told}: shard the list of files, not the records")


def check_interleaved(trial: SpyTrial) -> None:
    """Batches are full but for the last, and a batch holds records of several files."""
    file_of = np.repeat(np.arange(len(COUNTS)), COUNTS)
    for rank, batches in enumerate(_read(trial)):
        sizes = [len(numbers) for numbers in batches]
        expected = [BATCH_SIZE] * (sum(sizes) // BATCH_SIZE) + [sum(sizes) % BATCH_SIZE] * (sum(sizes) % BATCH_SIZE > 0)
        require_equal(sizes, expected, f"the sizes of the batches of rank {rank}")
        num_mine = len(set(file_of[np.concatenate(batches)].tolist()))
        num_mixed = len(set(file_of[batches[0]].tolist()))
        told = f"the first batch of rank {rank} has records of {num_mixed} of its {num_mine} files"
        require(num_mixed > 1 or num_mine == 1, f"{told}: expected several, interleaved")


def try_generator(from_generator: Callable[..., Any], num_ranks: int = 3) -> SpyTrial:
    """Draw samples on real ranks, twice."""
    told = _secrets(num_ranks, NUM_SAMPLES)
    return try_on_ranks(feeding.draw_samples, from_generator, 2, num_ranks=num_ranks, secrets=told)


def check_generated(trial: SpyTrial) -> None:
    """The samples have shape and type, and every epoch has all that are this rank's, the second as the first."""
    for rank, (result, secret) in enumerate(zip(trial.of_ranks(), trial.secrets)):
        (image_type, image_shape), (label_type, label_shape) = result["spec"]
        side = list(secret["images"].shape[1:])
        require_equal(image_shape, side, "the shape of an image in the output_signature")
        require_equal(image_type, "float32", "the type of an image in the output_signature")
        require_equal(label_shape, [], "the shape of a label in the output_signature")
        require("int" in label_type, f"the type of a label in the output_signature: expected int, got {label_type}")
        first, second = ([label for _, label in epoch] for epoch in result["epochs"])
        told = f"rank {rank} gets {len(first)} samples in the first epoch and {len(second)} in the second"
        require(0 < len(first) == len(second), f"{told}, expected the same: hand on a function that begins anew")
        for epoch in result["epochs"]:
            mine = _numbers(np.array([image for image, _ in epoch]), secret)
            _require_own(mine, rank)
            right = secret["labels"][mine].tolist() == [label for _, label in epoch]
            require(right, f"on rank {rank} images and labels do not belong together")


def check_drawn(trial: SpyTrial) -> None:
    """A rank draws its own samples and no other: drawing is what costs time."""
    results = trial.of_ranks()
    samples = []
    for result, secret in zip(results, trial.secrets):
        images = np.array([image for image, _ in result["epochs"][0]])
        samples.append(_numbers(images, secret) if len(images) else np.zeros(0, dtype=int))
    check_owners(owners(samples, NUM_SAMPLES), trial.num_ranks)
    for rank, (result, mine) in enumerate(zip(results, samples)):
        num_drawn, num_epochs = len(result["drawn"]), len(result["epochs"])
        told = f"rank {rank} uses {len(mine)} samples in each of {num_epochs} epochs and draws {num_drawn}"
        require(num_drawn <= num_epochs * len(mine), f"{told}: shard the numbers, before anything is drawn")


def try_feed(feed: Callable[..., Any], num_ranks: int = 3) -> SpyTrial:
    """Feed real ranks for some epochs."""
    told = _secrets(num_ranks, NUM_FED)
    return try_on_ranks(feeding.feed_epochs, feed, BATCH_SIZE, NUM_EPOCHS, num_ranks=num_ranks, secrets=told)


def _fed(trial: SpyTrial) -> list[list[list[Array]]]:
    """Return the sample numbers of each rank's batches, by rank, epoch and step."""
    found = []
    for rank, (result, secret) in enumerate(zip(trial.of_ranks(), trial.secrets)):
        epochs = [[_numbers(batch, secret, scale=1.0) for batch in epoch] for epoch in result["epochs"]]
        for epoch in epochs:
            endless = len(epoch) >= feeding.MOST_BATCHES
            require(not endless, f"an epoch on rank {rank} has no end: expected each sample once, so do not repeat")
            require(len(epoch) > 0, f"rank {rank} gets no sample at all")
            _require_own(np.concatenate(epoch), rank)
        found.append(epochs)
    return found


def check_fed_shards(trial: SpyTrial) -> None:
    """In each epoch every sample reaches one rank, once."""
    by_rank = _fed(trial)
    for epoch in range(NUM_EPOCHS):
        samples = [np.concatenate(epochs[epoch]) for epochs in by_rank]
        for rank, numbers in enumerate(samples):
            most = max(Counter(numbers.tolist()).values())
            require(most == 1, f"rank {rank} gets a sample {most} times in one epoch, expected once")
        check_owners(owners(samples, NUM_FED), trial.num_ranks, advice=SHARD_FIRST)


def check_loaded_once(trial: SpyTrial) -> None:
    """Every sample is loaded once, by one rank, however many epochs there are."""
    _fed(trial)
    loaded = [result["loaded"] for result in trial.of_ranks()]
    for rank, numbers in enumerate(loaded):
        most = max(Counter(numbers).values(), default=0)
        told = f"rank {rank} loads a sample {most} times in {NUM_EPOCHS} epochs, expected once"
        require(most == 1, f"{told}: cache what is loaded")
    by_sample = owners([np.array(numbers) for numbers in loaded], NUM_FED)
    most = max(len(ranks) for ranks in by_sample.values())
    require(most == 1, f"a sample is loaded by {most} ranks, expected one{SHARD_FIRST} or loaded")


def check_fed_order(trial: SpyTrial) -> None:
    """The last batch alone is smaller, and every epoch mixes all of a rank's samples anew."""
    reaches = []
    for rank, epochs in enumerate(_fed(trial)):
        orders = [np.concatenate(batches).tolist() for batches in epochs]
        told = f"on rank {rank} the samples come in the order of the files"
        require(any(order != sorted(order) for order in orders), f"{told}: shuffle them")
        told = f"on rank {rank} every epoch comes in the same order"
        differ = any(order != orders[0] for order in orders)
        require(differ, f"{told}: shuffle behind the cache, and anew in each iteration")
        together = [{frozenset(batch.tolist()) for batch in batches} for batches in epochs]
        told = f"on rank {rank} the same samples are together in a batch in every epoch"
        require(any(one != together[0] for one in together), f"{told}: shuffle samples, and then batch")
        for batches in epochs:
            sizes, num_mine = [len(batch) for batch in batches], sum(map(len, batches))
            rest = [num_mine % BATCH_SIZE] * (num_mine % BATCH_SIZE > 0)
            require_equal(sizes, [BATCH_SIZE] * (num_mine // BATCH_SIZE) + rest, f"the sizes of rank {rank}'s batches")
        mine = sorted(orders[0])
        reaches += [max(mine.index(number) for number in batches[0]) >= NUM_NEAR for batches in epochs]
    # Of all samples, that has by chance one in ten million millions: C(7, 4) of C(12, 4) for each epoch and rank.
    told = f"the first batch of every epoch comes of the first {NUM_NEAR} samples of its rank"
    require(any(reaches), f"{told}: expected a shuffle buffer as large as a rank's share")


def check_cached(cached: Callable[..., Any], num_ranks: int) -> None:
    """Every rank reads its samples once, into files of its own in the folder of its node, and finds them again."""
    rng = fresh_rng()
    shares = [rng.integers(1, 10**9, int(rng.integers(3, 9))) for _ in range(num_ranks)]
    use = feeding.cache_in_turn
    results = run_here(with_horovod, use, cached, 2, num_ranks=num_ranks, private=shares)
    for rank, (result, share) in enumerate(zip(results, shares)):
        for epoch, numbers in zip(("first", "second"), result["epochs"]):
            other = next((who for who, of_other in enumerate(shares) if numbers == of_other.tolist()), rank)
            told = f"in the {epoch} epoch rank {rank} gets the samples of rank {other}, out of a file of that one's"
            require(other == rank, f"{told}: a cache needs a name for each rank")
            require(sorted(numbers) == sorted(share.tolist()), f"in the {epoch} epoch rank {rank} gets other samples")
        told = f"rank {rank} has {len(share)} samples and reads {result['num_read']} in two epochs"
        require(result["num_read"] == len(share), f"{told}, expected each once: the second epoch comes from the cache")
        told = f"there is no file in the folder of rank {rank}'s node"
        require(bool(result["files"]), f"{told}: cache in the folder given, neither in memory nor elsewhere")
