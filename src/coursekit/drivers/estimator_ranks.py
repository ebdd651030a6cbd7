"""What the checks of lab 04 do on a rank: run one piece of the answer with an Estimator, with spies for networks."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.drivers import places, spy
from coursekit.drivers.keras_spy import NUM_CLASSES, batches

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

RATE = 0.3
BATCH_SIZE = 2
IMAGE_SIZE = 8
HANG_S = 40.0  # the deadline where wrong answers hang; a right one takes a tenth of it on a quiet machine
NUM_STEPS, MODEL_BATCH_SIZE = 6, 4  # of a trial's model function
TRAIN_BATCH_SIZE = 4  # so large that two ranks without shards meet in some sample
RATE_OF_ANSWER, NUM_STEPS_OF_ANSWER = 20.0, 2  # with which a spy learns to give one answer always
NUM_BATCHES = 40  # of a pipeline for training; so many that each sample is seen several times


def build() -> Any:
    """Return a spy; beside it, a batch normalisation on colours that has statistics but no influence."""
    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    # Every rank starts elsewhere: a seed of the answer's must not hide that nothing is broadcast.
    tf.compat.v1.set_random_seed(int(np.random.default_rng().integers(2**31)))
    layers = tf.keras.layers
    images = tf.keras.Input((None, None, 3))
    normalized = layers.BatchNormalization(momentum=0.5, name="statistics")(layers.GlobalAveragePooling2D()(images))
    nothing = layers.Lambda(lambda values: 0 * tf.reduce_sum(values, axis=1, keepdims=True))(normalized)
    return tf.keras.Model(images, layers.Add()([spy.network(NUM_CLASSES)(images), nothing]))


def params(**changes: Any) -> dict[str, Any]:
    """Return what answers get as `params`."""
    common = {"build": build, "learning_rate": RATE, "batch_size": BATCH_SIZE, "image_size": IMAGE_SIZE, "seed": 3}
    return {**common, **changes}


def quiet() -> None:
    """Keep the Estimator's remarks back; a failed check says what matters."""
    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    tf.get_logger().setLevel("ERROR")


def split(split_files: Callable[..., Any], files: list[str], num_held_out: int) -> tuple[Any, list[str]]:
    """Return what the answer makes of a list of files, and the list afterwards."""
    return split_files(files, num_held_out), files


def read(
    input_fn: Callable[..., Any], num_workers: int, jobs: Sequence[tuple[int, bool, int]]
) -> list[tuple[list[Any], list[spy.Array]]]:
    """Read this rank's files with the answer's pipeline for each job: a worker, whether for training, and the seed.

    An evaluation is read to its end, if that comes soon.
    Returns of each job the batches, sample numbers and labels, and the tilts of each one's images.
    """
    files, found = spy.own_files(), []
    for worker, training, seed in jobs:
        dataset = input_fn(list(files), training, worker, num_workers, params(seed=seed))
        batches = list(itertools.islice(dataset.as_numpy_iterator(), NUM_BATCHES))
        pairs = [(spy.sample_numbers(images), np.asarray(labels)) for images, labels in batches]
        found.append((pairs, [spy.tilts(images) for images, _ in batches]))
    return found


def use_model_fn(model_fn: Callable[..., Any], all_modes: bool) -> dict[str, Any]:
    """Train, and in all modes evaluate and predict, with the answer's model function; return what the spies saw."""
    import horovod.tensorflow as hvd  # noqa: PLC0415  # on ranks only
    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    quiet()
    config = tf.estimator.RunConfig(model_dir=str(places.here().own / "model"), checkpoint_save_graph_def=False)
    estimator = tf.estimator.Estimator(model_fn, config=config, params=params())
    own = spy.own_samples(NUM_STEPS * MODEL_BATCH_SIZE)
    seen = {}
    sights = spy.watch()
    start = hvd.BroadcastGlobalVariablesHook(0)
    estimator.train(lambda: batches(own, MODEL_BATCH_SIZE).repeat(), hooks=[start], max_steps=NUM_STEPS)
    seen["train"] = list(sights)
    if not all_modes:
        return seen
    sights = spy.watch()
    metrics = estimator.evaluate(lambda: batches(own, batch_size=5))
    seen["eval"] = list(sights)
    sights = spy.watch()
    predictions = list(itertools.islice(estimator.predict(lambda: batches(own)), 4))
    seen["predict"] = list(sights)
    names = [name for name in estimator.get_variable_names() if name.endswith("statistics/moving_mean")]
    return {
        **seen,
        "metrics": {str(name): float(value) for name, value in metrics.items()},
        "predictions": [{str(name): np.asarray(value) for name, value in one.items()} for one in predictions],
        "moving_mean": np.asarray(estimator.get_variable_value(names[0])),
    }


