"""Drivers of lab 05: they pass samples through an answer, train a probe with it, and record a run.

On ranks, samples are private, so a rank cannot report samples that it has not read itself.
"""

import itertools
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coursekit.drivers import places, probe_model
from coursekit.drivers.calls import Answer, elements_of, hvd, mapped_pairs, require_entries, require_numbers, tf
from coursekit.drivers.probe_model import BATCH_SIZE, NUM_CLASSES, NUM_OTHERS, Array, own_batches
from coursekit.pictures.tensorboard import events_in

Batch = tuple[Array, Array]  # images and labels
RATE = 0.1
NUM_EPOCHS, STEPS_PER_EPOCH = 2, 3  # not the notebook's number of epochs
NUM_SAMPLES = STEPS_PER_EPOCH * BATCH_SIZE  # on each rank

MOST_BATCHES = 60  # of an epoch that should end


def write_file(path: Path, images: Array, labels: Array) -> None:
    """Write records in the lab's format: in each record, `image` holds the pixels' bytes and `label` an integer."""
    with tf.io.TFRecordWriter(str(path)) as writer:
        for image, label in zip(images, labels):
            features = {
                "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image.tobytes()])),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[int(label)])),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())


def written(write_records: Answer, images: Array, labels: Array) -> list[dict[str, list[Any]]]:
    """Let the answer write a file; return the values of each record, keyed by name."""
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


def parsed(parse_batch: Answer, images: Array, labels: Array) -> Batch:
    """Let the answer parse a batch of records in a pipeline; return its images and labels."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "digits"
        write_file(path, images, labels)
        records = tf.data.TFRecordDataset(str(path)).batch(len(images))
        ((found, numbers),) = mapped_pairs(parse_batch, records, "a pair of images and labels")
    return np.asarray(found), np.asarray(numbers)


def lost(count_lost: Answer, counts: list[int], contents: list[bytes], damages: list[tuple[str, int]]) -> list[int]:
    """Write files of records, damage them, and return how many records the answer counts as lost in each file.

    Each of `damages` is ("flip", place) or ("cut", number of bytes left); the kind is "" for an undamaged file.
    """
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / f"part-{number:02d}") for number in range(len(counts))]
        rest = iter(contents)
        for path, count, (kind, place) in zip(paths, counts, damages):
            with tf.io.TFRecordWriter(path) as writer:
                for content in itertools.islice(rest, count):
                    writer.write(content)
            whole = bytearray(Path(path).read_bytes())
            if kind == "flip":
                whole[place] ^= 1
            Path(path).write_bytes(whole[:place] if kind == "cut" else whole)
        found = require_numbers(count_lost, count_lost(paths, list(counts)), "a list with one number for each file")
        return [int(num_lost) for num_lost in found.ravel()]


def _epochs(answer: Answer, dataset: Any, num_epochs: int, num_parts: int = 1, batched: bool = True) -> list[list[Any]]:
    """Return what the answer's data set yields in this many passes (see `elements_of`)."""
    return [elements_of(answer, dataset, MOST_BATCHES, num_parts, batched=batched) for _ in range(num_epochs)]


def read_files(from_files: Answer, batch_size: int) -> list[Batch]:
    """Write this rank's private samples to files with the same names on all ranks; return the answer's batches."""
    mine, folder = places.private(), places.here().own
    files = [str(folder / f"digits-{number:05d}") for number in range(len(mine["counts"]))]
    images, labels = (np.split(mine[name], np.cumsum(mine["counts"])[:-1]) for name in ("images", "labels"))
    for file, *held in zip(files, images, labels):
        write_file(Path(file), *held)
    return elements_of(from_files, from_files(files, batch_size), MOST_BATCHES)


def draw_samples(from_generator: Answer, num_epochs: int, num_few: int) -> dict[str, Any]:
    """Let the answer make a data set from drawn samples; return the samples of each epoch, and which were drawn.

    The entry "few" has the images of a second data set, which has only the first `num_few` samples.
    """
    mine = places.private()
    drawn: list[int] = []

    def draw(number: int) -> tuple[Array, int]:
        drawn.append(int(number))
        return (mine["images"][number] / 255).astype(np.float32), int(mine["labels"][number])

    dataset = from_generator(draw, len(mine["labels"]))
    epochs = _epochs(from_generator, dataset, num_epochs, 2, batched=False)
    shapes = [list(part.shape) if part.shape.rank is not None else None for part in dataset.element_spec]
    spec = [(part.dtype.name, shape) for part, shape in zip(dataset.element_spec, shapes)]
    of_epochs = list(drawn)
    few = elements_of(from_generator, from_generator(draw, num_few), MOST_BATCHES, batched=False)
    return {"epochs": epochs, "drawn": of_epochs, "spec": spec, "few": [image for image, _ in few]}


def feed_epochs(feed: Answer, batch_size: int, num_epochs: int) -> dict[str, Any]:
    """Let the answer feed this rank; return the batches by epoch, and the samples that were loaded."""
    images = places.private()["images"]
    load, loaded = _noted(lambda number: np.asarray(images[number], np.float32), tf.float32, images.shape[1:])
    dataset = feed(tf.data.Dataset.range(len(images)), load, batch_size)
    return {"epochs": _epochs(feed, dataset, num_epochs), "loaded": loaded}


def share_batches(global_batches: Answer, cases: Sequence[Sequence[int]], num_epochs: int) -> list[list[list[Array]]]:
    """Return this rank's sample numbers for each case, by epoch and step."""
    return [_epochs(global_batches, global_batches(*case), num_epochs) for case in cases]


def _numbers(own: Any) -> Any:
    """Return a data set of these numbers that does not know its length."""
    return tf.data.Dataset.from_tensor_slices(np.asarray(own, dtype=np.int64)).filter(lambda number: number >= 0)


def _noted(look_up: Callable[[Array], Array], kind: Any, shape: Sequence[int]) -> tuple[Any, list[int]]:
    """Return a function for `map` that looks up numbers with NumPy, and the list in which it notes these numbers."""
    numbers: list[int] = []

    def note(number: Array) -> Array:
        numbers.append(int(number))
        return look_up(number)

    def noted(number: Any) -> Any:
        return tf.ensure_shape(tf.numpy_function(note, [number], kind), shape)

    return noted, numbers


def step_together(equal_steps: Answer, batch_size: int) -> list[list[Array]]:
    """Return the batches that the answer forms from this rank's private numbers in each case."""
    datasets = (equal_steps(_numbers(own), batch_size) for own in places.private())
    return [elements_of(equal_steps, dataset, MOST_BATCHES, 1) for dataset in datasets]


def cache_in_turn(cached: Answer, num_epochs: int) -> dict[str, Any]:
    """Let the ranks fill their caches one after another in their node's folder.

    Return what this rank reads, and the files in that folder.
    """
    folder = places.here().shared / f"node-{hvd.cross_rank()}"
    folder.mkdir(exist_ok=True)
    note, read = _noted(lambda number: number, tf.int64, ())
    dataset = cached(_numbers(places.private()["numbers"]).map(note), folder)
    for rank in range(hvd.size()):
        if rank == hvd.rank():
            found = _epochs(cached, dataset, num_epochs, batched=False)
            epochs = [[np.asarray(number).tolist() for number in epoch] for epoch in found]
        hvd.broadcast_object("next", root_rank=rank)
    return {"epochs": epochs, "num_read": len(read), "files": sorted(path.name for path in folder.iterdir())}


def use_train(train: Answer) -> dict[str, Any]:
    """Train a probe on this rank's own batches; return what it saw, and what the logs in the rank's folder contain."""
    folder = places.here().own
    records = probe_model.watch()
    own = own_batches(STEPS_PER_EPOCH)
    history = train(lambda: probe_model.network(NUM_CLASSES, NUM_OTHERS), own, folder, NUM_EPOCHS, RATE)
    events = events_in(folder / "logs" / "train")
    return {
        "records": records,
        "metrics": sorted(map(str, history)) if isinstance(history, dict) else type(history).__name__,
        "losses": [event.value for event in events if event.tag == "epoch_loss"],
        "num_steps": sum(event.tag == "batch_loss" for event in events),
        "num_histograms": sum(event.tag.startswith("probe/bias") for event in events),
    }


def read_run(answer: Answer, losses: list[list[float]], num_steps: int, weights: list[Array]) -> dict[str, float]:
    """Write the logs of a run that was interrupted after each epoch, and let the answer read them.

    `losses` has the training and the validation losses of all epochs; `weights` has the weights of the layer `dense`.
    """
    with tempfile.TemporaryDirectory() as folder:
        for epoch, layer in enumerate(weights):
            for split, of_epochs in zip(("train", "validation"), losses):
                writer = tf.summary.create_file_writer(str(Path(folder, split)), filename_suffix=f".{epoch}")
                with writer.as_default():
                    tf.summary.scalar("epoch_loss", of_epochs[epoch], epoch)
                    tf.summary.scalar("epoch_accuracy", 1 / (1 + of_epochs[epoch]), epoch)
                    for step in range(epoch * num_steps, (epoch + 1) * num_steps) if split == "train" else ():
                        tf.summary.scalar("batch_loss", 2 * of_epochs[epoch], step)
                        tf.summary.scalar("batch_accuracy", 0.5, step)
                    if split == "train":
                        tf.summary.histogram("dense/kernel_0/histogram", layer, epoch)
                        tf.summary.histogram("dense/bias_0/histogram", np.zeros(3), epoch)
                        tf.summary.histogram("dense_1/kernel_0/histogram", 2 * layer, epoch)
                writer.close()
        found = answer(Path(folder))
    return require_entries(answer, found)
