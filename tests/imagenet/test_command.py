"""`coursekit data make` and `coursekit data check`."""

import gzip
import io
import os
import re

import pytest
from click.testing import CliRunner
from PIL import Image

from coursekit.cli.data import data
from coursekit.imagenet import read_records
from coursekit.imagenet.records import count_records


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


def test_whole_data_is_told_in_a_table(made):
    """Files, good records, and the range of labels; a quick check sees the labels of some."""
    expected = {"train": ["16", "1024", "1 to 1000"], "validation": ["4", "200", "1 to 1000"]}
    assert check(made) == (0, expected, [])
    assert check(made, "--quick") == (0, expected, [])


def test_damage_is_told_with_file_and_place(tiny, flip):
    """Damaged data, a cut file and a lost split: each has its line, and the exit status is 1."""
    third, fifth = tiny / "train-00003-of-00016", tiny / "train-00005-of-00016"
    record = next(iter(read_records(str(third)))).numpy()
    num_lost, num_whole = count_records(third)[0] - 1, count_records(fifth)[0] - 1
    flip(third, 12 + len(record) + 4 + 100)  # in the second record
    fifth.write_bytes(fifth.read_bytes()[:-10])
    for path in tiny.glob("validation-*"):
        path.unlink()
    status, rows, lines = check(tiny)
    assert (status, rows) == (1, {"train": ["16", str(1023 - num_lost), "1 to 1000"], "validation": ["0", "0", "-"]})
    for line, *words in zip(
        lines, (third, fifth, tiny), (" 1 ", f" {num_whole} ", "validation-00000-of-"), ("cut", "cut", "no-files")
    ):
        assert all(str(word) in line for word in words)
    status, rows, quick_lines = check(tiny, "--quick")
    assert (status, rows["train"][:2]) == (1, ["16", "1023"])  # the data itself is not looked at
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


BAD_RECORDS = {
    "from 0": ([(jpeg(), 0), (jpeg(), 999)], ["label-range", "add 1 to all"]),
    "beyond": ([(jpeg(), 1001), (jpeg(), 1002)], ["label-range", "1001", "1000"]),
    "no image": ([(b"text", 1)], ["no-jpeg"]),
    "label as text": ([(jpeg(), b"n01440764")], ["wrong-features", "image/class/label (number)"]),
    "no label": ([(jpeg(), 1, "image/encoded", "label")], ["wrong-features", "image/class/label", "label"]),
    "other names": ([(jpeg(), 1, "jpg", "cls")], ["wrong-features", "image/encoded", "cls, jpg"]),
}
BAD_FILES = {
    "gzip": (gzip.compress, "records.none"),
    "text": (lambda _: b"file,label\n" * 1000, "records.none"),
    "empty": (lambda _: b"", "records.empty"),
}


@pytest.mark.parametrize("options", [[], ["--quick"]], ids=["whole", "quick"])
@pytest.mark.parametrize("name", [*BAD_RECORDS, *BAD_FILES])
def test_data_of_another_form_is_told_once_for_each_split(name, options, tmp_path):
    """Whatever the number of records and files, and also in a quick check; the sentence names the first."""
    content, words = BAD_RECORDS.get(name, ([(jpeg(), 1)], []))
    write_set(tmp_path, [example(*one) for one in content * 3])
    if name in BAD_FILES:
        spoilt, word = BAD_FILES[name]
        words = [word]
        for path in tmp_path.iterdir():
            path.write_bytes(spoilt(path.read_bytes()))
    status, _, lines = check(tmp_path, *options)
    assert (status, len(lines)) == (1, 2)
    assert all(word in lines[0] for word in [f"{tmp_path}/train-00000-of-00002", "2 files", *words])


def test_records_that_no_training_could_use_are_not_counted(tmp_path):
    """Something else in a record, a label out of range, no JPEG; colours of any kind are right."""
    good = [example(jpeg("CMYK"), 7), example(jpeg("L"), 9)]
    write_set(tmp_path, [good[0], b"text", example(jpeg(), 0), example(b"no picture", 8), b"", good[1]])
    status, rows, lines = check(tmp_path)
    assert (status, rows) == (1, {"train": ["2", "4", "7 to 9"], "validation": ["1", "2", "7 to 9"]})
    for line, name, end in zip(lines, ("train-00000-of-00002", "validation-00000-of-00001"), (" 2 files)", "]")):
        assert line.startswith(f"{tmp_path}/{name}, record 1: ")
        assert "[example.wrong-features]" in line
        assert line.endswith(end)
