"""Checks of lab 03's data: pictures, shards by files, batches and their order.

Example: according to `SAMPLES_PER_FILE`, the first files hold the samples 0-4, 5-7, 8-13 and 14-17. Of three ranks,
rank 0 may read the files 0, 3 and 6. Its samples are then 0-4, 14-17 and 27-29, in validation and in training, and its
validation has batches of 4, 4 and 4. The order 0, 1, 2, 3, 4, 14, ... is not shuffled. If sample 3 comes again after
five others, the epochs are mixed. The batch (3, 14, 0, 28) has the right labels if they are (4, 15, 1, 29).
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from coursekit.checks.check import CheckError, fresh_rng, require
from coursekit.checks.compare import require_equal
from coursekit.checks.epochs import (
    ASSIGN,
    check_batches,
    check_end,
    check_endless,
    check_last_batch,
    check_new_batches,
    check_new_order,
    check_pairs,
)
from coursekit.checks.lab03_stages import check_made_in_order, check_stages
from coursekit.checks.on_ranks import run_on_ranks
from coursekit.checks.private_data import batches_in_files, draw_private
from coursekit.checks.shards import check_file_shares, check_owners, check_used_in_batches, owners, readers_of
from coursekit.checks.steps import check_colors
from coursekit.checks.trials import SAMPLES_PER_FILE, Trial, order_in, samples_read, try_on_ranks
from coursekit.drivers import lab03_data as drivers
from coursekit.drivers.calls import Answer
from coursekit.drivers.probe_model import MAX_NUM_SAMPLES, Array
from coursekit.errors import Cause

NUM_SAMPLES = sum(SAMPLES_PER_FILE)
BATCH_SIZE = 4
NUM_EPOCHS = 3
NUM_BATCHES = NUM_EPOCHS * NUM_SAMPLES // BATCH_SIZE  # requested from each rank in training
MOST_BATCHES = 100  # requested if the data must end
# For each way of reading: whether it is for training, and how many batches to request.
WAYS = {"validation": (False, MOST_BATCHES), "training": (True, NUM_BATCHES), "again": (True, NUM_BATCHES)}
NUM_CALLS = 24  # of load_picture for an image: all results are flipped alike once in 8 million cases
HEIGHT, WIDTH = 60, 100
SAME_CUT = 0.3  # levels: the tilts vary less if all images are cut alike, and ten times as much if not
# For pixels from -1 to 1: JPEG is off by 0.01; random windows change all channels alike, and means differ by 0.5.
SMALL, LARGEST = 0.04, 1.1
MANY = 0.5  # of the images
# Of black and white pixels, as wide stripes: a division by 128 is off by 0.008, a bicubic resize by 0.1.
EXTREME, STRIPE = 2e-3, 10


def check_load_picture(load_picture: Answer, image_size: int) -> None:
    """Images have the right size, range and label; they are cut at random for training, and otherwise in the middle."""
    rng = fresh_rng()
    wanted, darkest = int(rng.integers(1, 1001)), float(rng.uniform(10, 30))
    image = (darkest + _ramp(*np.mgrid[:HEIGHT, :WIDTH])).astype(np.uint8)
    stripes = np.where(np.arange(WIDTH)[:, np.newaxis] // STRIPE % 2, 255, 0) + np.zeros_like(image)
    written = [image, image[..., :1], stripes.astype(np.uint8)]  # the second is grey, the third black and white
    [found] = run_on_ranks(drivers.load_pictures, load_picture, written, wanted, NUM_CALLS, num_ranks=1)
    label, validation, training, (grey, sharp) = found
    require_equal(label, wanted, "the label of the record", "labels.wrong")
    images = np.concatenate([validation, training])
    require_equal(images.shape[1:], (image_size, image_size, 3), "the shape of an image", "images.wrong-shape")
    what, advice = "the shape of an image from a grey JPEG", ": decode it with channels=3"
    require_equal(grey.shape, (image_size, image_size, 3), what, "images.grey", advice)
    require_equal(images.dtype.name, "float32", "the type of an image", "images.wrong-type")
    low, high = float(images.min()), float(images.max())
    message = f"the pixels range from {low:.3g} to {high:.3g}, expected from -1 to 1"
    require(-LARGEST <= low < 0 and high <= LARGEST, message, "images.wrong-range")
    what = "the type of an image if networks compute in mixed precision"
    require_equal(sharp.dtype.name, "float32", what, "images.wrong-type")
    extremes = float(sharp.min()), float(sharp.max())
    message = "black and white pixels become {:.4g} and {:.4g}, expected -1 and 1".format(*extremes)
    require(np.allclose(extremes, (-1, 1), rtol=0, atol=EXTREME), message, "images.wrong-range")
    # A random window can be in the middle by chance, so every one of many images must be right.
    middle, whole = _window(image_size, darkest), _window(image_size, darkest, width=WIDTH)
    has_colors = float(np.ptp((validation - middle).mean(axis=(0, 1, 2)))) < SMALL
    message = "the colours are wrong: expected the record's three channels, red, green and blue"
    require(has_colors, message, "images.wrong-colour")
    candidates = (middle, middle[:, ::-1], whole)
    right, mirrored, squeezed = (np.abs(validation - one).mean(axis=(1, 2, 3)) < SMALL for one in candidates)
    got = "the image for validation is not the square in the middle"
    faults = {
        Cause(f"{got}, but its mirror image: flip only images for training", "images.mirrored"): right | mirrored,
        Cause(f"{got}, but the whole image, squeezed: crop it first", "images.squeezed"): squeezed,
        Cause(got, "images.not-centred"): np.ones(1),
    }
    require(right.all(), *next(cause for cause, holds in faults.items() if holds.all()))
    # Only padding gives an edge of one colour. Hardly any window is square, so padding would affect most images. Its
    # colour need not be black, because an answer may vary the colours.
    edges = [np.ptp(edge, axis=1).max(axis=1) == 0 for edge in (training[:, 0], training[:, :, 0])]
    message = "the images for training have black edges: resize the window to the image size, without padding"
    require(np.mean(edges[0] | edges[1]) < MANY, message, "images.padded")
    spread = float(np.ptp(training.mean(axis=(1, 2, 3))))
    require(spread > SMALL, "the images for training are all cut alike: use a random window", "images.not-random")
    rises = np.diff(training.mean(axis=(1, 3)), axis=1).mean(axis=1) > 0
    message = "the images for training are never mirrored, or always: flip them at random"
    require(rises.any() and not rises.all(), message, "images.flip-not-random")


def _ramp(y: Array, x: Array) -> Array:
    """Return an image that gets brighter to the right and, less so, downwards; its channels differ."""
    grey: Array = (1.5 * x + 0.4 * y)[..., np.newaxis]
    return np.concatenate([grey + shift for shift in (0, 20, 40)], axis=-1)


def _window(image_size: int, darkest: float, width: int = HEIGHT) -> Array:
    """Return a window in the middle of the ramp, of full height and square by default; it is also a ramp."""
    y, x = ((np.arange(image_size) + 0.5) * pixels / image_size - 0.5 for pixels in (HEIGHT, width))
    return (darkest + _ramp(*np.meshgrid(y, x + (WIDTH - width) // 2, indexing="ij"))) / 127.5 - 1


def try_dataset(make_dataset: Answer, num_ranks: int = 3) -> Trial:
    """Read tiny files on real ranks, once for validation and for several epochs of training."""
    private = draw_private(num_ranks, MAX_NUM_SAMPLES + 1, files={"train": SAMPLES_PER_FILE})
    args = drivers.read_dataset, make_dataset, BATCH_SIZE, WAYS
    trial = try_on_ranks(*args, num_ranks=num_ranks, private=private)
    read = [{way: batches_in_files(one[way], given) for way in WAYS} for one, given in zip(trial.results, private)]
    return replace(trial, results=[result | batches for result, batches in zip(trial.results, read)])


def _samples(trial: Trial, way: str) -> list[Array]:
    """Return the samples of each rank, in order."""
    samples = samples_read(trial, way)
    check_colors(samples)
    return samples


def check_shards(trial: Trial) -> None:
    """Every sample belongs to one rank, both in training and in validation, and every file is read by one rank."""
    samples, training = _samples(trial, "validation"), _samples(trial, "training")
    for rank, (result, numbers) in enumerate(zip(trial.of_ranks(), samples)):
        check_end(result["validation"], MOST_BATCHES, f"for validation on rank {rank}")
        require(len(numbers) > 0, f"rank {rank} gets no sample at all", "samples.none")
    by_sample, trained_by = owners(samples, NUM_SAMPLES), owners(training, NUM_SAMPLES)
    readers = readers_of(by_sample, SAMPLES_PER_FILE)
    # A dropped last batch is reported with the order, and a file that no rank reads is reported below.
    num_rest = trial.num_ranks * (BATCH_SIZE - 1)
    what = "samples" if all(len(by) == trial.num_ranks for by in trained_by.values()) else "samples in validation"
    check_owners(by_sample, trial.num_ranks, num_rest if all(readers) else NUM_SAMPLES, what=what)
    check_file_shares(readers, SAMPLES_PER_FILE, trial.num_ranks)
    num_shared = sum(len(ranks) > 1 for ranks in trained_by.values())
    shared = f"{num_shared} of {NUM_SAMPLES} samples are used by several ranks in training"
    message = f"the shards are not disjoint over the epochs: {shared}: shard before you shuffle anything"
    require(num_shared == 0, message, "shards.changing")
    # Data that end are reported with the order: one epoch may drop its last, incomplete batch, even a whole file.
    if any(len(numbers) < NUM_BATCHES * BATCH_SIZE for numbers in training):
        check_owners(trained_by, trial.num_ranks, num_rest)
    else:
        check_used_in_batches(trained_by, SAMPLES_PER_FILE, trial.num_ranks, BATCH_SIZE)
    for rank, result in enumerate(trial.of_ranks()):
        message = f"the caller's list of files is in another order after the call on rank {rank}: change a copy"
        require(result["files"] == sorted(result["files"]), message, "files.list-changed")
    caches = Counter(path for result in trial.of_ranks() for path in set(result["caches"]))
    files = [path for path, count in caches.items() if count > 1]
    message = f"several ranks write the file {files[:1]}: give it a different name on each rank, or cache in memory"
    require(not files, message, "cache.shared")


def check_order(trial: Trial) -> None:
    """Batches have the right size and labels; every epoch has a new order of all samples, the same in every run.

    Images are cut as requested, differently in every epoch, and the stages of the pipeline come in the lab's order.
    """
    for rank, result in enumerate(trial.of_ranks()):
        for way in WAYS:
            check_colors([order_in(result[way])])
            for numbers, labels in result[way]:
                check_pairs(labels, numbers + 1, f"on rank {rank} ({way})")
        batches = {way: [numbers for numbers, _ in result[way]] for way in WAYS}
        check_endless(batches["training"], NUM_BATCHES, f"for training on rank {rank}")
        check_batches(batches["training"], BATCH_SIZE, "the number of pictures in each batch for training")
        check_last_batch(batches["validation"], BATCH_SIZE, "for validation")
        used, validated = (set(np.concatenate([*batches[way], []]).tolist()) for way in ("training", "validation"))
        num_lost = len(used - validated)
        message = f"the validation data of rank {rank} lack the last {num_lost} images: keep the smaller last batch"
        is_cut = 0 < num_lost < BATCH_SIZE  # other losses are reported with the shards
        require(not is_cut, message, "batches.last-dropped")
        order, again = (order_in(result[way]) for way in ("training", "again"))
        check_made_in_order(result["made_of"]["training"])
        message = "two runs see different orders: pass the seed to every shuffle"
        require(np.array_equal(order, again), message, "order.not-seeded")
        _check_shuffled(order)
        if used <= validated and len(validated - used) < BATCH_SIZE:  # wrong shards are reported with the shards
            _check_epochs(rank, order.astype(int), len(validated))
        check_new_batches(batches["training"], len(used), BATCH_SIZE, f"on rank {rank}")
        _check_cuts(result["tilts"], order)
        check_stages(result["made_of"], BATCH_SIZE, are_files_shuffled=result["are_files_shuffled"])


def _check_shuffled(order: Array) -> None:
    """The records are shuffled: they do not come in the order of their file, which interleaving would keep.

    Example: if a file has three records, the sequence 0, 1, 2, 0, 1, 2 is in the file's order, and so is 0, 1, 0, 1, 2,
    in which the last record was dropped once; 0, 2, 1 is not. In a single epoch, shuffled records may be in order by
    chance: for a rank with files of 3 and 5 records, once in 720 cases. They are hardly ever in order in every epoch.
    """
    is_shuffled = False
    for count, end in zip(SAMPLES_PER_FILE, np.cumsum(SAMPLES_PER_FILE)):
        records = order[(end - count <= order) & (order < end)]
        # If the records are in order, each is followed by the next record that is read, or by the first one again.
        places = np.searchsorted(np.unique(records), records)
        is_shuffled |= bool(((np.diff(places) != 1) & (places[1:] != 0)).any())
    message = f"the records of each file come in the order of the file: shuffle the records, too, {ASSIGN}"
    require(is_shuffled, message, "order.not-shuffled")
    check_new_order(order)


def _check_epochs(rank: int, order: Array, num_mine: int) -> None:
    """Each epoch holds every sample once before the next epoch begins.

    Example: for three samples, 2, 0, 1, 1, 0, 2 is right. In 2, 0, 0, 1, the epochs are mixed, or each lacks a sample.
    """
    num_full = num_mine // BATCH_SIZE * BATCH_SIZE
    if _are_passes(order, num_mine):
        return
    got = f"rank {rank} has {num_mine} images, and"
    message = f"{got} each pass leaves out {num_mine - num_full} of them: repeat first, then batch"
    require(not num_full or not _are_passes(order, num_full), message, "epochs.rest-dropped")
    message = f"{got} some come again before all have come once: the epochs are mixed; shuffle first, then repeat"
    raise CheckError(message, "epochs.mixed")


def _are_passes(order: Array, num_samples: int) -> bool:
    """Return whether no sample comes twice within any pass of `num_samples` samples."""
    whole = order[: len(order) // num_samples * num_samples].reshape(-1, num_samples)
    return bool((np.diff(np.sort(whole, axis=1), axis=1) > 0).all())


def _check_cuts(tilts: Mapping[str, Array], order: Array) -> None:
    """Images are cut at random in training, differently in every epoch, but not in validation."""
    for way, name in (("training", "training=True"), ("validation", "training=False")):
        is_random = float(np.std(tilts[way])) > SAME_CUT
        got = f"the images for {way} are {'' if is_random else 'not '}cut at random"
        message = f"{got}: pass the argument to load_picture, as in load_picture(record, {name})"
        require(is_random == (way == "training"), message, "images.other-mode")
    spreads = [float(np.std(tilts["training"][order == sample])) for sample in np.unique(order)]
    message = "every epoch has the same cuts of an image: load images after stages that keep records, such as a cache"
    require(max(spreads) > SAME_CUT, message, "images.frozen")
