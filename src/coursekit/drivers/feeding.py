"""What the checks of lab 05 do with the pieces of an input pipeline: hand them samples, and tell which come out.

On ranks, the samples are private: what a rank has not read itself it cannot tell.
"""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.drivers import places

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Array = np.ndarray[Any, Any]
Batch = tuple[Array, Array]  # images and labels

MOST_BATCHES = 60  # of an epoch, where an end is expected


def write_file(path: Path, images: Array, labels: Array) -> None:
    """Write the records that the lab asks for: `image`, the bytes of its pixels, and `label`, a whole number."""
    import tensorflow as tf  # noqa: PLC0415  # where answers run, TensorFlow is imported already

    with tf.io.TFRecordWriter(str(path)) as writer:
        for image, label in zip(images, labels):
            features = {
                "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image.tobytes()])),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[int(label)])),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())


def written(write_records: Callable[..., Any], images: Array, labels: Array) -> list[dict[str, list[Any]]]:
    """Let the answer write a file; return by record and name the values in it."""
    import tensorflow as tf  # noqa: PLC0415  # as above

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "digits"
        write_records(path, images, labels)
        records = list(tf.data.TFRecordDataset(str(path)).as_numpy_iterator()) if path.is_file() else []
    found = []
    for record in records:
        features = tf.train.Example.FromString(record).features.feature
        kinds = {name: feature.WhichOneof("kind") for name, feature in features.items()}
        found.append({name: list(getattr(features[name], kind).value) for name, kind in kinds.items() if kind})
    return found


def parsed(parse_batch: Callable[..., Any], images: Array, labels: Array) -> Batch:
    """Let the answer parse a batch of records in a pipeline; return its images and labels."""
    import tensorflow as tf  # noqa: PLC0415  # as above

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "digits"
        write_file(path, images, labels)
        batches = tf.data.TFRecordDataset(str(path)).batch(len(images)).map(parse_batch)
        ((found, numbers),) = list(batches.as_numpy_iterator())
    return np.asarray(found), np.asarray(numbers)


def lost(
    count_lost: Callable[..., Any], counts: Sequence[int], contents: Sequence[bytes], damages: Sequence[Sequence[Any]]
) -> list[int]:
    """Write files of records, do damage to each, and return how many records the answer misses in each file.

    A damage is ["flip", place], ["cut", number of bytes that are left], or [].
    """
    import tensorflow as tf  # noqa: PLC0415  # as above

    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / f"part-{number:02d}") for number in range(len(counts))]
        rest = iter(contents)
        for path, count, damage in zip(paths, counts, damages):
            with tf.io.TFRecordWriter(path) as writer:
                for content in itertools.islice(rest, count):
                    writer.write(content)
            whole = bytearray(Path(path).read_bytes())
            if damage and damage[0] == "flip":
                whole[damage[1]] ^= 1
            Path(path).write_bytes(whole[: damage[1]] if damage and damage[0] == "cut" else whole)
        return [int(number) for number in count_lost(paths, list(counts))]


def _epochs(dataset: Any, num_epochs: int) -> list[list[Any]]:
    """Return what a data set gives when it is gone through so many times."""
    if dataset is None:
        raise TypeError("it returned nothing (None): is there a return in its last line?")
    return [list(itertools.islice(dataset.as_numpy_iterator(), MOST_BATCHES)) for _ in range(num_epochs)]


def read_files(from_files: Callable[..., Any], batch_size: int) -> list[Batch]:
    """Write this rank's own samples into files whose names are alike on all ranks; return the answer's batches."""
    mine = places.private()
    folder = places.here().own
    ends = np.cumsum((0, *mine["counts"]))
    files = []
    for number, (first, end) in enumerate(zip(ends, ends[1:])):
        files.append(str(folder / f"digits-{number:05d}"))
        write_file(Path(files[-1]), mine["images"][first:end], mine["labels"][first:end])
    (batches,) = _epochs(from_files(files, batch_size), 1)
    return [(np.asarray(images), np.asarray(labels)) for images, labels in batches]


