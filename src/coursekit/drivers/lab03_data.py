"""Drivers of lab 03's pictures and pipelines: on a rank, they load one picture many times and read files in batches."""

import contextlib
import inspect
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from unittest import mock

import numpy as np

from coursekit.drivers import places, probe_model
from coursekit.drivers.calls import Answer, Array, elements_of, mapped_pairs, require_number, require_returned, tf
from coursekit.imagenet.records import SKIP, STOP, LabelledImage, parse_record, read_records, write_images

IMAGE_SIZE = 16  # of `load_as_asked`
NUM_TIMES = 20  # how often each file is named if only the order of the names counts
IGNORE_STATE = 1  # the state of random numbers, because a data set is only described, not copied


def load_pictures(load_picture: Answer, images: Sequence[Array], label: int, num_calls: int) -> list[Any]:
    """Write images into files; load the first many times for validation and for training, and the others once.

    Returns the label, the first image as loaded for validation and for training, and the other images, which are loaded
    for validation while networks compute in mixed precision.
    """
    paths = [places.here().own / f"train-{number:05d}-of-00002" for number in range(len(images))]
    for path, pixels in zip(paths, images):
        write_images(path, [LabelledImage(pixels, label)])
    records = read_records(str(paths[0])).repeat(num_calls)
    validation, labels = _loaded(load_picture, records, training=False)
    training, _ = _loaded(load_picture, records, training=True)
    with in_mixed_precision(load_picture):
        others = [load_picture(next(iter(read_records(str(path)))), training=False)[0] for path in paths[1:]]
    number = require_number(load_picture, labels[0], part="the label")
    return [number, validation, training, list(map(np.array, others))]


def _loaded(load_picture: Answer, records: Any, *, training: bool) -> tuple[Array, list[Any]]:
    """Return images and labels as a pipeline loads them."""
    images, labels = zip(*mapped_pairs(load_picture, records, "a pair of image and label", training=training))
    fits, same = len(set(map(np.shape, images))) == 1, "one of the same shape for each record"
    require_returned(load_picture, images[0], fits=fits, expected=same, part="the image")
    return np.stack(images), list(labels)


