"""Checks of lab 05's records (written, parsed and damaged) and of its pipeline that reads from a slow store.

Example of damage: a record has 12 bytes before its content and 4 after it, so 5 records with 40 bytes of content fill
280 bytes. If a bit of byte 130, in record 2, is wrong, the 3 records 2, 3 and 4 are lost, as if the file were cut
there.
Example of a pipeline: the given pipeline takes 3 s. A right pipeline is `GOAL` times as fast and takes 1.1 s at most; a
pipeline that only reads faster takes 1.6 s.
"""

from typing import Any

import numpy as np

from coursekit.checks.check import fresh_rng, require
from coursekit.checks.compare import as_list, require_equal
from coursekit.checks.on_ranks import TIMEOUT_S, call_answer
from coursekit.checks.trials import Trial, try_on_ranks
from coursekit.drivers import lab05, lab05_store
from coursekit.drivers.calls import Answer, call
from coursekit.drivers.probe_model import Array

SIDE = 28  # pixels
NUM_BYTES = 40  # of a record's content, if the content does not matter
HEAD, FOOT = 12, 4  # bytes around the content: its length and two checksums
NUM_SAMPLES, BATCH_SIZE = 42, 8  # in the store; the last batch is smaller
SHAPE = (NUM_SAMPLES, 2, 3)
# The required speed-up over the given pipeline. Parallel reading or parallel decoding by itself gives 1.9. Both give
# 7 on a quiet machine, where nearly all of the time is sleep; a busy machine may take three times as long.
GOAL = 2.7


