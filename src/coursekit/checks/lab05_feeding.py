"""Checks of lab 05's pipelines: reading from files and generators, the order of the samples, and caching.

Each sample is recognised by its content, which is random and known only to its rank.

Example: three ranks share 37 samples. Rank 1 may have the twelve samples 1, 4, 7, ... 34, in batches of 4, 4 and 4. The
samples come once in every epoch, in a new order and in new batches, but each is loaded only once, in the first epoch.
If the first batch of every epoch holds only some of the first seven samples (1 to 19), the shuffle buffer is too small:
it holds only four samples.
"""

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from coursekit.checks.check import fresh_rng, require
from coursekit.checks.compare import require_equal
from coursekit.checks.epochs import check_end, check_last_batch, check_once, check_pairs
from coursekit.checks.lab05_records import draw_images
from coursekit.checks.private_data import PrivateInputs
from coursekit.checks.shards import Owners, check_owners, check_readers, owners, readers_of
from coursekit.checks.trials import SAMPLES_PER_FILE, Trial, try_on_ranks
from coursekit.drivers import lab05
from coursekit.drivers.calls import Answer
from coursekit.drivers.probe_model import Array
from coursekit.errors import Cause
from coursekit.text import counted

NUM_SAMPLES = sum(SAMPLES_PER_FILE)
NUM_DRAWN = 31  # samples from a generator; a prime number, so that blocks of equal length leave out some samples
BATCH_SIZE = 4
NUM_EPOCHS = 4  # enough that shuffled batches hardly ever come in the same order in all epochs
NUM_NEAR = 2 * BATCH_SIZE - 1  # with a buffer of one batch, the first batch uses only this many samples from the start
SHARD_FIRST = ": shard by rank and world size before anything is shuffled"
NUM_FED = 37  # each rank has several batches; on some rank, the last batch is smaller


def _draw_private(num_ranks: int, num_samples: int) -> PrivateInputs:
    """Draw images and labels for each rank; no other rank knows them."""
    drawn = (draw_images(num_samples, fresh_rng()) for _ in range(num_ranks))
    return tuple({"images": images, "labels": labels, "counts": list(SAMPLES_PER_FILE)} for images, labels in drawn)


def _own_numbers(images: Any, given: dict[str, Any], rank: int, scale: float = 255.0) -> Array:
    """Return the sample numbers of a batch's images; require that they have the right shape and belong to this rank."""
    side = given["images"].shape[1:]
    if len(images):
        require_equal(
            np.shape(images)[1:], side, f"the shape of an image in the batches of rank {rank}", "images.wrong-shape"
        )
    by_content = {image.tobytes(): number for number, image in enumerate(given["images"])}
    levels = np.rint(np.asarray(images, dtype=float) * scale).astype(np.uint8)
    numbers = np.array([by_content.get(image.tobytes(), -1) for image in levels], dtype=int)
    is_scaled = not len(images) or bool(np.min(images) >= 0 and np.max(images) * scale <= 255)  # noqa: PLR2004
    changed = "did you change pixels, or read a cache file that another rank or an earlier run wrote?"
    message = f"rank {rank} gets images that are not among its samples"
    is_own = (numbers >= 0).all()
    require(is_own or is_scaled, f"{message}: expected {side[0]} x {side[1]} pixels from 0 to 1", "images.not-scaled")
    require(is_own, f"{message}: {changed}", "images.foreign")
    return numbers


def try_files(from_files: Answer, num_ranks: int = 3) -> Trial:
    """Let the answer read files once on real ranks."""
    private = _draw_private(num_ranks, NUM_SAMPLES)
    return try_on_ranks(lab05.read_files, from_files, BATCH_SIZE, num_ranks=num_ranks, private=private)


def _read(trial: Trial) -> list[list[Array]]:
    """Return the numbers of the samples in each rank's batches."""
    found = []
    for rank, (batches, given) in enumerate(zip(trial.of_ranks(), trial.private)):
        found.append([_own_numbers(images, given, rank) for images, _ in batches])
        for mine, (_, labels) in zip(found[-1], batches):
            require_equal(
                np.shape(labels), mine.shape, f"the shape of a batch of labels on rank {rank}", "labels.wrong-shape"
            )
            check_pairs(labels, given["labels"][mine], f"on rank {rank}")
    return found


def check_files(trial: Trial) -> None:
    """Every record reaches exactly one rank, and every file is read by exactly one rank."""
    check_readers(readers_of(_check_shares(_read(trial), NUM_SAMPLES), SAMPLES_PER_FILE))


def _check_shares(batches: Sequence[Sequence[Array]], num_samples: int, advice: str = "") -> Owners:
    """Return the ranks that get each sample in one epoch; every sample must go to only one rank, and only once."""
    samples = [np.concatenate([*of_rank, np.zeros(0, dtype=int)]) for of_rank in batches]
    for rank, numbers in enumerate(samples):
        check_once(numbers.tolist(), rank)
    by_sample = owners(samples, num_samples)
    check_owners(by_sample, len(samples), advice=advice)
    return by_sample