def load_as_asked(record: Any, training: bool) -> tuple[Any, Any]:  # as the lab calls it
    """Return a record's image and label, as `load_picture` must, but with small images."""
    encoded, label = parse_record(record)
    shape = tf.io.extract_jpeg_shape(encoded)
    if training:
        settings = {"area_range": (0.4, 1.0), "use_image_if_no_bounding_boxes": True}
        begin, size, _ = tf.image.sample_distorted_bounding_box(shape, tf.zeros((1, 0, 4)), **settings)
        window = tf.concat([begin[:2], size[:2]], axis=0)
    else:
        side = tf.minimum(shape[0], shape[1])
        window = tf.stack([(shape[0] - side) // 2, (shape[1] - side) // 2, side, side])
    image = tf.io.decode_and_crop_jpeg(encoded, window, channels=3)
    image = tf.image.resize(image, (IMAGE_SIZE, IMAGE_SIZE))
    return (tf.image.random_flip_left_right(image) if training else image) / 127.5 - 1, label


def with_names(answer: Answer, **values: Any) -> Any:
    """Within the context, let the answer find these values under these names in the notebook."""
    return mock.patch.dict(getattr(inspect.unwrap(answer), "__globals__", {}), values)


@contextlib.contextmanager
def in_mixed_precision(answer: Answer) -> Iterator[None]:
    """Within the context, networks compute in mixed precision, and the notebook's parameter says so."""
    before = tf.keras.mixed_precision.global_policy()
    tf.keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        with with_names(answer, precision="mixed_float16"):
            yield
    finally:
        tf.keras.mixed_precision.set_global_policy(before)


def read_dataset(make_dataset: Answer, batch_size: int, ways: Mapping[str, Any]) -> dict[str, Any]:
    """Read this rank's files with the answer's pipeline; return each way's batches of samples and labels.

    A way says whether to read for training, and how many batches to read at most. Images are loaded as the lab
    requires, whatever the answer's own function does, because that is another exercise.
    "tilts" has, for each way, the tilts of all images: images that are cut alike have the same tilt. "made_of" has the
    `stages` of each way's pipeline and, as "asked", the stages of a pipeline with deterministic=False that skips
    damaged records. "caches" has the file names of caches, and "are_files_shuffled" says whether files are shuffled for
    training. All calls get the same list of files; "files" has, as numbers, what the list holds afterwards.
    """
    files, cache = probe_model.own_files(), tf.data.Dataset.cache
    given = list(files)
    seen: dict[str, Any] = {"tilts": {}, "made_of": {}, "caches": []}

    def named_cache(dataset: Any, filename: Any = "", name: Any = None) -> Any:
        path = filename.numpy().decode() if tf.is_tensor(filename) else str(filename)
        seen["caches"] += [path] if path else []
        return cache(dataset, filename, name)

    with with_names(make_dataset, load_picture=load_as_asked, damaged=STOP):
        for way, (training, limit) in ways.items():
            with mock.patch.object(tf.data.Dataset, "cache", named_cache):
                dataset = make_dataset(given, batch_size, training=training)
            found = elements_of(make_dataset, dataset, limit)
            seen[way] = [(probe_model.sample_numbers(images), np.asarray(labels)) for images, labels in found]
            seen["tilts"][way] = np.concatenate([probe_model.tilts(images) for images, _ in found] or [np.zeros(0)])
            seen["made_of"][way] = stages(dataset)
        with with_names(make_dataset, damaged=SKIP):
            seen["made_of"]["asked"] = stages(make_dataset(given, batch_size, training=True, deterministic=False))
        seen["files"] = [files.index(one) for one in given]
        seen["are_files_shuffled"] = _are_files_shuffled(make_dataset, files, seen["made_of"]["training"])
    return seen


def _are_files_shuffled(make_dataset: Answer, files: Sequence[str], in_training: dict[str, Any]) -> bool:
    """Return whether a stage shuffles the file names, or whether their order differs from the order in validation."""
    kinds = [stage["kind"] for stage in in_training["stages"]]
    if any("Shuffle" in kind for kind in itertools.takewhile(lambda kind: "Interleave" not in kind, kinds)):
        return True
    orders = [
        _names(_graph(make_dataset(NUM_TIMES * list(files), 1, training=training)), files) for training in (True, False)
    ]
    return not orders[0] or orders[0] != orders[1]


def _graph(dataset: Any) -> Any:
    variant = tf.data.experimental.to_variant(dataset)
    content = tf.raw_ops.DatasetToGraphV2(input_dataset=variant, external_state_policy=IGNORE_STATE)
    return tf.compat.v1.GraphDef.FromString(content.numpy())


def stages(dataset: Any) -> dict[str, Any]:
    """Return the stages of a data set, starting with the files, and whether it skips errors.

    Each stage has a kind and whole numbers as settings. "is_text" is True if it yields names or records, not images
    made from them; "is_ordered" is False if it may take records as they arrive.
    """
    graph, in_all = _graph(dataset), dataset.options().deterministic
    constants = {node.name: node.attr["value"].tensor for node in graph.node if node.op == "Const"}
    found = []
    for node in graph.node:
        if "Dataset" in node.op:
            types = [*node.attr["output_types"].list.type, *node.attr["Toutput_types"].list.type]
            order = node.attr["deterministic"].s.decode()
            stage = {"kind": node.op, "is_text": tf.string.as_datatype_enum in types}
            stage["numbers"] = [_whole_number(constants[name]) for name in node.input if name in constants]
            found.append(stage | {"is_ordered": {"true": True, "false": False}.get(order, in_all is not False)})
    nodes = [*graph.node, *(node for part in graph.library.function for node in part.node_def)]
    return {"stages": found, "skips": any("IgnoreErrors" in node.op for node in nodes)}


def _whole_number(tensor: Any) -> int | None:
    is_one = tensor.dtype == tf.int64.as_datatype_enum and not tensor.tensor_shape.dim
    return int(tf.make_ndarray(tensor)) if is_one else None


def _names(graph: Any, files: Sequence[str]) -> list[str]:
    """Return which of these file names are constants in a data set's graph, in order."""
    tensors = [node.attr["value"].tensor for node in graph.node if node.op == "Const"]
    texts = [
        tf.io.parse_tensor(one.SerializeToString(), tf.string)
        for one in tensors
        if one.dtype == tf.string.as_datatype_enum
    ]
    names = [name.decode() for text in texts for name in np.ravel(text.numpy())]
    return [name for name in names if name in files]
