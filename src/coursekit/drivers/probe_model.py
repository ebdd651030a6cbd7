"""The probe model: a network whose training shows which samples every step used, on which ranks, and with which rate.

The outputs of the network do not depend on the images. Only one of its weights matters, a *bias* with an entry for each
class, and every sample has a different class.
So the checks can predict each update of the bias from the samples, and compare it with the recorded one; see
`coursekit.checks.steps`, which has an example in numbers.
Before each step, the probe records its bias and the samples of the batch, which it recognises by their colours.
It does so in `fit`, in a custom loop and in an Estimator.

Students' code runs in the same process and could forge these records.
So each rank has a *private input* (`coursekit.drivers.places`): the initial weights of its networks, its samples, and
the contents of its files. A rank that has not received the others' inputs cannot record what follows from all of them.
"""

import itertools
import multiprocessing
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from coursekit.drivers import places
from coursekit.drivers.calls import hvd_keras, tf
from coursekit.imagenet.records import LabelledImage, serialize, write_images

Array = np.ndarray[Any, Any]

# A sample's number in base 6 is its colour: levels so far apart survive JPEG, flips, crops and half precision.
NUM_LEVELS = 6
LOWEST, STEP = 20, 43
RECORD_BYTES = 2048  # of every image: an answer that shards files by size must find the same sizes on all ranks
JPEG_QUALITY = 95
TILT = 8  # levels by which the edges of a written image are darker on the left, brighter on the right
MAX_NUM_SAMPLES = NUM_LEVELS**3

MOMENTUM = 0.9  # of every training run that a lab asks for
# Settings of the plain training with Keras, in which an answer supplies one piece.
NUM_SAMPLES = 60
NUM_CLASSES = NUM_SAMPLES + 1
BATCH_SIZE = 4
RATE = 0.3
# Other weights, which change nothing. Horovod fails if more groups are requested than there are gradients. So if an
# answer may request groups, there are this many other weights, enough for the 8 groups that a lab names.
NUM_OTHERS = 7


@dataclass(frozen=True)
class Record:
    """What the probe saw in one call of the network."""

    bias: Array  # the weight at that time, shape (num_classes,)
    samples: Array  # the numbers of the batch's samples, shape (batch size,); -1 for an image with no sample's colour
    training: bool  # whether the network was called in training mode


_rounds: list[list[Record]] = [[]]  # the first is for calls before any round begins


def watch() -> list[Record]:
    """Begin a round, and return the list that the networks' calls on this rank fill from now on.

    Networks that are made in a round start at this rank's weights for that round.
    """
    _rounds.append([])
    return _rounds[-1]


def private_input() -> dict[str, Any]:
    """Return what only this rank and the judge know; each entry exists only if a check needs it.

    "starts" has the initial weights for each round, shape (num_rounds, num_classes); "samples" has the numbers of this
    rank's samples, in the order of their use; "files" has, for each split, how many samples each file contains
    ("counts"), and the "numbers" and "labels" of all these samples, one after the other.
    """
    found = places.private()
    return found if isinstance(found, dict) else {}


def own_samples(num_samples: int) -> Array:
    """Return the first `num_samples` of the samples that only this rank has."""
    return np.asarray(np.asarray(private_input()["samples"])[:num_samples])


def own_files(split: str = "train") -> list[str]:
    """Write this rank's private samples into TFRecord files in ImageNet format, and make their folder the current one.

    The names are the same on all ranks, so that ranks may send them to each other, but the contents differ.
    """
    folder = places.here().own / "files"
    folder.mkdir(exist_ok=True)
    os.chdir(folder)
    content = private_input()["files"][split]
    tilt = np.rint(np.linspace(-TILT, TILT, 32))[:, np.newaxis]
    tilted = colors(content["numbers"])[:, np.newaxis, np.newaxis] + tilt
    images = np.broadcast_to(tilted, (len(tilted), 24, 32, 3)).astype(np.uint8)
    samples = map(_of_equal_size, images, map(int, content["labels"]))
    num_files = len(content["counts"])
    files = [f"{split}-{number:05d}-of-{num_files:05d}" for number in range(num_files)]
    for file, count in zip(files, content["counts"]):
        write_images(Path(file), itertools.islice(samples, count), JPEG_QUALITY)
    return files


def own_files_by_child() -> list[str]:
    """Do what `own_files` does, but in a child process, so that TensorFlow computes nothing in this process."""
    child = multiprocessing.get_context("fork").Process(target=own_files)
    child.start()
    child.join()
    if child.exitcode:
        raise RuntimeError(f"the files could not be written (status {child.exitcode})")
    os.chdir(places.here().own / "files")
    return sorted(path.name for path in Path().glob("train-*"))