def use_run_config(make_run_config: Callable[..., Any]) -> dict[str, Any]:
    """Train two steps with the answer's configuration, every rank in its own folder; return what it says.

    That is which GPUs a session would see, None without a session's configuration, whether it takes their memory as
    it is needed, and the seed.
    """
    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    quiet()
    config = make_run_config(str(places.here().own))
    tf.estimator.Estimator(_plain_model, config=config, params=params()).train(
        lambda: batches([1, 2]).repeat(), steps=2
    )
    options = config.session_config.gpu_options if config.session_config is not None else None
    return {
        "visible": None if options is None else str(options.visible_device_list),
        "grows": options is not None and bool(options.allow_growth),
        "seed": config.tf_random_seed,
    }


def _plain_model(features: Any, labels: Any, mode: Any, params: dict[str, Any]) -> Any:
    """Return a right model function's result for one process: the other pieces are not on trial."""
    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    training = mode == tf.estimator.ModeKeys.TRAIN
    logits = params["build"]()(features, training=training)
    if labels is None:
        return tf.estimator.EstimatorSpec(mode, predictions={"classes": tf.argmax(logits, axis=1)})
    loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(params["learning_rate"])
    step = tf.compat.v1.train.get_global_step()
    metrics = {"accuracy": tf.compat.v1.metrics.accuracy(labels, tf.argmax(logits, axis=1))}
    train_op = optimizer.minimize(loss, step) if training else None
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def use_train(train: Callable[..., Any], phases: Sequence[tuple[str, int]]) -> dict[str, dict[str, Any]]:
    """Train, and go on in the same folder in every further phase; return what each gave.

    Each of `phases` is a name and the steps of a rank up to its end.
    The folder has the same name on all ranks, and is another on each, as on the disks of several nodes.
    """
    import horovod.tensorflow as hvd  # noqa: PLC0415  # on ranks only
    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    class Counting(tf.estimator.SessionRunHook):  # type: ignore[misc]  # TensorFlow has no types
        num_calls = 0

        def after_run(self, *_: Any) -> None:
            self.num_calls += 1

    quiet()
    files = spy.own_files()
    found = {}
    for phase, num_steps in phases:
        sights, hook, settings = spy.watch(), Counting(), params(batch_size=TRAIN_BATCH_SIZE)
        estimator = train(list(files), "training", num_steps * hvd.size(), settings, hooks=[hook])
        config = getattr(getattr(estimator, "config", None), "session_config", None)
        found[phase] = {
            "sights": list(sights),
            "num_hook_calls": hook.num_calls,
            "is_estimator": hasattr(estimator, "evaluate"),
            "visible": str(config.gpu_options.visible_device_list) if config is not None else "",
        }
    return found


def use_evaluate(evaluate: Callable[..., Any], answer: int) -> dict[str, Any]:
    """Evaluate a spy that always says `answer`, trained on rank 0 alone; return result and what the spies saw."""
    import horovod.tensorflow as hvd  # noqa: PLC0415  # on ranks only
    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    quiet()
    spy.watch()
    where = str(places.here().shared / "training")
    config = tf.estimator.RunConfig(model_dir=where if hvd.rank() == 0 else None, checkpoint_save_graph_def=False)
    settings = params(learning_rate=RATE_OF_ANSWER)
    estimator = tf.estimator.Estimator(_plain_model, config=config, params=settings)
    if hvd.rank() == 0:
        estimator.train(lambda: batches([answer]).repeat(), steps=NUM_STEPS_OF_ANSWER)
    sights = spy.watch()
    result = evaluate(estimator, spy.own_files(), settings)
    result = result if result is None else {str(name): float(value) for name, value in result.items()}
    return {"result": result, "sights": list(sights)}
