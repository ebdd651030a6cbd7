"""A spy that Keras trains, and batches of the samples that it sees: with which labs 03 to 05 try answers on a rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.drivers import spy
from coursekit.drivers.spy import MOMENTUM, Array

if TYPE_CHECKING:
    from collections.abc import Sequence

NUM_SAMPLES = 60
NUM_CLASSES = NUM_SAMPLES + 1
BATCH_SIZE = 4
RATE = 0.3


def arrays(samples: Sequence[int] | Array) -> tuple[Array, Array]:
    """Return the images, pixels from -1 to 1, and the labels of these samples."""
    numbers = np.asarray(samples)
    flat = spy.colors(spy.MAX_NUM_SAMPLES)[numbers][:, np.newaxis, np.newaxis]
    images = np.broadcast_to(flat, (len(numbers), 4, 4, 3)) / 127.5 - 1
    return images.astype(np.float32), (numbers + 1).astype(np.int32)


def batches(samples: Sequence[int] | Array, batch_size: int = BATCH_SIZE) -> Any:
    """Return a data set of batches of these samples, in their order."""
    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    return tf.data.Dataset.from_tensor_slices(arrays(samples)).batch(batch_size)


def own_batches(num_steps: int) -> Any:
    """Return a data set of so many batches of this rank's samples."""
    return batches(spy.own_samples(num_steps * BATCH_SIZE))


def compiled(optimizer: Any = None) -> Any:
    """Return a spy that is compiled with this optimiser, or with one of Horovod's."""
    import horovod.tensorflow.keras as hvd  # noqa: PLC0415  # on ranks only
    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    if optimizer is None:
        optimizer = hvd.DistributedOptimizer(tf.keras.optimizers.SGD(RATE, momentum=MOMENTUM))
    network = spy.network(NUM_CLASSES)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    network.compile(optimizer, loss, metrics=["accuracy"])
    return network