def check_interleaved(trial: Trial) -> None:
    """All batches except the last are full, and the records of several files alternate.

    Example: a rank reads file 0, with three records, and file 1, with five. If the records come from the files
    0, 0, 0, 1, 1, 1, 1, 1, the rank has read one file after the other. A shuffle of the records may give this order on
    one rank by chance, once in 28 cases, but hardly ever on all ranks.
    """
    file_of = np.repeat(np.arange(len(SAMPLES_PER_FILE)), SAMPLES_PER_FILE)
    in_turns = {}  # for each rank with several files, whether they alternate
    for rank, batches in enumerate(_read(trial)):
        check_last_batch(batches, BATCH_SIZE, f"of rank {rank}")
        files = file_of[np.concatenate([*batches, np.zeros(0, dtype=int)])]
        num_mine, num_changes = len(set(files.tolist())), int(np.sum(np.diff(files) != 0))
        if num_mine > 1:
            in_turns[rank] = num_changes >= num_mine
    message = f"the ranks {[*in_turns]} each read one file after another"
    require(
        not in_turns or any(in_turns.values()),
        f"{message}: interleave several files at a time",
        "files.not-interleaved",
    )


def try_generator(from_generator: Answer, num_ranks: int = 3) -> Trial:
    """Let the answer draw samples on real ranks for two epochs, and then so few samples that one rank gets none."""
    private = _draw_private(num_ranks, NUM_DRAWN)
    return try_on_ranks(lab05.draw_samples, from_generator, 2, num_ranks - 1, num_ranks=num_ranks, private=private)


def check_generated(trial: Trial) -> None:
    """The signature has the right shapes and types, and both epochs have the same number of the rank's own samples."""
    for rank, (result, given) in enumerate(zip(trial.of_ranks(), trial.private)):
        (image_type, image_shape), (label_type, label_shape) = result["spec"]
        side = list(given["images"].shape[1:])
        require_equal(image_shape, side, "the shape of an image in the output_signature", "signature.image-shape")
        require_equal(image_type, "float32", "the type of an image in the output_signature", "signature.image-type")
        require_equal(label_shape, [], "the shape of a label in the output_signature", "signature.label-shape")
        require(
            "int" in label_type,
            f"the type of a label in the output_signature: expected an int type, got {label_type}",
            "signature.label-type",
        )
        num_first, num_second = map(len, result["epochs"])
        message = f"rank {rank} gets {counted(num_first, 'sample')} in the first epoch and {num_second} in the second"
        advice = "pass a function that starts from the beginning each time it is called"
        require(0 < num_first == num_second, f"{message}, expected the same: {advice}", "generator.not-restarted")
        for epoch in result["epochs"]:
            images, labels = zip(*epoch)
            mine = _own_numbers(np.array(images), given, rank)
            check_pairs(labels, given["labels"][mine], f"on rank {rank}")


def check_drawn(trial: Trial) -> None:
    """A rank draws only its own samples, because drawing takes time.

    Example: a rank that has 10 of 31 samples draws 20 times in two epochs, or 10 times if it caches the samples. If it
    draws 62 times, it shards only after drawing. If three ranks share out two samples, one rank draws sample 0, another
    draws sample 1, and the third draws nothing.
    """
    results = list(zip(trial.of_ranks(), trial.private))
    first = [[image for image, _ in one["epochs"][0]] for one, _ in results]
    samples = [_own_numbers(mine, given, rank) for rank, (mine, (_, given)) in enumerate(zip(first, results))]
    check_owners(owners(samples, NUM_DRAWN), trial.num_ranks)
    for rank, ((result, _), mine) in enumerate(zip(results, samples)):
        num_drawn, num_epochs = len(result["drawn"]), len(result["epochs"])
        message = f"rank {rank} uses {len(mine)} samples in each of {num_epochs} epochs but draws {num_drawn}"
        require(
            num_drawn <= num_epochs * len(mine),
            f"{message}: shard the sample numbers before you draw the samples",
            "generator.sharded-late",
        )
    num_few = trial.num_ranks - 1
    few = [_own_numbers(result["few"], given, rank).tolist() for rank, (result, given) in enumerate(results)]
    message = f"with {counted(num_few, 'sample')}, the {trial.num_ranks} ranks use the numbers {few}"
    require(
        sorted(itertools.chain(*few)) == list(range(num_few)),
        f"{message}; expected each number once, and one rank without samples",
        "generator.few-samples",
    )


def try_feed(feed: Answer, num_ranks: int = 3) -> Trial:
    """Let the answer feed real ranks for several epochs."""
    private = _draw_private(num_ranks, NUM_FED)
    return try_on_ranks(lab05.feed_epochs, feed, BATCH_SIZE, NUM_EPOCHS, num_ranks=num_ranks, private=private)


