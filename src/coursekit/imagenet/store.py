"""A slow store for studying pipelines: it is equally slow on every machine, and records when each stage worked.

It sleeps where a file system would seek or a processor would decode, so overlap can be measured on a laptop with one
core as well as on a node with 64 cores.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from coursekit.intervals import covered

Array = np.ndarray[Any, Any]

NUM_THREADS = 16  # enough for a pipeline that waits more than it computes
STAGES = READ, DECODE, TRAIN = "read", "decode", "train"


class Span(NamedTuple):
    """A time in which a stage worked: the stage's name, and its begin and end in seconds since training started."""

    stage: str
    begin_s: float
    end_s: float


class SlowStore:
    """A slow store that keeps its samples in several files.

    Reading a record takes `read_s` seconds, a call of `decode` takes `decode_s` for any number of records, and a
    training step takes `train_s`.
    """

    def __init__(  # its speed
        self, images: Array, num_files: int = 8, read_s: float = 0.03, decode_s: float = 0.03, train_s: float = 0.04
    ) -> None:
        """Put images of any shape and type, with samples on the first axis, into files of equal length."""
        self.files = list(range(num_files))  # their numbers
        self.read_s, self.decode_s, self.train_s = read_s, decode_s, train_s
        self.spans: list[Span] = []  # when the stages worked, in the order in which they finished
        self.asked: list[int] = []  # the numbers of the records that were read, in the order of the requests
        self._images = images
        self._of_files = np.array_split(np.arange(len(images)), num_files)
        self._start = time.perf_counter()

    def read(self, file: Any) -> Any:
        """Return the records of one file, in order, as a `tf.data.Dataset` of scalars for `decode`."""
        import tensorflow as tf  # notebooks import this package before they need TensorFlow

        counts = tf.constant([len(numbers) for numbers in self._of_files], tf.int64)
        firsts = tf.constant([numbers[0] for numbers in self._of_files], tf.int64)
        file = tf.cast(file, tf.int64)
        numbers = tf.data.Dataset.range(firsts[file], firsts[file] + counts[file])
        # AutoGraph would translate the function for each pipeline, although nothing in it needs translation.
        return numbers.map(tf.autograph.experimental.do_not_convert(self._wait))

    def decode(self, records: Any) -> Any:
        """Return the image of a record, or the images of a batch of records in one call."""
        import tensorflow as tf  # as above

        images = tf.numpy_function(self._decode, [records], self._images.dtype)
        return tf.ensure_shape(images, records.shape + self._images.shape[1:])

    def train(self, dataset: Any) -> list[Any]:
        """Take a training step with each batch, and return the batches; all calls that wait get enough threads."""
        import tensorflow as tf  # as above

        # Waiting needs a thread but no core, and by default TensorFlow has only one thread per core.
        options = tf.data.Options()
        options.threading.private_threadpool_size = options.autotune.cpu_budget = NUM_THREADS
        self._start = time.perf_counter()
        batches = []
        for batch in dataset.with_options(options).as_numpy_iterator():
            self._step(batch)
            batches.append(batch)
        return batches

    @property
    def seconds(self) -> float:
        """Seconds from the start of training to the end of its last step."""
        return max((span.end_s for span in self.spans), default=0.0)

    def busy_s(self, stage: str) -> float:
        """Return the number of seconds for which a stage was busy; overlapping work is counted only once."""
        return covered([(span.begin_s, span.end_s) for span in self.spans if span.stage == stage])

    def _step(self, batch: Any) -> None:  # noqa: ARG002  # a store on another rank uses it
        self._sleep(TRAIN, self.train_s)

    def _wait(self, number: Any) -> Any:
        import tensorflow as tf  # as above

        return tf.ensure_shape(tf.numpy_function(self._read, [number], tf.int64), [])

    def _read(self, number: Array) -> Array:
        self.asked.append(int(number))
        self._sleep(READ, self.read_s)
        return number

    def _decode(self, numbers: Array) -> Array:
        self._sleep(DECODE, self.decode_s)
        decoded: Array = self._images[numbers]
        return decoded

    def _sleep(self, stage: str, seconds: float) -> None:
        begin_s = time.perf_counter() - self._start
        time.sleep(seconds)  # other threads can run meanwhile, because it releases Python's lock
        self.spans.append(Span(stage, begin_s, time.perf_counter() - self._start))


def feed_slowly(store: SlowStore, batch_size: int) -> Any:
    """Return batches of a store's images from the simplest pipeline, in which only one stage works at a time."""
    import tensorflow as tf  # as above

    files = tf.data.Dataset.from_tensor_slices(store.files)
    return files.flat_map(store.read).map(store.decode).batch(batch_size)
