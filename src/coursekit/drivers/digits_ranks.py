"""What the checks of lab 05 do with a training on digits: train a spy, and write down a run for the answer to read."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.drivers import places, spy
from coursekit.drivers.keras_spy import BATCH_SIZE, NUM_CLASSES, own_batches
from coursekit.pictures.tensorboard import read_events

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coursekit.drivers.spy import Array

RATE = 0.1
NUM_EPOCHS, STEPS_PER_EPOCH = 3, 3
NUM_SAMPLES = STEPS_PER_EPOCH * BATCH_SIZE  # of each rank


def use_train(train: Callable[..., Any]) -> dict[str, Any]:
    """Train a spy on this rank's own batches; return what it saw, and what the logs in its own folder hold."""
    folder = places.here().own
    sights = spy.watch()
    history = train(lambda: spy.network(NUM_CLASSES), own_batches(STEPS_PER_EPOCH), folder, NUM_EPOCHS, RATE)
    events = read_events(folder / "logs" / "train")
    return {
        "sights": list(sights),
        "metrics": sorted(map(str, history)) if isinstance(history, dict) else type(history).__name__,
        "losses": [event.value for event in events if event.tag == "epoch_loss"],
        "num_steps": sum(event.tag == "batch_loss" for event in events),
        "num_histograms": sum(
            event.tag.endswith("/histogram") and event.tag.startswith("spy/bias") for event in events
        ),
    }


def read_run(
    answer: Callable[..., Any], losses: Sequence[Sequence[float]], num_steps: int, weights: Sequence[Array]
) -> dict[str, float]:
    """Write the logs of a training that was interrupted after its first epoch, and let the answer read them.

    Args:
        answer: gets the folder of the logs.
        losses: of the epochs, of training and of validation.
        num_steps: of an epoch.
        weights: of the layer `dense` after each epoch.
    """
    import tensorflow as tf  # noqa: PLC0415  # where answers run, TensorFlow is imported already

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
    if not isinstance(found, dict):
        raise TypeError(f"it returned a {type(found).__name__}, expected a dictionary")
    return {str(name): float(value) for name, value in found.items()}
