"""`coursekit data make` and `coursekit data check`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner

from coursekit.cli.data import data
from coursekit.imagenet import write_file
from coursekit.imagenet.headers import read_frame

WAIT_S = 900
DIE_AT_IMAGE_250 = """
import os, signal, sys
from coursekit.imagenet import make
draw, left = make.draw, iter(range(249))
def draw_or_die(*args):
    if next(left, None) is None:
        os.kill(os.getpid(), signal.SIGKILL)
    return draw(*args)
make.draw = draw_or_die
make.make_data(sys.argv[1], "tiny")
"""


@pytest.fixture(autouse=True)
def environ_as_before(monkeypatch):
    """The command hides GPUs in its own process, which here is that of the tests."""
    monkeypatch.setattr(os, "environ", os.environ.copy())


def check(folder, *options):
    """Run the check; return its exit status, the rows of its table and its other lines."""
    result = CliRunner().invoke(data, ["check", str(folder), *options])
    lines = [line.strip() for line in result.stdout.splitlines() if line.strip(" ─")]
    rows = {line.split()[0]: re.split(r" {2,}", line)[1:] for line in lines[1:3]}
    return result.exit_code, rows, lines[3:]


def test_a_killed_making_goes_on_where_it_ended(made, tmp_path):
    """Killed in the middle of the fourth file, it leaves three whole ones, and the command makes the rest."""
    folder = tmp_path / "data"
    died = subprocess.run([sys.executable, "-c", DIE_AT_IMAGE_250, str(folder)], check=False, timeout=WAIT_S)
    assert died.returncode == -signal.SIGKILL
    names = [f"train-{number:05d}-of-00016" for number in range(3)]
    assert [path.name for path in sorted(folder.glob("*-of-?????"))] == names
    assert len(list(folder.glob("train-00003-of-00016.*.part"))) == 1
    times = {name: (folder / name).stat().st_mtime_ns for name in names}
    result = CliRunner().invoke(data, ["make", str(folder)])
    assert result.exit_code == 0, result.output
    assert result.stdout == f"1224 images are in {folder}.\n"
    assert "1224 of 1224 images, last validation-00003-of-00004" in result.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        path.name: path.read_bytes() for path in made.iterdir()
    }
    assert {name: (folder / name).stat().st_mtime_ns for name in names} == times


def test_whole_data_is_told_in_a_table(made):
    """Files, records, the range of labels, the number of classes, and nothing damaged."""
    expected = {"train": ["16", "1024", "1 to 1000", "8", "0"], "validation": ["4", "200", "1 to 1000", "8", "0"]}
    assert check(made) == (0, expected, [])
    quick = {"train": ["16", "1024", "-", "-", "0"], "validation": ["4", "200", "-", "-", "0"]}
    assert check(made, "--quick") == (0, quick, [])


def test_damage_is_told_with_file_and_place(tiny, flip):
    """Damaged data, a cut file and a lost split: each has its line, and the exit status is 1."""
    third, fifth = tiny / "train-00003-of-00016", tiny / "train-00005-of-00016"
    place = read_frame(third).offsets[7]
    flip(third, place + 100)
    num_bytes = fifth.stat().st_size
    cut = read_frame(fifth).offsets[-1]
    fifth.write_bytes(fifth.read_bytes()[:-10])
    for path in tiny.glob("validation-*"):
        path.unlink()
    status, rows, lines = check(tiny)
    assert (status, rows["train"], rows["validation"]) == (
        1,
        ["16", "1022", "1 to 1000", "8", "4"],
        ["0", "0", "-", "-", "0"],
    )
    assert lines[:4] == [
        f"{third}, byte {place}: its data is damaged",
        f"{third}: its checksum is not the manifest's",
        f"{fifth}, byte {cut}: cut, or its header is damaged",
        f"{fifth}: {num_bytes - 10} bytes, the manifest says {num_bytes}",
    ]
    assert lines[4].startswith(f"{tiny} holds no files validation-00000-of-")
    status, rows, lines = check(tiny, "--quick")
    assert (status, rows["train"]) == (1, ["16", "1023", "-", "-", "2"])
    assert [line.partition(":")[0] for line in lines[:2]] == [f"{fifth}, byte {cut}", str(fifth)]


def test_records_that_no_training_could_use_are_told(tmp_path):
    """Data without a manifest, as a centre's: something else in a record, a label out of range, no JPEG, no records."""
    import numpy as np
    import tensorflow as tf

    def example(encoded, label):
        """Return a serialised example with the two keys that are read."""
        features = {
            "image/encoded": tf.train.Feature(bytes_list=tf.train.BytesList(value=[encoded])),
            "image/class/label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
        }
        return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()

    image = np.zeros((8, 8, 3), np.uint8)
    jpeg = tf.io.encode_jpeg(image).numpy()
    path = tmp_path / "train-00000-of-00001"
    with tf.io.TFRecordWriter(str(path)) as writer:
        for record in [example(jpeg, 7), b"text", example(jpeg, 0), example(b"no picture", 8), b"", example(jpeg, 9)]:
            writer.write(record)
    write_file(tmp_path / "validation-00000-of-00002", [image, image], [3, 4])
    (tmp_path / "validation-00001-of-00002").touch()
    status, rows, lines = check(tmp_path)
    assert (status, rows) == (
        1,
        {"train": ["1", "2", "7 to 9", "2", "4"], "validation": ["2", "2", "3 to 4", "2", "1"]},
    )
    no_example = "it is not an example with one image/encoded and one image/class/label"
    whats = [no_example, "its label is 0, not 1 to 1000", "its image is not a JPEG", no_example]
    numbers = [1, 2, 3, 4]
    offsets = read_frame(path).offsets
    assert lines == [
        *(f"{path}, byte {offsets[number]}: {what}" for number, what in zip(numbers, whats)),
        f"{tmp_path / 'validation-00001-of-00002'}, byte 0: the file is empty",
    ]


def test_a_file_unlike_the_manifest_is_told(tiny):
    """A file that was exchanged for another whole one has no damage of its own."""
    first, second = (tiny / f"validation-0000{number}-of-00004" for number in range(2))
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)
    status, rows, lines = check(tiny)
    assert (status, rows["validation"]) == (1, ["4", "200", "1 to 1000", "8", "2"])
    assert [line.partition(":")[0] for line in lines] == [str(first), str(second)]
    assert all("the manifest says" in line for line in lines)


def test_help_shows_sizes():
    """A user sees how much each preset makes."""
    text = CliRunner().invoke(data, ["make", "--help"]).output
    assert "tiny    1224 images of  8 classes, at most 128 px, about 6 MB" in text
