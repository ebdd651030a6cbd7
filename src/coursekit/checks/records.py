"""Checks of lab 05's records: written, parsed in batches, and those that a damage takes away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks.check import require
from coursekit.checks.on_ranks import call_here
from coursekit.checks.plain_numbers import as_list, require_equal
from coursekit.checks.random_inputs import fresh_rng
from coursekit.drivers import feeding

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coursekit.drivers.feeding import Array

SIDE = 28  # pixels
NUM_BYTES = 40  # of a record whose content does not matter
HEAD, FOOT = 12, 4  # bytes around a record: its length and two checksums


def draw_images(num_images: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return images of 28 x 28 random levels, no two alike, and labels from 0 to 9."""
    return rng.integers(256, size=(num_images, SIDE, SIDE), dtype=np.uint8), rng.integers(10, size=num_images)


def check_written(write_records: Callable[..., Any]) -> None:
    """A file holds a record for each image, in their order, with the bytes of its pixels and its label."""
    images, labels = draw_images(int(fresh_rng().integers(3, 9)), fresh_rng())
    records = call_here(feeding.written, write_records, images, labels)
    require_equal(len(records), len(images), "the number of records in the file")
    for number, (record, image, label) in enumerate(zip(records, images, labels)):
        which = f"record {number}"
        require_equal(sorted(record), ["image", "label"], f"the names of the features in {which}")
        num_bytes = [len(value) if isinstance(value, bytes) else None for value in record["image"]]
        told = f"the image of {which}: expected the {image.size} bytes of its pixels"
        require(num_bytes == [image.size], f"{told}, got {num_bytes[0] or 'no bytes' if num_bytes else 'nothing'}")
        require(record["image"] == [image.tobytes()], f"{told} in their order, got others")
        require_equal(record["label"], [int(label)], f"the label of {which}")
        is_whole = isinstance(record["label"][0], int)
        require(is_whole, f"the label of {which}: expected a list of whole numbers (int64_list), got floats")


def check_parsed(parse_batch: Callable[..., Any], num_images: int = 5) -> None:
    """A batch of records becomes images from 0 to 1 and whole labels, all in one call."""
    images, labels = draw_images(num_images, fresh_rng())
    found, numbers = call_here(feeding.parsed, parse_batch, images, labels)
    require_equal(np.shape(found), images.shape, "the shape of a batch of images")
    require(found.dtype == np.float32, f"the type of the images: expected float32, got {found.dtype}")
    require(float(np.max(found)) <= 1, f"pixels go up to {float(np.max(found)):.4g}, expected 1: divide by 255")
    wrong = np.argwhere(~np.isclose(found, images / 255, atol=1e-3))
    if len(wrong):
        place = tuple(int(one) for one in wrong[0])
        told = f"image {place[0]} in row {place[1]}, column {place[2]}"
        require_equal(float(found[place]), float(images[place] / 255), f"the pixel of {told}")
    is_whole = np.issubdtype(numbers.dtype, np.integer)
    require(is_whole, f"the type of the labels: expected whole numbers, got {numbers.dtype}")
    require_equal(np.ravel(numbers).tolist(), labels.tolist(), "the labels of a batch")
    require_equal(np.shape(numbers), labels.shape, "the shape of a batch of labels")


def check_lost(count_lost: Callable[..., Any]) -> None:
    """Of each file the records from its damage to its end are counted, and whole files have lost none."""
    rng = fresh_rng()
    counts = [int(number) for number in rng.permutation([4, 5, 6, 7, 8, 9])]
    firsts = [int(rng.integers(1, count)) for count in counts]  # the first record that is lost
    size = HEAD + NUM_BYTES + FOOT
    inside = [int(rng.integers(size)) for _ in counts]
    damages: list[Sequence[Any]] = [
        [],
        ["flip", firsts[1] * size + HEAD + inside[1] % NUM_BYTES],
        ["cut", firsts[2] * size],
        [],
        ["cut", firsts[4] * size + 1 + inside[4] % (size - 1)],
        ["flip", firsts[5] * size + inside[5] % HEAD],
    ]
    contents = [bytes(rng.bytes(NUM_BYTES)) for _ in range(sum(counts))]
    got = call_here(feeding.lost, count_lost, counts, contents, damages)
    require_equal(len(as_list(got, "what count_lost returns")), len(counts), "the number of files it tells of")
    for count, first, damage, number in zip(counts, firsts, damages, got):
        what = {"flip": "one bit is wrong", "cut": "all is cut off"}[damage[0]] if damage else "nothing is wrong"
        where = f" in record {first} (the first is 0)" if damage else ""
        require_equal(
            number, count - first if damage else 0, f"records lost from a file of {count}, where {what}{where}"
        )
