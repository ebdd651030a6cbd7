"""A network that is a spy: its training shows which samples every step used, on which ranks, and with which rate.

The network looks at no picture and has one weight that matters, a *bias* with an entry for each class;
every sample is a class of its own.
The gradient of the cross-entropy is then softmax(bias) minus how often each sample is in the batch,
over the batch size, so an update can be predicted from the samples, and compared.
Before each step the spy writes down its bias and the samples of the batch, which it knows by their colours.
It does so in `fit`, in a loop of one's own and in an Estimator alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Array = np.ndarray[Any, Any]

# A sample's number in base 6 is its colour: levels so far apart survive JPEG, flips, crops and half precision.
NUM_LEVELS = 6
LOWEST, STEP = 20, 43
MAX_NUM_SAMPLES = NUM_LEVELS**3

NUM_OTHER_WEIGHTS = 15  # that change nothing: gradients sent in groups need as many tensors as groups


@dataclass(frozen=True)
class Sight:
    """What the spy saw in one call of the network.

    Attributes:
        bias: the weight at that time, shape (num_classes,).
        samples: the numbers of the batch's samples, shape (batch size,); -1 for a picture with no sample's colour.
        training: whether the network was called in training mode.
    """

    bias: Array
    samples: Array
    training: bool


_sights: list[Sight] = []


def watch() -> list[Sight]:
    """Forget what was seen on this rank so far, and return the list that later calls fill."""
    _sights.clear()
    return _sights


def colors(num_samples: int) -> Array:
    """Return the colours of samples 0 to num_samples - 1, shape (num_samples, 3), from 0 to 255."""
    numbers = np.arange(num_samples)
    digits = np.stack([numbers // NUM_LEVELS**place % NUM_LEVELS for place in range(3)], axis=1)
    levels: Array = (LOWEST + STEP * digits).astype(np.uint8)
    return levels


def sample_numbers(pictures: Array) -> Array:
    """Return the sample numbers of pictures with pixels from -1 to 1, shape (num_pictures, height, width, 3)."""
    mean = (np.asarray(pictures, dtype=float).mean(axis=(1, 2)) + 1) * 127.5
    exact = (mean - LOWEST) / STEP
    digits = np.rint(exact).astype(int)
    is_color = (np.abs(exact - digits) < 0.25) & (digits >= 0) & (digits < NUM_LEVELS)  # noqa: PLR2004  # a quarter level
    numbers: Array = digits @ NUM_LEVELS ** np.arange(3)
    return np.where(is_color.all(axis=1), numbers, -1)


def write_samples(folder: Path, samples_per_file: Sequence[int], split: str = "train", first: int = 0) -> list[str]:
    """Write TFRecord files in ImageNet's form and return their names; sample n has its colour and the label n + 1."""
    from coursekit import imagenet  # noqa: PLC0415  # a learner of lab 02 needs no TFRecords

    num_samples = first + sum(samples_per_file)
    if num_samples > MAX_NUM_SAMPLES:
        raise ValueError(f"the spy knows {MAX_NUM_SAMPLES} colours, not {num_samples}")
    pictures = np.broadcast_to(colors(num_samples)[:, np.newaxis, np.newaxis], (num_samples, 24, 32, 3))
    files = []
    for number, count in enumerate(samples_per_file):
        path = folder / f"{split}-{number:05d}-of-{len(samples_per_file):05d}"
        here = slice(first, first + count)
        imagenet.write_file(path, pictures[here], np.arange(num_samples)[here] + 1)
        files.append(str(path))
        first += count
    return files


def network(num_classes: int) -> Any:
    """Return the spy, a Keras model that is not compiled yet: pictures in, one logit for each class out."""
    import tensorflow as tf  # noqa: PLC0415  # only ranks import it

    class Spy(tf.keras.layers.Layer):  # type: ignore[misc]  # TensorFlow has no types
        def build(self, input_shape: Any) -> None:
            del input_shape
            # Every rank starts elsewhere, as long as nobody broadcasts.
            self.bias = self.add_weight("bias", (num_classes,), initializer=tf.random_normal_initializer(stddev=0.5))
            self.others = [self.add_weight(f"other_{number}", ()) for number in range(NUM_OTHER_WEIGHTS)]

        def call(self, pictures: Any, training: Any = None) -> Any:
            training = tf.keras.backend.learning_phase() if training is None else training
            bias = tf.cast(tf.identity(self.bias), tf.float32)
            seen = [bias, tf.cast(pictures, tf.float32), tf.cast(training, tf.bool)]
            # In a graph of the first kind, an Estimator's, only what the output depends on is run.
            with tf.control_dependencies([tf.numpy_function(_write_down, seen, tf.int64)]):
                return tf.zeros((tf.shape(pictures)[0], 1)) + tf.identity(bias) + 0 * tf.add_n(self.others)

    pictures = tf.keras.Input((None, None, 3))
    return tf.keras.Model(pictures, Spy(dtype="float32")(pictures))


def _write_down(bias: Array, pictures: Array, training: Array) -> int:
    _sights.append(Sight(np.array(bias), sample_numbers(pictures), bool(training)))
    return 0


def gradient(bias: Array, samples: Array) -> Array:
    """Return the gradient of the mean cross-entropy with respect to the bias, shape (num_classes,)."""
    weights = np.exp(bias.astype(float) - bias.max())
    counts = np.bincount(samples + 1, minlength=len(bias))
    found: Array = weights / weights.sum() - counts / len(samples)
    return found


def loss(bias: Array, samples: Array) -> float:
    """Return the mean cross-entropy of a batch, computed without TensorFlow."""
    shifted = bias.astype(float) - bias.max()
    return float(np.log(np.exp(shifted).sum()) - shifted[samples + 1].mean())
