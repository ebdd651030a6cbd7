"""What the checks of lab 03 do on a rank with pictures and pipelines: load one picture often, read files in batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from unittest import mock

import numpy as np

from coursekit.drivers import places, spy
from coursekit.drivers.calls import require_values
from coursekit.drivers.spy import Array

MOST_ROUNDS = 5  # of loading a file's records by themselves: one in 16 million lets all be flipped alike


def load_pictures(
    load_picture: Callable[..., Any], pixels: Array, label: int, num_calls: int
) -> tuple[int, Array, Array]:
    """Write an image into a file, and load it from there many times for validation and as often for training."""
    from coursekit import imagenet  # imports what only ranks need

    path = places.here().own / "train-00000-of-00001"
    imagenet.write_file(path, pixels[np.newaxis], np.array([label]))
    record = next(iter(imagenet.read_records(str(path))))
    pair = load_picture(record, training=False)
    require_values(load_picture, pair, "a pair of image and label", 2)
    _, found = pair
    validation, training = (
        np.stack([np.asarray(load_picture(record, training=way)[0]) for _ in range(num_calls)]) for way in (False, True)
    )
    return int(found), validation, training


def read_dataset(
    make_dataset: Callable[..., Any],
    load_picture: Callable[..., Any],
    batch_size: int,
    ways: Mapping[str, Sequence[Any]],
) -> dict[str, Any]:
    """Read this rank's files with the answer's pipeline; return by way the samples and labels of the batches.

    A way says whether to read for training, and how many batches at the most.
    The entry "spread" says by way how much the tilts of images differ, in the pipeline and as `load_picture` loads
    them: images that are all cut alike have one tilt. The entry "caches" holds the names of files for caches.
    """
    import tensorflow as tf  # on ranks only

    from coursekit import imagenet  # imports what only ranks need

    files, cache = spy.own_files(), tf.data.Dataset.cache
    records = list(imagenet.read_records(files[0]))
    seen: dict[str, Any] = {"spread": {}, "caches": []}

    def named_cache(dataset: Any, filename: Any = "", name: Any = None) -> Any:
        path = filename.numpy().decode() if tf.is_tensor(filename) else str(filename)
        seen["caches"] += [path] if path else []
        return cache(dataset, filename, name)

    for way, (training, limit) in ways.items():
        with mock.patch.object(tf.data.Dataset, "cache", named_cache):
            dataset = make_dataset(list(files), batch_size, training=training)
        found = spy.batches_of(make_dataset, dataset, limit)
        seen[way] = [(spy.sample_numbers(images), np.asarray(labels)) for images, labels in found]
        in_pipeline, by_itself, loaded = _spread([images for images, _ in found]), 0.0, list[Array]()
        # Few images may by chance be cut alike: those are loaded again.
        while not loaded or (by_itself < in_pipeline / 2 and len(loaded) < MOST_ROUNDS):
            loaded.append(np.stack([np.asarray(load_picture(record, training=training)[0]) for record in records]))
            by_itself = _spread(loaded)
        seen["spread"][way] = [in_pipeline, by_itself]
    return seen


def _spread(batches: Sequence[Array]) -> float:
    """Return by how many levels the tilts of images differ."""
    return float(np.std(np.concatenate([spy.tilts(images) for images in batches])))
