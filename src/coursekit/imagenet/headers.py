"""The frame of a TFRecord file, read without TensorFlow: where each record begins, and which headers are damaged.

A record is its length (8 bytes, little-endian), the masked CRC-32C of those 8 bytes (4), the data, the data's CRC (4).
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]

HEADER_BYTES = 12
FRAME_BYTES = HEADER_BYTES + 4
SEARCH_BYTES = 1 << 20


class FileFrame(NamedTuple):
    """Where the records of one file begin.

    Attributes:
        offsets: where each record begins, in bytes, ascending; a damaged stretch counts as one record.
        broken: those offsets at which no whole record with an intact header stands.
        num_bytes: the size of the file.
    """

    offsets: tuple[int, ...]
    broken: frozenset[int]
    num_bytes: int


def read_frame(file: str | os.PathLike[str]) -> FileFrame:
    """Return where the records of a file begin, from their headers; the data is not read.

    After a damaged header, the next intact one is searched for byte by byte, so that one damage costs one stretch.
    An empty file is one damaged stretch: in a set of data files each holds records.

    Raises:
        OSError: when the file cannot be read.
    """
    status = Path(file).stat()
    return _read_frame(os.fspath(file), status.st_size, status.st_mtime_ns)


# The epochs of a training ask again for the same files.
@lru_cache(maxsize=4096)
def _read_frame(file: str, num_bytes: int, mtime_ns: int) -> FileFrame:
    del mtime_ns
    offsets: list[int] = []
    broken = [] if num_bytes else [0]
    descriptor = os.open(file, os.O_RDONLY)
    try:
        begin = 0
        while begin < num_bytes:
            run, begin = _run_of_records(descriptor, begin, num_bytes)
            offsets += run
            if begin < num_bytes:
                broken.append(begin)
                offsets.append(begin)
                begin = _next_intact_header(descriptor, begin + 1, num_bytes)
    finally:
        os.close(descriptor)
    return FileFrame(tuple(offsets or broken), frozenset(broken), num_bytes)


def _run_of_records(descriptor: int, begin: int, num_bytes: int) -> tuple[list[int], int]:
    """Follow the headers from `begin`; return where intact records begin, and where the run of them ends."""
    offsets, headers = [begin], []
    while offsets[-1] + FRAME_BYTES <= num_bytes:
        headers.append(os.pread(descriptor, HEADER_BYTES, offsets[-1]))
        offsets.append(offsets[-1] + FRAME_BYTES + int.from_bytes(headers[-1][:8], "little"))
    # All checksums in one go: one by one they would take longer than reading the headers.
    windows = np.frombuffer(b"".join(headers), np.uint8).reshape(-1, HEADER_BYTES)
    intact = _has_right_checksum(windows) & (np.array(offsets[1:], float) <= num_bytes)
    num_intact = len(headers) if intact.all() else int(intact.argmin())
    return offsets[:num_intact], offsets[num_intact]


def _next_intact_header(descriptor: int, begin: int, num_bytes: int) -> int:
    """Return where the next whole record with an intact header begins, or the end of the file."""
    for start in range(begin, num_bytes - FRAME_BYTES + 1, SEARCH_BYTES):
        content = np.frombuffer(os.pread(descriptor, SEARCH_BYTES + HEADER_BYTES - 1, start), np.uint8)
        if len(content) < HEADER_BYTES:
            break
        windows = np.lib.stride_tricks.sliding_window_view(content, HEADER_BYTES)
        for place in np.flatnonzero(_has_right_checksum(windows)):
            length = int.from_bytes(windows[place, :8].tobytes(), "little")
            if start + int(place) + FRAME_BYTES + length <= num_bytes:
                return start + int(place)
    return num_bytes


def _has_right_checksum(windows: Array) -> Array:
    """Say for each header, shape (num_headers, 12), whether its last 4 bytes are the masked CRC-32C of the first 8."""
    crc = np.zeros(len(windows), np.uint32)
    for place, table in enumerate(_tables()):
        byte = windows[:, place]
        crc ^= table[byte ^ np.uint8(0xFF) if place < 4 else byte]  # noqa: PLR2004  # the register begins as 4 bytes of ones
    crc = ~crc
    masked = ((crc >> np.uint32(15)) | (crc << np.uint32(17))) + np.uint32(0xA282EAD8)
    stored = np.zeros(len(windows), np.uint32)
    for place in range(4):
        stored |= windows[:, 8 + place].astype(np.uint32) << np.uint32(8 * place)
    right: Array = masked == stored
    return right


@lru_cache(maxsize=1)
def _tables() -> tuple[Array, ...]:
    """Return what each of 8 bytes adds to their CRC-32C: eight tables of 256, the first byte's first."""
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        # The polynomial of Castagnoli, lowest bit first.
        table = np.where(table & 1, (table >> 1) ^ np.uint32(0x82F63B78), table >> 1)
    tables = [table]
    while len(tables) < 8:  # noqa: PLR2004  # bytes of a length
        tables.append(table[tables[-1] & 0xFF] ^ (tables[-1] >> np.uint32(8)))
    return tuple(reversed(tables))
