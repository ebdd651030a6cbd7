"""`coursekit data make` and `coursekit data check`."""

from __future__ import annotations

import gzip
import io
import os
import re
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner
from PIL import Image

from coursekit.cli.data import data
from coursekit.imagenet import write_file
from coursekit.imagenet.records import follow_headers

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
    flip(third, follow_headers(third)[0][7] + 100)
    num_bytes, num_lost = fifth.stat().st_size, len(follow_headers(third)[0]) - 7
    num_whole = len(follow_headers(fifth)[0]) - 1
    fifth.write_bytes(fifth.read_bytes()[:-10])
    for path in tiny.glob("validation-*"):
        path.unlink()
    status, rows, lines = check(tiny)
    assert (status, rows["train"], rows["validation"]) == (
        1,
        ["16", str(1023 - num_lost), "1 to 1000", "8", "3"],
        ["0", "0", "-", "-", "0"],
    )
    assert lines[:3] == [
        f"{third}: it is cut or damaged from record 7 on (the first is 0): copy it again",
        f"{fifth}: it is cut or damaged from record {num_whole} on (the first is 0): copy it again",
        f"{fifth}: {num_bytes - 10} bytes, the manifest says {num_bytes}",
    ]
    assert lines[3].startswith(f"{tiny} holds no files validation-00000-of-")
    status, rows, quick_lines = check(tiny, "--quick")
    assert (status, rows["train"]) == (1, ["16", "1023", "-", "-", "2"])
    assert quick_lines == lines[1:]


def example(encoded, label, image_key="image/encoded", label_key="image/class/label"):
    """Return a serialised example; a label may be a number or text."""
    import tensorflow as tf

    text = isinstance(label, bytes)
    labels = {"bytes_list": tf.train.BytesList(value=[label])} if text else {"int64_list": {"value": [label]}}
    features = {image_key: tf.train.Feature(bytes_list={"value": [encoded]}), label_key: tf.train.Feature(**labels)}
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def write_set(folder, examples):
    """Write two train files and one validation file, each with these records."""
    import tensorflow as tf

    for name in ("train-00000-of-00002", "train-00001-of-00002", "validation-00000-of-00001"):
        with tf.io.TFRecordWriter(str(folder / name)) as writer:
            for record in examples:
                writer.write(record)


def jpeg(mode="RGB", form="JPEG"):
    """Return a small image as a file of some form."""
    data = io.BytesIO()
    Image.new(mode, (8, 8)).save(data, form)
    return data.getvalue()


RECORDS = {
    "from 0": ([(jpeg(), 0), (jpeg(), 999)], ["begin at 0"]),
    "background": ([(jpeg(), 0), (jpeg(), 1000)], ["label is 0"]),
    "beyond": ([(jpeg(), 1001), (jpeg(), 1002)], ["1001", "1000"]),
    "PNG": ([(jpeg(form="PNG"), 1), (jpeg(form="PNG"), 2)], ["JPEG"]),
    "no image": ([(b"text", 1)], ["JPEG"]),
    "label as text": ([(jpeg(), b"n01440764")], ["image/class/label", "bytes_list"]),
    "no label": ([(jpeg(), 1, "image/encoded", "label")], ["image/class/label", "label"]),
    "other names": ([(jpeg(), 1, "jpg", "cls")], ["image/encoded", "cls, jpg"]),
}


@pytest.mark.parametrize("options", [[], ["--quick"]], ids=["whole", "quick"])
@pytest.mark.parametrize("name", RECORDS)
def test_records_of_another_form_are_one_sentence(name, options, tmp_path):
    """Whatever the number of records, files and splits, and also in a quick check; the sentence names the first."""
    content, words = RECORDS[name]
    write_set(tmp_path, [example(*one) for one in content * 3])
    status, _, lines = check(tmp_path, *options)
    assert (status, len(lines)) == (1, 1)
    assert all(word in lines[0] for word in [f"{tmp_path}/train-00000-of-00002, record ", "3 files", *words])


UNREADABLE = {
    "gzip": (gzip.compress, "compressed"),
    "text": (lambda _: b"file,label\n" * 1000, "no TFRecord file"),
    "image": (lambda _: jpeg(form="PNG"), "no TFRecord file"),
    "empty": (lambda _: b"", "empty"),
}


@pytest.mark.parametrize("options", [[], ["--quick"]], ids=["whole", "quick"])
@pytest.mark.parametrize("name", UNREADABLE)
def test_files_of_another_form_are_one_sentence(name, options, tmp_path):
    """A packed set is told as that, once, and not as damage of each file."""
    made, word = UNREADABLE[name]
    write_set(tmp_path, [example(jpeg(), 1)])
    for path in tmp_path.iterdir():
        path.write_bytes(made(path.read_bytes()))
    status, _, lines = check(tmp_path, *options)
    assert (status, len(lines)) == (1, 1)
    assert all(part in lines[0] for part in [f"{tmp_path}/train-00000-of-00002", "3 files", word])


@pytest.mark.parametrize("options", [[], ["--quick"]], ids=["whole", "quick"])
@pytest.mark.parametrize("length", [0x8B1F, 0x9C78])
def test_right_records_of_any_length_and_colour_pass(options, length, tmp_path):
    """The length of a first record may begin with the bytes of another form; CMYK and grey are read rightly."""
    padded = example(jpeg(), 1)
    padded += b"\x7a" + varint(length - len(padded) - 4) + bytes(length - len(padded) - 4)
    assert len(padded) == length
    write_set(tmp_path, [padded, example(jpeg("CMYK"), 2), example(jpeg("L"), 1000)])
    status, _, lines = check(tmp_path, *options)
    assert (status, lines) == (0, [])


def varint(number):
    """Return a length below 2**21 as a protocol buffer writes it, in three bytes."""
    return bytes([number & 0x7F | 0x80, number >> 7 & 0x7F | 0x80, number >> 14])


def test_records_that_no_training_could_use_are_told(tmp_path):
    """Data without a manifest, as a centre's: something else in a record, a label out of range, no JPEG, no records."""
    import numpy as np
    import tensorflow as tf

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
    whats = [
        "it is not an example with one image/encoded and one image/class/label",
        "its label is 0: these labels begin at 0, ImageNet's at 1: add 1 to all and write them again",
        "its image is not a JPEG",
        "it has no image/encoded, but no features at all",
    ]
    numbers = [1, 2, 3, 4]
    assert lines == [
        *(f"{path}, record {number}: {what}" for number, what in zip(numbers, whats)),
        f"{tmp_path / 'validation-00001-of-00002'}: it is empty: copy it again",
    ]


def test_help_shows_sizes():
    """A user sees how much each preset makes."""
    text = CliRunner().invoke(data, ["make", "--help"]).output
    assert "tiny    1224 images of  8 classes, at most 128 px, about 6 MB" in text