def _fed(trial: Trial) -> list[list[list[Array]]]:
    """Return the sample numbers of all batches, by rank, epoch and step."""
    found = []
    for rank, (result, given) in enumerate(zip(trial.of_ranks(), trial.private)):
        for epoch in result["epochs"]:
            check_end(epoch, lab05.MOST_BATCHES, f"of an epoch on rank {rank}")
            require(len(epoch) > 0, f"rank {rank} gets no sample at all", "samples.none")
        found.append([[_own_numbers(batch, given, rank, 1.0) for batch in epoch] for epoch in result["epochs"]])
    return found


def check_fed_shards(trial: Trial) -> None:
    """In each epoch, every sample reaches exactly one rank, once."""
    for of_ranks in zip(*_fed(trial)):
        _check_shares(of_ranks, NUM_FED, SHARD_FIRST)


def check_loaded_once(trial: Trial) -> None:
    """Every sample is loaded only once, by one rank, however many epochs there are."""
    _fed(trial)
    loaded = trial.of_ranks("loaded")
    for rank, numbers in enumerate(loaded):
        most = max(Counter(numbers).values(), default=0)
        message = f"rank {rank} loads a sample {most} times in {NUM_EPOCHS} epochs, expected once"
        require(most == 1, f"{message}: cache the loaded samples", "cache.none")
    most = max(len(ranks) for ranks in owners(loaded, NUM_FED).values())
    require(
        most == 1,
        f"a sample is loaded by {most} ranks, expected one{SHARD_FIRST} or loaded",
        "loading.by-several-ranks",
    )


def check_fed_order(trial: Trial) -> None:
    """All batches except the last are full, and all samples of a rank are shuffled again in every epoch."""
    reaches = []
    for rank, epochs in enumerate(_fed(trial)):
        orders = [np.concatenate(batches).tolist() for batches in epochs]
        together = [{frozenset(batch.tolist()) for batch in batches} for batches in epochs]
        in_order = "the samples come in the order of the files: shuffle them"
        repeated = "every epoch has the same order: shuffle after the cache, with a new order in each iteration"
        same = "the same samples share a batch in every epoch: shuffle the samples before you batch them"
        causes = {
            Cause(f"on rank {rank} {in_order}", "order.not-shuffled"): all(one == sorted(one) for one in orders),
            Cause(f"on rank {rank} {repeated}", "order.repeated"): all(one == orders[0] for one in orders),
            Cause(f"on rank {rank} {same}", "batches.repeated"): all(one == together[0] for one in together),
        }
        for cause, is_so in causes.items():
            require(not is_so, *cause)
        for batches in epochs:
            check_last_batch(batches, BATCH_SIZE, f"of rank {rank}")
        mine = sorted(set().union(*orders))
        reaches += [max(mine.index(number) for number in batches[0]) >= NUM_NEAR for batches in epochs]
    # After a full shuffle, this happens on three ranks in fewer than one of 10**13 cases: in each epoch and on each
    # rank, it happens in C(7, 4) of C(12, 4) cases.
    message = f"in every epoch, the first batch comes from the first {NUM_NEAR} samples of its rank"
    require(any(reaches), f"{message}: make the shuffle buffer as large as a rank's share", "order.small-buffer")


def check_cached(cached: Answer, num_ranks: int) -> None:
    """Every rank reads its samples once and caches them in its node's folder, under names that no other rank uses."""
    rng = fresh_rng()
    shares = [rng.integers(1, 10**9, int(rng.integers(3, 9))) for _ in range(num_ranks)]
    private = tuple({"numbers": share} for share in shares)
    trial = try_on_ranks(lab05.cache_in_turn, cached, 2, num_ranks=num_ranks, private=private)
    for rank, (result, share) in enumerate(zip(trial.of_ranks(), shares)):
        for epoch, numbers in zip(("first", "second"), result["epochs"]):
            other = next((who for who, of_other in enumerate(shares) if numbers == of_other.tolist()), rank)
            message = f"in the {epoch} epoch, rank {rank} gets the samples of rank {other} from that rank's cache file"
            require(other == rank, f"{message}: give each rank's cache a different name", "cache.same-name")
            require(
                sorted(numbers) == sorted(share),
                f"in the {epoch} epoch, rank {rank} gets the wrong samples",
                "cache.wrong-samples",
            )
        message = f"rank {rank} has {len(share)} samples but reads {result['num_read']} in two epochs"
        require(
            result["num_read"] == len(share),
            f"{message}, expected each once: read the second epoch from the cache",
            "cache.read-again",
        )
        message = f"there is no file in the folder of rank {rank}'s node"
        require(result["files"], f"{message}: cache in the given folder, not in memory or elsewhere", "cache.elsewhere")
