"""Reading records: whole files as TensorFlow reads them, damaged ones by choice."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pytest

from coursekit.errors import CourseKitError
from coursekit.imagenet import Skipped, forget_skipped, parse_record, read_records, skipped

# The number of a record, and a byte counted from where it begins, or from its end.
DAMAGES = {
    "length": (4, 0),
    "high byte of the length": (4, 7),
    "checksum of the length": (4, 9),
    "data": (4, 12),
    "checksum of the data": (4, -1),
    "length of the first": (0, 0),
    "data of the first": (0, 12),
    "length of the last": (6, 0),
    "data of the last": (6, 12),
}


def begins(records):
    """Return where each record begins, and where the last one ends."""
    return list(accumulate((len(record) + 16 for record in records), initial=0))


def read(path, damaged="stop"):
    """Return the records of a file, read inside of `interleave` as a pipeline does."""
    import tensorflow as tf

    files = tf.data.Dataset.from_tensor_slices([str(path)])
    return list(files.interleave(lambda file: read_records(file, damaged)).as_numpy_iterator())


def test_a_whole_file_is_read_as_it_was_written(plain_file, records):
    """Every record is delivered once, in order, and nothing else."""
    assert read(plain_file) == records
    assert list(read_records(str(plain_file)).as_numpy_iterator()) == records
    assert read(plain_file, "skip") == records
    assert skipped() == []


@pytest.mark.parametrize(("number", "place"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_byte_costs_one_record(plain_file, records, flip, number, place):
    """Skipping leaves out the damaged record alone, and says where it was; stopping names it."""
    import tensorflow as tf

    offsets = begins(records)
    flip(plain_file, offsets[number] + place if place >= 0 else offsets[number + 1] + place)
    assert read(plain_file, "skip") == records[:number] + records[number + 1 :]
    assert skipped() == [Skipped(str(plain_file), offsets[number], 1)]
    with pytest.raises(tf.errors.UnknownError) as raised:
        read(plain_file)
    assert str(plain_file) in str(raised.value)
    assert f"record {number} (the first is 0), byte {offsets[number]}: copy it again" in str(raised.value)


def test_several_damages_are_counted_one_by_one(plain_file, records, flip):
    """Two neighbours and the last record: each is skipped and listed, the others arrive, in every epoch again."""
    offsets = begins(records)
    for number in (1, 2, 6):
        flip(plain_file, offsets[number] + 13)
    expected = [Skipped(str(plain_file), offsets[number], 1) for number in (1, 2, 6)]
    assert read(plain_file, "skip") == [records[number] for number in (0, 3, 4, 5)]
    assert skipped() == expected
    read(plain_file, "skip")
    assert skipped() == expected * 2
    forget_skipped()
    assert skipped() == []


@pytest.mark.parametrize("num_left", [5, 12, 14, 400])
def test_a_cut_costs_the_rest(plain_file, records, num_left):
    """A file cut in a header, behind it or in the data delivers what is whole."""
    import tensorflow as tf

    offsets = begins(records)
    plain_file.write_bytes(plain_file.read_bytes()[: offsets[4] + num_left])
    assert read(plain_file, "skip") == records[:4]
    assert skipped() == [Skipped(str(plain_file), offsets[4], 1)]
    with pytest.raises(tf.errors.UnknownError, match=f"is cut .* at record 4 .* byte {offsets[4]}:"):
        read(plain_file)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(b"", "is empty"), (b"file,label\n" * 1000, "holds no whole record")],
    ids=["empty", "text"],
)
def test_a_file_without_any_record_is_damaged(tmp_path, content, sentence):
    """An empty file and one of text stop the reading, or are listed as skipped."""
    import tensorflow as tf

    path = tmp_path / "train-00000-of-00001"
    path.write_bytes(content)
    assert read(path, "skip") == []
    assert skipped() == [Skipped(str(path), 0, 1)]
    with pytest.raises(tf.errors.UnknownError, match=f"{path} {sentence}"):
        read(path)


@pytest.mark.parametrize("damaged", ["stop", "skip"])
def test_a_missing_file_is_no_damage(tmp_path, damaged):
    """A path that leads nowhere is a mistake in the program, which no choice hides."""
    import tensorflow as tf

    with pytest.raises(tf.errors.UnknownError, match="no such data file"):
        read(tmp_path / "train-00000-of-00001", damaged)


def test_an_unknown_choice_is_refused_at_once(plain_file):
    """Misspelling `damaged` is one sentence before anything is read."""
    with pytest.raises(CourseKitError, match='damaged=\'ignore\' is neither "stop" nor "skip"'):
        read_records(str(plain_file), damaged="ignore")


def test_files_read_at_the_same_time_keep_apart(tmp_path, plain_file, records, flip):
    """In a parallel interleave over whole and damaged files, each file is judged by its own records."""
    import tensorflow as tf

    paths = [tmp_path / f"file-{number}" for number in range(8)]
    for path in paths:
        path.write_bytes(plain_file.read_bytes())
    for path in paths[::2]:
        flip(path, begins(records)[1] + 20)
    files = tf.data.Dataset.from_tensor_slices([str(path) for path in paths])
    got = list(
        files.interleave(
            lambda file: read_records(file, "skip"), cycle_length=4, num_parallel_calls=4, deterministic=False
        ).as_numpy_iterator()
    )
    assert sorted(got) == sorted(records * 4 + (records[:1] + records[2:]) * 4)
    assert sorted(one.file for one in skipped()) == [str(path) for path in paths[::2]]


def test_reading_works_in_a_graph(plain_file, records):
    """An Estimator builds its pipeline in a graph of TensorFlow 1."""
    import tensorflow as tf

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        files = tf.data.Dataset.from_tensor_slices([str(plain_file)])
        iterator = tf.compat.v1.data.make_initializable_iterator(files.interleave(read_records))
        following = iterator.get_next()
        session.run(iterator.initializer)
        got = [session.run(following) for _ in records]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(following)
    assert got == records


def test_the_files_of_a_pipeline_can_be_sharded_by_tensorflow(made):
    """`tf.distribute` shards by files when it finds them: each worker then reads its own, and no file is lost."""
    import tensorflow as tf
    from tensorflow.python.data.experimental.ops import distribute

    files = sorted(str(path) for path in made.glob("train-*"))
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.FILE
    pipeline = tf.data.Dataset.from_tensor_slices(files).interleave(read_records).with_options(options)
    shards = [list(distribute._AutoShardDataset(pipeline, 2, index).as_numpy_iterator()) for index in range(2)]  # noqa: SLF001  # what MultiWorkerMirroredStrategy calls
    for index, shard in enumerate(shards):
        assert sorted(shard) == sorted(record for file in files[index::2] for record in read(file))


def test_an_abandoned_reading_leaves_nothing(plain_file, records):
    """`take` ends a reading early; what was kept about it is gone."""
    from coursekit.imagenet import reading

    assert list(read_records(str(plain_file)).take(1).as_numpy_iterator()) == records[:1]
    assert reading._readings == {}  # noqa: SLF001  # there is no other sign of it


def test_a_record_of_another_program_is_parsed():
    """JPEG and label come out of an example with ImageNet's keys, and the label is an int32."""
    import tensorflow as tf

    def feature(value):
        if isinstance(value, int):
            return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))

    values = {"image/encoded": b"jpeg", "image/class/label": 1000, "image/object/number": 3}
    example = tf.train.Example(
        features=tf.train.Features(feature={key: feature(value) for key, value in values.items()})
    )
    encoded, label = parse_record(example.SerializeToString())
    assert (encoded.numpy(), label.numpy(), label.dtype) == (b"jpeg", np.int32(1000), tf.int32)