def colors(numbers: Sequence[int] | Array) -> Array:
    """Return the colours of samples, shape (num_samples, 3), from 0 to 255."""
    digits = np.asarray(numbers)[:, np.newaxis] // NUM_LEVELS ** np.arange(3) % NUM_LEVELS
    return np.asarray((LOWEST + STEP * digits).astype(np.uint8))


def sample_numbers(images: Array) -> Array:
    """Return the sample numbers of images with pixels from -1 to 1, shape (num_images, height, width, 3)."""
    exact = ((np.asarray(images, dtype=float).mean(axis=(1, 2)) + 1) * 127.5 - LOWEST) / STEP
    digits = np.rint(exact).astype(int)
    is_color = (np.abs(exact - digits) < 0.25) & (digits >= 0) & (digits < NUM_LEVELS)  # noqa: PLR2004  # a quarter level
    numbers: Array = digits @ NUM_LEVELS ** np.arange(3)
    return np.where(is_color.all(axis=1), numbers, -1)


def tilts(images: Array) -> Array:
    """Return by how many levels the right half of each image is brighter than the left, shape (num_images,).

    This number is the same for all written images that are cut alike, and has the opposite sign if an image is
    mirrored.
    """
    left, right = np.array_split(np.asarray(images, dtype=float).mean(axis=(1, 3)), 2, axis=1)
    return np.asarray(127.5 * (right.mean(axis=1) - left.mean(axis=1)))


def _of_equal_size(pixels: Array, label: int) -> LabelledImage:
    """Return an image whose record has `RECORD_BYTES`, whatever its colour and label."""
    image = LabelledImage(pixels, label, f"n{label:08d}", 200 * " ", "image.JPEG")
    num_missing = RECORD_BYTES - len(serialize(image, JPEG_QUALITY))
    return image._replace(text=image.text + num_missing * " ")


def network(num_classes: int, num_others: int = 0, *, has_statistics: bool = False) -> Any:
    """Return the probe, a Keras model that is not compiled yet; it turns each image into one logit for each class.

    It has `num_others` other weights, each of which makes the training graph larger. With `has_statistics`, it has one
    more weight, which starts like the bias but is not trained.
    """
    starts = np.asarray(private_input()["starts"])
    # Every rank starts with different weights, as long as nothing is broadcast.
    first_weights = tf.constant_initializer(starts[min(max(len(_rounds) - 2, 0), len(starts) - 1)])

    class Probe(tf.keras.layers.Layer):  # type: ignore[misc]  # TensorFlow has no types
        def build(self, input_shape: Any) -> None:
            del input_shape
            self.bias = self.add_weight("bias", (num_classes,), initializer=first_weights)
            if has_statistics:
                self.add_weight("statistics", (num_classes,), initializer=first_weights, trainable=False)
            self.others = [self.add_weight(f"other_{number}", ()) for number in range(num_others)]

        @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]  # the same
        def call(self, images: Any, training: Any = None) -> Any:
            training = tf.keras.backend.learning_phase() if training is None else training
            bias = tf.cast(tf.identity(self.bias), tf.float32)
            seen = [bias, tf.cast(images, tf.float32), tf.cast(training, tf.bool)]
            # In an Estimator's graph, only operations on which the output depends are run.
            with tf.control_dependencies([tf.numpy_function(_write_down, seen, tf.int64)]):
                return tf.zeros((tf.shape(images)[0], 1)) + tf.identity(bias) + sum(0 * one for one in self.others)

    images = tf.keras.Input((None, None, 3))
    return tf.keras.Model(images, Probe(dtype="float32")(images))


def _write_down(bias: Array, images: Array, training: Array) -> int:
    _rounds[-1].append(Record(np.array(bias), sample_numbers(images), bool(training)))
    return 0


def arrays(samples: Sequence[int] | Array) -> tuple[Array, Array]:
    """Return the images, pixels from -1 to 1, and the labels of these samples."""
    images = np.broadcast_to(colors(samples)[:, np.newaxis, np.newaxis] / 127.5 - 1, (len(samples), 4, 4, 3))
    return images.astype(np.float32), np.add(samples, 1).astype(np.int32)


def batches(samples: Sequence[int] | Array, batch_size: int = BATCH_SIZE) -> Any:
    """Return a data set of batches of these samples, in their order."""
    return tf.data.Dataset.from_tensor_slices(arrays(samples)).batch(batch_size)


def own_batches(num_steps: int) -> Any:
    """Return a data set of this many batches of this rank's samples."""
    return batches(own_samples(num_steps * BATCH_SIZE))


def compiled(optimizer: Any = None, num_others: int = 0, *, has_statistics: bool = False) -> Any:
    """Return a probe that is compiled with this optimiser, by default with SGD in Horovod's wrapper."""
    if optimizer is None:
        optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(RATE, momentum=MOMENTUM))
    probe = network(NUM_CLASSES, num_others, has_statistics=has_statistics)
    probe.compile(optimizer, tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    return probe