def draw_samples(from_generator: Callable[..., Any], num_epochs: int) -> dict[str, Any]:
    """Let the answer make a data set of samples that a function draws; return them by epoch, and which were drawn."""
    mine = places.private()
    drawn: list[int] = []

    def draw(number: int) -> tuple[Array, int]:
        drawn.append(int(number))
        return (mine["images"][number] / 255).astype(np.float32), int(mine["labels"][number])

    dataset = from_generator(draw, len(mine["labels"]))
    spec = [
        (part.dtype.name, list(part.shape) if part.shape.rank is not None else None) for part in dataset.element_spec
    ]
    epochs = [[(np.asarray(image), int(label)) for image, label in epoch] for epoch in _epochs(dataset, num_epochs)]
    return {"epochs": epochs, "drawn": drawn, "spec": spec}


def feed_epochs(feed: Callable[..., Any], batch_size: int, num_epochs: int) -> dict[str, Any]:
    """Let the answer feed this rank; return by epoch the batches, and the samples that were loaded."""
    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    images = places.private()["images"]
    loaded: list[int] = []

    def load_one(number: Array) -> Array:
        loaded.append(int(number))
        return np.asarray(images[number], dtype=np.float32)

    def load(number: Any) -> Any:
        return tf.ensure_shape(tf.numpy_function(load_one, [number], tf.float32), images.shape[1:])

    dataset = feed(tf.data.Dataset.range(len(images)), load, batch_size)
    return {
        "epochs": [[np.asarray(batch) for batch in epoch] for epoch in _epochs(dataset, num_epochs)],
        "loaded": loaded,
    }


def share_batches(
    global_batches: Callable[..., Any], cases: Sequence[Sequence[int]], num_epochs: int
) -> list[list[list[list[int]]]]:
    """Return for each case this rank's sample numbers, by epoch and step."""
    return [
        [[np.ravel(batch).tolist() for batch in epoch] for epoch in _epochs(global_batches(*case), num_epochs)]
        for case in cases
    ]


def _noted_numbers(own: Any, read: list[int]) -> Any:
    """Return a data set of numbers that does not say how many they are, and notes each that is read."""
    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    def note(number: Array) -> Array:
        read.append(int(number))
        return number

    def noted(number: Any) -> Any:
        return tf.ensure_shape(tf.numpy_function(note, [number], tf.int64), [])

    numbers = tf.data.Dataset.from_tensor_slices(np.asarray(own, dtype=np.int64))
    return numbers.filter(lambda number: number >= 0).map(noted)


def step_together(equal_steps: Callable[..., Any], batch_size: int) -> list[list[list[int]]]:
    """Return for each case the batches that the answer makes of this rank's own numbers."""
    found = []
    for own in places.private():
        (batches,) = _epochs(equal_steps(_noted_numbers(own, []), batch_size), 1)
        found.append([np.ravel(batch).tolist() for batch in batches])
    return found


def cache_in_turn(cached: Callable[..., Any], num_epochs: int) -> dict[str, Any]:
    """Let the ranks fill their caches one after the other, in a folder of their node; return what each reads."""
    import horovod.tensorflow as hvd  # noqa: PLC0415  # on ranks only

    folder = places.here().shared / f"node-{hvd.cross_rank()}"
    folder.mkdir(exist_ok=True)
    read: list[int] = []
    dataset = cached(_noted_numbers(places.private(), read), folder)
    epochs: list[list[int]] = []
    for rank in range(hvd.size()):
        if rank == hvd.rank():
            epochs = [[int(number) for number in epoch] for epoch in _epochs(dataset, num_epochs)]
        hvd.broadcast_object("next", root_rank=rank)
    return {"epochs": epochs, "num_read": len(read), "files": sorted(path.name for path in folder.iterdir())}
