"""Data files for the tests: a file of plain records, and the tiny preset."""

import fcntl
import os
import shutil

import pytest

from coursekit.imagenet import make_data

# One of no bytes, one longer than TensorFlow's buffer.
SIZES = (100, 2000, 3, 0, 500, 300_000, 700)


@pytest.fixture
def records():
    """Return the records that `plain_file` holds."""
    return [bytes([65 + number]) * size for number, size in enumerate(SIZES)]


@pytest.fixture
def plain_file(tmp_path, records):
    """Return a TFRecord file that TensorFlow itself has written."""
    import tensorflow as tf

    path = tmp_path / "train-00000-of-00001"
    with tf.io.TFRecordWriter(str(path)) as writer:
        for record in records:
            writer.write(record)
    return path


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """Return a folder with the tiny preset, for reading only; the first worker that needs it makes it for all."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    with (shared / "tiny.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "tiny").exists():
            make_data(shared / "being made", "tiny").rename(shared / "tiny")
    return shared / "tiny"


@pytest.fixture
def tiny(made, tmp_path):
    """Return a folder with the tiny preset, to be changed."""
    return shutil.copytree(made, tmp_path / "tiny")


@pytest.fixture
def flip():
    """Return a function that changes one bit of the byte at a place of a file."""

    def flip_at(path, place):
        content = bytearray(path.read_bytes())
        content[place] ^= 1
        path.write_bytes(content)

    return flip_at
