"""Drivers of lab 04: on a rank, they run the model function or the configuration with an Estimator.

The networks are probes; `lab04_data`, `lab04_training` and `lab04_strategy` run the other pieces.
"""

import itertools
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import numpy as np

from coursekit.drivers import places, probe_model
from coursekit.drivers.calls import Answer, hvd, require_returned, tf
from coursekit.drivers.probe_model import NUM_CLASSES, NUM_OTHERS, RATE, Array, batches

BATCH_SIZE = 2
HANG_S = 25.0  # the deadline of checks in which wrong answers hang; a right one takes a ninth of it on a quiet machine
# For a trial of the model function. The batch size is never the number of ranks, so that a sum over a batch and a sum
# over the ranks can be told apart.
NUM_STEPS, MODEL_BATCH_SIZE = 8, 5
LATE_FROM, LATE = 4, 1_000_000  # from this step on, the global step is so large that any schedule of the rate shows
LARGE_STEP, GAIN = 6, 64.0  # the step whose gradients are so many times as large that clipping shows
TRAIN_BATCH_SIZE = 4  # so large that two ranks without shards share some sample


def build(num_others: int = 0, large_step: int = -1, keep: Callable[[float], Any] = float) -> Any:
    """Return a probe with `num_others` more weights, and with batch normalisation that does not affect its outputs.

    A layer behind the probe changes no logits, but multiplies gradients by `GAIN` in training step `large_step`, which
    counts from 0. The layer's kernel has the same gradient as the probe's weight for class 0, and `keep` is called with
    the kernel before each step.
    """
    # Every rank starts with different weights, because a seed in the answer must not hide that nothing is broadcast.
    tf.compat.v1.set_random_seed(int(np.random.default_rng().integers(2**31)))
    layers = tf.keras.layers
    images = tf.keras.Input((None, None, 3))
    normalized = layers.BatchNormalization(momentum=0.5, name="statistics")(layers.GlobalAveragePooling2D()(images))
    nothing = layers.Lambda(lambda values: 0 * tf.reduce_sum(values, axis=1, keepdims=True))(normalized)
    logits = layers.Add()([probe_model.network(NUM_CLASSES, num_others)(images), nothing])
    return tf.keras.Model(images, _behind(keep, large_step)(logits))


def _behind(keep: Callable[[float], Any], large_step: int) -> Any:
    """Return the layer behind a probe (see `build`)."""
    num_steps = itertools.count()

    def note(kernel: Array, training: Array) -> Any:
        if not training:
            return np.float32(1)
        keep(float(kernel))
        return np.float32(GAIN if next(num_steps) == large_step else 1)

    class Behind(tf.keras.layers.Layer):  # type: ignore[misc]  # TensorFlow has no types
        def build(self, _: Any) -> None:
            self.kernel = self.add_weight("kernel", (), initializer=tf.keras.initializers.RandomUniform(0.5, 1.5))

        @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]  # the same
        def call(self, logits: Any, training: Any = None) -> Any:
            training = tf.keras.backend.learning_phase() if training is None else training
            seen = [tf.identity(self.kernel), tf.cast(training, tf.bool)]
            gain = tf.reshape(tf.numpy_function(note, seen, tf.float32), ())
            of_first = self.kernel * tf.one_hot(0, NUM_CLASSES)
            logits += of_first - tf.stop_gradient(of_first)
            return logits + (gain - 1) * (logits - tf.stop_gradient(logits))

    return Behind(dtype="float32")


def build_for_groups(**settings: Any) -> Any:
    """Return a probe for a model function that may group gradients."""
    return build(NUM_OTHERS, **settings)


def params(**changes: Any) -> dict[str, Any]:
    """Return the `params` that answers get."""
    return {"build": build, "learning_rate": RATE, "batch_size": BATCH_SIZE, "image_size": 8, "seed": 3, **changes}


