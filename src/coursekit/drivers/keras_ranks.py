"""What the checks of lab 03 do on a rank: train a spy with Keras, with one piece of the answer and the rest right."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks.spy_trial import MOMENTUM
from coursekit.drivers import spy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Array = np.ndarray[Any, Any]

NUM_SAMPLES = 60
BATCH_SIZE = 4
RATE = 0.3
NUM_EPOCHS = 4
STEPS_PER_EPOCH = 2
NUM_STEPS_BEFORE, NUM_STEPS_AFTER = 5, 4  # a checkpoint


def arrays(samples: Sequence[int] | Array) -> tuple[Array, Array]:
    """Return the pictures, pixels from -1 to 1, and the labels of these samples."""
    numbers = np.asarray(samples)
    flat = spy.colors(spy.MAX_NUM_SAMPLES)[numbers][:, np.newaxis, np.newaxis]
    pictures = np.broadcast_to(flat, (len(numbers), 4, 4, 3)) / 127.5 - 1
    return pictures.astype(np.float32), (numbers + 1).astype(np.int32)


def batches(samples: Sequence[int] | Array, batch_size: int = BATCH_SIZE) -> Any:
    """Return a data set of batches of these samples, in their order."""
    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    return tf.data.Dataset.from_tensor_slices(arrays(samples)).batch(batch_size)


def compiled(optimizer: Any = None) -> Any:
    """Return a spy that is compiled with this optimiser, or with a right one."""
    import horovod.tensorflow.keras as hvd  # noqa: PLC0415  # on ranks only
    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    if optimizer is None:
        optimizer = hvd.DistributedOptimizer(tf.keras.optimizers.SGD(RATE, momentum=MOMENTUM))
    network = spy.network(NUM_SAMPLES + 1)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    network.compile(optimizer, loss, metrics=["accuracy"])
    return network


def own_samples(num_steps: int) -> Array:
    """Return samples that only this rank has, enough for so many steps; they are used again after a while."""
    import horovod.tensorflow as hvd  # noqa: PLC0415  # on ranks only

    mine = np.arange(hvd.rank(), NUM_SAMPLES, hvd.size())
    return np.resize(mine, num_steps * BATCH_SIZE)


def use_optimizer(make_optimizer: Callable[..., Any]) -> dict[str, list[spy.Sight]]:
    """Train with each compression; return what the spies saw."""
    import horovod.tensorflow.keras as hvd  # noqa: PLC0415  # on ranks only

    seen = {}
    for compression in ("none", "fp16"):
        sights = spy.watch()
        start = hvd.callbacks.BroadcastGlobalVariablesCallback(0)
        network = compiled(make_optimizer(RATE, compression))
        network.fit(batches(own_samples(7)), callbacks=[start], verbose=0)
        seen[compression] = list(sights)
    return seen


def use_callbacks(make_callbacks: Callable[..., Any], folders: Sequence[str]) -> dict[str, Any]:
    """Train with the answer's callbacks; return what the spies saw, the losses reported and the files written.

    The loss falls on rank 0, which sees the same samples in every epoch, and rises on the others, which always see
    new ones: whoever stops early by the loss of its own rank leaves the others alone.
    """
    import horovod.tensorflow as hvd  # noqa: PLC0415  # on ranks only
    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    folder = Path(folders[hvd.rank()])
    folder.mkdir()
    sights = spy.watch()
    num_steps = NUM_EPOCHS * STEPS_PER_EPOCH
    samples = [0] * num_steps * BATCH_SIZE if hvd.rank() == 0 else own_samples(num_steps)
    network = compiled()
    # Starts apart, but close enough for the losses to fall and rise as said whatever the random numbers.
    network.trainable_variables[0].assign(network.trainable_variables[0] / 10)
    history = network.fit(
        batches(samples),
        steps_per_epoch=STEPS_PER_EPOCH,
        epochs=NUM_EPOCHS,
        callbacks=make_callbacks(folder),
        verbose=0,
    )
    checkpoint = tf.train.latest_checkpoint(folder)
    names = [name for name, _ in tf.train.list_variables(checkpoint)] if checkpoint else []
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return {
        "sights": list(sights),
        "losses": history.history["loss"],
        "files": files,
        "has_momenta": any("optimizer" in name and "_variables" in name for name in names),
    }


def use_resume(resume: Callable[..., Any], folder: str) -> dict[str, Any]:
    """Train, save on rank 0, and let the answer continue a fresh network; also in a folder without a checkpoint."""
    import horovod.tensorflow as hvd  # noqa: PLC0415  # on ranks only
    import horovod.tensorflow.keras as hvd_keras  # noqa: PLC0415  # on ranks only

    where = Path(folder)
    from_nothing = resume(compiled(), where / "nothing-here")
    sights = spy.watch()
    network = compiled()
    start = hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0)
    own = batches(own_samples(NUM_STEPS_BEFORE))
    network.fit(own, callbacks=[start], verbose=0)
    for epoch in (6, 7):  # the newest of several is asked for
        if hvd.rank() == 0:
            network.save_weights(where / f"epoch-{epoch:03d}")
        network.fit(own, verbose=0)
    saved_after = list(sights)[: 2 * NUM_STEPS_BEFORE + 1]
    hvd.broadcast_object("all saved", root_rank=0)
    sights = spy.watch()
    again = compiled()
    num_epochs = resume(again, where)
    again.fit(batches(own_samples(NUM_STEPS_AFTER)), verbose=0)
    return {
        "from_nothing": int(from_nothing),
        "num_epochs": int(num_epochs),
        "before": saved_after,
        "after": list(sights),
        "num_steps": int(again.optimizer.iterations),
    }


def use_evaluate(evaluate: Callable[..., Any], samples: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Evaluate a spy with known weights on data sets of unequal sizes."""
    import horovod.tensorflow as hvd  # noqa: PLC0415  # on ranks only

    sights = spy.watch()
    network = compiled()
    bias = np.linspace(-1, 1, NUM_SAMPLES + 1, dtype=np.float32)
    bias[1] = 3.0  # sample 0 is always right
    network.trainable_variables[0].assign(bias)
    result = evaluate(network, batches(samples[hvd.rank()], batch_size=3))
    return {"result": {name: float(value) for name, value in result.items()}, "sights": list(sights), "bias": bias}


def use_step(make_step: Callable[..., Any]) -> dict[str, Any]:
    """Make steps of the answer's own; count how often the step was traced."""
    import horovod.tensorflow as hvd  # noqa: PLC0415  # on ranks only
    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    sights = spy.watch()
    network = compiled()
    hvd.broadcast_variables(network.variables, root_rank=0)
    optimizer = tf.keras.optimizers.SGD(RATE, momentum=MOMENTUM)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    num_calls = 0

    def counted_loss(labels: Any, logits: Any) -> Any:
        nonlocal num_calls
        num_calls += 1
        return loss_of(labels, logits)

    step = make_step(network, optimizer, counted_loss)
    losses = [float(step(pictures, labels)) for pictures, labels in batches(own_samples(7))]
    return {"sights": list(sights), "losses": losses, "num_traces": num_calls}
