"""What the checks of lab 03 do on a rank with pictures and pipelines: load one picture often, read files in batches."""

from typing import Any
from unittest import mock

import numpy as np

from coursekit.drivers import places, probe_model
from coursekit.drivers.calls import Answer, Array, elements_of, mapped_pairs, require_number, require_returned, tf
from coursekit.imagenet.records import LabelledImage, read_records, write_images

NUM_ROUNDS = 5  # of loading a file's records by themselves: one in 16 million lets all be flipped alike


def load_pictures(load_picture: Answer, pixels: Array, label: int, num_calls: int) -> tuple[float, Array, Array]:
    """Write an image into a file, and load it from there many times for validation and as often for training."""
    path = places.here().own / "train-00000-of-00001"
    write_images(path, [LabelledImage(pixels, label)])
    records = read_records(str(path)).repeat(num_calls)
    (validation, labels), (training, _) = (_loaded(load_picture, records, training=way) for way in (False, True))
    return require_number(load_picture, labels[0], part="the label"), validation, training


def _loaded(load_picture: Answer, records: Any, *, training: bool) -> tuple[Array, list[Any]]:
    """Return images and labels as a pipeline loads them."""
    images, labels = zip(*mapped_pairs(load_picture, records, "a pair of image and label", training=training))
    fits, same = len(set(map(np.shape, images))) == 1, "one of the same shape for each record"
    require_returned(load_picture, images[0], fits=fits, expected=same, part="the image")
    return np.stack(images), list(labels)


def read_dataset(make_dataset: Answer, load_picture: Answer, batch_size: int, ways: dict[str, Any]) -> dict[str, Any]:
    """Read this rank's files with the answer's pipeline; return by way the samples and labels of the batches.

    A way says whether to read for training, and how many batches at the most.
    The entry "spread" says by way how much the tilts of images differ, in the pipeline and as `load_picture` loads
    them: images that are all cut alike have one tilt. The entry "caches" holds the names of files for caches.
    """
    files, cache = probe_model.own_files(), tf.data.Dataset.cache
    # Few images may by chance be cut alike.
    records = read_records(files[0]).repeat(NUM_ROUNDS)
    by_itself = {training: _loaded(load_picture, records, training=training)[0] for training in (False, True)}
    seen: dict[str, Any] = {"spread": {}, "caches": []}

    def named_cache(dataset: Any, filename: Any = "", name: Any = None) -> Any:
        path = filename.numpy().decode() if tf.is_tensor(filename) else str(filename)
        seen["caches"] += [path] if path else []
        return cache(dataset, filename, name)

    for way, (training, limit) in ways.items():
        with mock.patch.object(tf.data.Dataset, "cache", named_cache):
            dataset = make_dataset(list(files), batch_size, training=training)
        found = elements_of(make_dataset, dataset, limit)
        seen[way] = [(probe_model.sample_numbers(images), np.asarray(labels)) for images, labels in found]
        # By how many levels the tilts differ.
        in_pipeline = np.concatenate([probe_model.tilts(images) for images, _ in found])
        seen["spread"][way] = [float(np.std(in_pipeline)), float(np.std(probe_model.tilts(by_itself[training])))]
    return seen
