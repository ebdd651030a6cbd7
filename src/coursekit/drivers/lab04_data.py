"""Drivers of lab 04's data: on a rank, they split files, and read them with the answer's pipeline."""

import importlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import wraps
from typing import Any
from unittest import mock

import numpy as np

from coursekit.drivers import probe_model
from coursekit.drivers.calls import Answer, elements_of, tf
from coursekit.drivers.lab04 import params
from coursekit.drivers.probe_model import Array

NUM_BATCHES = 40  # of a training pipeline; enough to see each sample several times
ENDLESS = 2**40  # number of batches; TensorFlow 2.15 counts 2**62 for an endless pipeline like this one
FOR_FIRST = ("again", "other seed")  # ways of reading for which one worker is enough


def split(split_files: Answer, files: list[str], num_held_out: int) -> tuple[Any, list[str]]:
    """Return the answer's result for a list of files, and the list as the answer left it."""
    return split_files(files, num_held_out), files


def read(input_fn: Answer, num_workers: int, ways: Mapping[str, tuple[bool, int]]) -> list[dict[str, Any]]:
    """Read this rank's files with the answer's pipeline, once for each worker and in each of the named ways.

    `ways` says, for each way, whether to read for training, and with which seed.

    Returns three values for each worker and way: the batches (sample numbers and labels), the tilts of each batch's
    images, and a dictionary. The dictionary holds the buffer sizes of shuffles, whether the pipeline ends, and the
    names of the numbers for which it asks Horovod. In the way "twin", all workers have the same records, because one
    file is listed once for each worker. Only worker 0 reads in the ways of `FOR_FIRST`.
    """
    files = probe_model.own_files()

    def read_once(name: str, worker: int, training: bool, seed: int) -> tuple[list[Any], list[Array], dict[str, Any]]:
        given = files[:1] * num_workers if name == "twin" else list(files)
        with _watched_pipeline() as calls:
            dataset = input_fn(given, training, worker, num_workers, params(seed=seed))
            seen = elements_of(input_fn, dataset, NUM_BATCHES)
        pairs = [(probe_model.sample_numbers(images), np.asarray(labels)) for images, labels in seen]
        size, counts = int(dataset.cardinality()), calls["repeat"]
        is_counted = size == tf.data.UNKNOWN_CARDINALITY and any(count not in {None, -1} for count in counts)
        how = {"buffers": calls["shuffle"], "asks": calls["hvd"], "ends": 0 <= size < ENDLESS or is_counted}
        return pairs, [probe_model.tilts(images) for images, _ in seen], how

    return [
        {name: read_once(name, worker, *way) for name, way in ways.items() if not (worker and name in FOR_FIRST)}
        for worker in range(num_workers)
    ]


@contextmanager
def _watched_pipeline() -> Iterator[dict[str, list[Any]]]:
    """Note how data sets are shuffled and repeated, and which of Horovod's numbers the answer asks for."""
    calls: dict[str, list[Any]] = {"shuffle": [], "repeat": [], "hvd": []}

    def counted(name: str, method: Any) -> Any:
        @wraps(method)
        def noted(dataset: Any, number: Any = None, *args: Any, **options: Any) -> Any:
            given = next((options[key] for key in ("buffer_size", "count") if key in options), number)
            calls[name].append(None)
            with suppress(Exception):  # None is not a number, and a graph's tensor has no value yet
                calls[name][-1] = int(given)
            return method(dataset, *(() if number is None else (number,)), *args, **options)

        return noted

    def asked(name: str, function: Any) -> Any:
        def noted() -> Any:
            calls["hvd"].append(name)
            return function()

        return noted

    horovod = importlib.import_module("horovod.tensorflow")
    with ExitStack() as stack:
        for name in ("shuffle", "repeat"):
            method = counted(name, getattr(tf.data.Dataset, name))
            stack.enter_context(mock.patch.object(tf.data.Dataset, name, method))
        for name in ("rank", "size", "local_rank", "local_size"):
            stack.enter_context(mock.patch.object(horovod, name, asked(name, getattr(horovod, name))))
        yield calls