def use_model_fn(model_fn: Answer, all_modes: bool) -> dict[str, Any]:
    """Train with the answer's model function and, if `all_modes`, evaluate and predict; return what the probes saw.

    "kernels" has the kernel of the layer behind the probe, as it was before each step (`build`). "collectives" has, for
    each mode, the kinds of Horovod operations that a session ran.
    """
    tf.get_logger().setLevel("ERROR")  # hides the Estimator's remarks; a failed check says what matters
    config = tf.estimator.RunConfig(model_dir=str(places.here().own / "model"), checkpoint_save_graph_def=False)
    kernels: list[float] = []
    # The Estimator copies its parameters, but not functions.
    settings = params(build=partial(build_for_groups, large_step=LARGE_STEP, keep=kernels.append))
    estimator = tf.estimator.Estimator(model_fn, config=config, params=settings)
    own = probe_model.own_samples(NUM_STEPS * MODEL_BATCH_SIZE)

    class Watch(tf.estimator.SessionRunHook):  # type: ignore[misc]  # TensorFlow has no types
        def begin(self) -> None:
            variables = tf.compat.v1.global_variables()
            parts = ("statistics/moving_mean", "statistics/moving_variance")
            self.statistics = [next((one for one in variables if part in one.name), tf.zeros(1)) for part in parts]
            self.late = tf.compat.v1.train.get_global_step().assign(LATE)

        def after_run(self, context: Any, _: Any) -> None:
            if len(records) == LATE_FROM:
                context.session.run(self.late)
            if len(records) >= 2 * NUM_STEPS:  # without the global step, training never ends
                context.request_stop()

        def end(self, session: Any) -> None:
            self.moving = session.run(self.statistics)  # because without the global step, no checkpoint has them

    records, watch, looks = probe_model.watch(), Watch(), {mode: _look() for mode in ("eval", "predict")}
    hooks = [hvd.BroadcastGlobalVariablesHook(0), watch]
    last_step = LATE + NUM_STEPS - LATE_FROM
    estimator.train(lambda: batches(own, MODEL_BATCH_SIZE).repeat(), hooks=hooks, max_steps=last_step)
    found = {"train": records, "kernels": kernels[: len(records)]}
    if not all_modes:
        return found
    evaluated = probe_model.watch()
    metrics = estimator.evaluate(lambda: batches(own, batch_size=5), hooks=[looks["eval"]])
    predicted = probe_model.watch()
    answers = estimator.predict(lambda: batches(own), hooks=[looks["predict"]])
    predictions = list(itertools.islice(answers, 4))
    named = [one if isinstance(one, dict) else {} for one in predictions]  # the Estimator also accepts a tensor
    return {
        **found,
        "eval": evaluated,
        "predict": predicted,
        "moving": [np.asarray(one) for one in watch.moving],
        "metrics": {str(name): float(value) for name, value in metrics.items()},
        "predictions": [{str(name): np.asarray(value) for name, value in one.items()} for one in named],
        "collectives": {mode: sorted(look.found) for mode, look in looks.items()},
    }


def _look() -> Any:
    """Return a hook that notes in `found` the kinds of Horovod operations that a session runs."""

    class Look(tf.estimator.SessionRunHook):  # type: ignore[misc]  # TensorFlow has no types
        found: Collection[str] = ()

        def before_run(self, context: Any) -> None:
            fetches = tf.nest.flatten(context.original_args.fetches)
            left, seen = [getattr(one, "op", one) for one in fetches], {}
            while left:
                operation = left.pop()
                if operation.name not in seen:
                    seen[operation.name] = operation.type
                    left += [*(one.op for one in operation.inputs), *operation.control_inputs]
            self.found = {*self.found, *(kind for kind in seen.values() if kind.startswith("Horovod"))}

    return Look()


def use_run_config(make_run_config: Answer) -> dict[str, Any]:
    """Take two training steps with the answer's configuration, in this rank's own folder; return its settings.

    "visible" has the GPUs that a session would see, or None without a session configuration; "writes" tells whether the
    folder is this rank's `model_dir`.
    """
    tf.get_logger().setLevel("ERROR")
    folder = str(places.here().own)
    config = make_run_config(folder)
    is_config = isinstance(config, tf.estimator.RunConfig)
    require_returned(make_run_config, config, fits=is_config, expected="a tf.estimator.RunConfig")
    estimator = tf.estimator.Estimator(plain_model, config=config, params=params())
    estimator.train(lambda: batches([1, 2]).repeat(), steps=2)
    options = config.session_config.gpu_options if config.session_config is not None else None
    return {
        "visible": None if options is None else str(options.visible_device_list),
        "grows": options is not None and bool(options.allow_growth),
        "seed": config.tf_random_seed,
        "num_steps": config.save_checkpoints_steps,
        "writes": config.model_dir == folder,
    }


def plain_model(features: Any, labels: Any, mode: Any, params: dict[str, Any]) -> Any:
    """Return what a correct single-process model function returns; it stands in when other pieces are on trial."""
    logits = params["build"]()(features, training=mode == tf.estimator.ModeKeys.TRAIN)
    classes = tf.argmax(logits, axis=1)
    if labels is None:
        return tf.estimator.EstimatorSpec(mode, predictions={"classes": classes})
    loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(params["learning_rate"])
    step = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
    metrics = {"accuracy": tf.compat.v1.metrics.accuracy(labels, classes)}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step, eval_metric_ops=metrics)
