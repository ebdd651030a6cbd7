"""Where records begin, without TensorFlow: held against TensorBoard's own reading of the format."""

from __future__ import annotations

import struct
from itertools import accumulate

import numpy as np
import pytest

from coursekit.imagenet.headers import FileFrame, read_frame


def framed(record):
    """Return a record with header and checksums, computed by TensorBoard's pure Python."""
    from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

    length = struct.pack("<Q", len(record))
    return length + struct.pack("<I", masked_crc32c(length)) + record + struct.pack("<I", masked_crc32c(record))


def begins(records):
    """Return where each record begins, and where the last one ends."""
    return list(accumulate((len(record) + 16 for record in records), initial=0))


def test_every_record_is_found_where_it_begins(plain_file, records):
    """A file that TensorFlow has written is whole, and its records begin 16 bytes and their length apart."""
    *offsets, end = begins(records)
    assert read_frame(plain_file) == FileFrame(tuple(offsets), frozenset(), end)


def test_headers_of_another_implementation_are_intact(tmp_path):
    """The checksums of a thousand lengths agree with TensorBoard's."""
    rng = np.random.default_rng(0)
    records = [bytes(length) for length in rng.integers(0, 300, 1000)]
    path = tmp_path / "records"
    path.write_bytes(b"".join(framed(record) for record in records))
    *offsets, end = begins(records)
    assert read_frame(path) == FileFrame(tuple(offsets), frozenset(), end)


@pytest.mark.parametrize("place", range(12))
@pytest.mark.parametrize("number", [0, 4, 6])
def test_a_damaged_header_costs_its_record_only(plain_file, records, flip, number, place):
    """Whichever byte of a header is damaged, the next record is found again."""
    *offsets, end = begins(records)
    flip(plain_file, offsets[number] + place)
    assert read_frame(plain_file) == FileFrame(tuple(offsets), frozenset({offsets[number]}), end)


def test_the_next_header_is_found_across_any_distance(tmp_path, monkeypatch):
    """The search goes on from stretch to stretch, also when a header lies across their border."""
    monkeypatch.setattr("coursekit.imagenet.headers.SEARCH_BYTES", 64)
    for distance in range(120, 140):
        path = tmp_path / str(distance)
        path.write_bytes(b"\x01" * distance + framed(b"found"))
        assert read_frame(path) == FileFrame((0, distance), frozenset({0}), distance + 21)


def test_a_changed_file_is_read_again(plain_file, records):
    """What is remembered of a file holds for its size and time."""
    read_frame(plain_file)
    plain_file.write_bytes(plain_file.read_bytes()[:-1])
    *offsets, end = begins(records)
    assert read_frame(plain_file) == FileFrame(tuple(offsets), frozenset({offsets[-1]}), end - 1)


def test_an_empty_file_is_one_damaged_stretch(tmp_path):
    """A file of a data set holds records, so an empty one is what an interrupted copy left."""
    path = tmp_path / "empty"
    path.touch()
    assert read_frame(path) == FileFrame((0,), frozenset({0}), 0)