def draw_images(num_images: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return images of 28 x 28 random levels, all different, and labels from 0 to 9."""
    return rng.integers(256, size=(num_images, SIDE, SIDE), dtype=np.uint8), rng.integers(10, size=num_images)


def check_written(write_records: Answer) -> None:
    """The file holds a record for each image, in the same order, with its label and the bytes of its pixels."""
    images, labels = draw_images(int(fresh_rng().integers(3, 9)), fresh_rng())
    labels[1] = 0  # a writer may mistake this for a missing label
    records = call_answer(lab05.written, write_records, images, labels)
    require_equal(len(records), len(images), "the number of records in the file", "records.wrong-number")
    for number, (record, image, label) in enumerate(zip(records, images, labels)):
        which = f"record {number}"
        require_equal(
            sorted(record), ["image", "label"], f"the names of the features in {which}", "features.wrong-names"
        )
        num_bytes = [len(value) if isinstance(value, bytes) else None for value in record["image"]]
        message = f"the image of {which}: expected the {image.size} bytes of its pixels"
        require(
            num_bytes == [image.size],
            f"{message}, got {num_bytes[0] or 'no bytes' if num_bytes else 'nothing'}",
            "features.wrong-bytes",
        )
        require(record["image"] == [image.tobytes()], f"{message} in order, got other bytes", "features.wrong-order")
        require_equal(record["label"], [int(label)], f"the label of {which}", "labels.wrong")
        is_whole = isinstance(record["label"][0], int)
        require(
            is_whole,
            f"the label of {which}: expected a list of whole numbers (int64_list), got floats",
            "labels.not-whole",
        )


def check_parsed(parse_batch: Answer, num_images: int = 5) -> None:
    """One call turns a batch of records into images with pixels from 0 to 1 and labels that are whole numbers."""
    images, labels = draw_images(num_images, fresh_rng())
    found, numbers = call_answer(lab05.parsed, parse_batch, images, labels)
    require_equal(np.shape(found), images.shape, "the shape of a batch of images", "images.wrong-shape")
    require(
        found.dtype == np.float32, f"the type of the images: expected float32, got {found.dtype}", "images.wrong-type"
    )
    require(
        float(np.max(found)) <= 1,
        f"pixels go up to {float(np.max(found)):.4g}, expected 1: divide by 255",
        "images.not-scaled",
    )
    for place in map(tuple, np.argwhere(~np.isclose(found, images / 255, atol=1e-3))[:1]):
        message = f"image {place[0]} in row {place[1]}, column {place[2]}"
        require_equal(float(found[place]), float(images[place] / 255), f"the pixel of {message}", "images.wrong-pixels")
    is_whole = np.issubdtype(numbers.dtype, np.integer)
    require(is_whole, f"the type of the labels: expected whole numbers, got {numbers.dtype}", "labels.not-whole")
    require_equal(np.ravel(numbers).tolist(), labels.tolist(), "the labels of a batch", "labels.wrong")
    require_equal(np.shape(numbers), labels.shape, "the shape of a batch of labels", "labels.wrong-shape")


def check_lost(count_lost: Answer) -> None:
    """In each file, all records from the first damaged one to the end count as lost; an undamaged file loses none."""
    rng, size = fresh_rng(), HEAD + NUM_BYTES + FOOT
    content, anywhere, begin, head = range(HEAD, HEAD + NUM_BYTES), range(1, size), range(1), range(HEAD)
    # The damage to each file, and which bytes of the first lost record it may hit; the last file has no records.
    kinds = ["", "flip", "cut", "", "cut", "flip", "flip", "cut", ""]
    where = [begin, content, begin, begin, anywhere, head, content, begin, begin]
    counts = [*rng.permutation([4, 5, 6, 7, 8, 9, 3, 2]).tolist(), 0]
    firsts = [int(rng.integers(1, count)) for count in counts[:6]] + [0, 0, 0]
    damages = [(kind, first * size + int(rng.choice(bytes_))) for kind, first, bytes_ in zip(kinds, firsts, where)]
    got = call_answer(
        lab05.lost, count_lost, counts, [bytes(rng.bytes(NUM_BYTES)) for _ in range(sum(counts))], damages
    )
    require_equal(
        len(as_list(got, "the return value of count_lost")),
        len(counts),
        "the number of entries that count_lost returns, one for each file",
        "lost-records.wrong-length",
    )
    words = {"flip": "with one wrong bit", "cut": "that is cut off", "": "that is undamaged"}
    for count, first, kind, number in zip(counts, firsts, kinds, got):
        which = f" in record {first} (the first is record 0)" if kind else ""
        num_lost = count - first if kind else 0
        require_equal(
            number,
            num_lost,
            f"records lost from a file of {count} {words[kind]}{which}",
            "lost-records.miscounted",
        )


def try_store(feed_fast: Answer) -> Trial:
    """Train from a slow store, which runs on a separate rank, with the given pipeline and then with the answer's."""
    images = fresh_rng().integers(1 << 30, size=SHAPE, dtype=np.int64)
    args = lab05_store.feed, feed_fast, SHAPE, BATCH_SIZE, GOAL
    return try_on_ranks(*args, num_ranks=2, timeout_s=TIMEOUT_S, private=({}, {"images": images}), wrapper=call)


def _runs(trial: Trial) -> tuple[list[dict[str, Any]], list[int]]:
    """Return the store's report on each training run, and the numbers of the images in the batches of the last run.

    The first run uses the given pipeline; the others use the answer's, and the last of them counts.
    """
    runs: list[dict[str, Any]] = trial.of_ranks()[lab05_store.STORE_RANK]
    by_content = {image.tobytes(): number for number, image in enumerate(trial.private[-1]["images"])}
    batches = [np.atleast_1d(batch) for batch in runs[-1]["batches"]]
    numbers = [by_content.get(image.tobytes(), -1) for batch in batches for image in batch.astype(np.int64)]
    require(
        -1 not in numbers,
        "the batches hold arrays that are not images of the store: is each record decoded exactly once?",
        "images.foreign",
    )
    return runs, numbers


def check_same_samples(trial: Trial) -> None:
    """Every image comes once, all batches except the last are full, and every record is read once."""
    (*_, found), numbers = _runs(trial)
    sizes = [len(np.atleast_1d(batch)) for batch in found["batches"]]
    expected = [BATCH_SIZE] * (NUM_SAMPLES // BATCH_SIZE) + [NUM_SAMPLES % BATCH_SIZE]
    require_equal(sizes, expected, "the sizes of the batches", "batches.wrong-size")
    for batch in found["batches"]:
        require_equal(np.shape(batch)[1:], SHAPE[1:], "the shape of an image in the batches", "images.wrong-shape")
    num_missing = NUM_SAMPLES - len(set(numbers))
    message = f"the batches lack {num_missing} of {NUM_SAMPLES} images"
    require(num_missing == 0, f"{message}, and others come twice: expected each once", "batches.missing-images")
    asked = sorted(found["asked"])
    require(
        asked == list(range(NUM_SAMPLES)),
        f"the pipeline reads {len(asked)} records; expected each of the {NUM_SAMPLES} once",
        "store.read-again",
    )


def check_faster(trial: Trial) -> None:
    """The pipeline takes much less time than the given one in the same run, and its batches hold images."""
    (slow, *_, fast), _ = _runs(trial)
    require(len(fast["batches"]) > 0, "the pipeline returns no batches", "batches.empty")
    slow_s, fast_s = float(slow["seconds"]), float(fast["seconds"])
    ratio = slow_s / fast_s
    message = f"the given pipeline takes {slow_s:.2f} s and yours {fast_s:.2f} s, {ratio:.1f} times as fast"
    stage, busy_s = max(fast["busy_s"].items(), key=lambda one: float(one[1]))
    require(
        ratio >= GOAL,
        f"{message}, expected {GOAL:g}; yours spends {busy_s:.2f} s of that time in the stage {stage!r}",
        "pipeline.too-slow",
    )
