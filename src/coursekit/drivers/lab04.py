"""What the checks of lab 04 do on a rank: run one piece of the answer with an Estimator.

Networks are probes, and right pieces of the judge's stand in for those that are not on trial.
"""

import inspect
import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest import mock

import numpy as np

from coursekit.drivers import places, probe_model
from coursekit.drivers.calls import Answer, WrongReturnError, elements_of, hvd, require_entries, require_returned, tf
from coursekit.drivers.probe_model import NUM_CLASSES, NUM_OTHERS, RATE, Array, batches

BATCH_SIZE = 2
HANG_S = 25.0  # the deadline where wrong answers hang; a right one takes a ninth of it on a quiet machine
NUM_STEPS, MODEL_BATCH_SIZE = 8, 4  # of a trial's model function; half of the steps still show its updates
TRAIN_BATCH_SIZE = 4  # so large that two ranks without shards meet in some sample
RATE_OF_ANSWER, NUM_STEPS_OF_ANSWER = 20.0, 2  # with which a probe learns to give one answer always
MOST_STEPS_OF_EVALUATION = 100  # a right one takes fewer, as there are fewer images
NUM_BATCHES = 40  # of a pipeline for training; so many that each sample is seen several times


def build(num_others: int = 0) -> Any:
    """Return a probe with so many other weights, and a batch normalisation on colours, which changes nothing."""
    # Every rank starts elsewhere: a seed of the answer's must not hide that nothing is broadcast.
    tf.compat.v1.set_random_seed(int(np.random.default_rng().integers(2**31)))
    layers = tf.keras.layers
    images = tf.keras.Input((None, None, 3))
    normalized = layers.BatchNormalization(momentum=0.5, name="statistics")(layers.GlobalAveragePooling2D()(images))
    nothing = layers.Lambda(lambda values: 0 * tf.reduce_sum(values, axis=1, keepdims=True))(normalized)
    return tf.keras.Model(images, layers.Add()([probe_model.network(NUM_CLASSES, num_others)(images), nothing]))


build_for_groups = partial(build, NUM_OTHERS)  # for a model function that may put gradients in groups


def params(**changes: Any) -> dict[str, Any]:
    """Return what answers get as `params`."""
    return {"build": build, "learning_rate": RATE, "batch_size": BATCH_SIZE, "image_size": 8, "seed": 3, **changes}


def split(split_files: Answer, files: list[str], num_held_out: int) -> tuple[Any, list[str]]:
    """Return what the answer makes of a list of files, and the list afterwards."""
    return split_files(files, num_held_out), files


def read(input_fn: Answer, num_workers: int, ways: Mapping[str, tuple[bool, int]]) -> list[dict[str, Any]]:
    """Read this rank's files with the answer's pipeline, as each worker in each way: whether for training, and seed.

    Returns by worker and way the batches, sample numbers and labels, and the tilts of each one's images.
    """
    files = probe_model.own_files()

    def read_once(worker: int, training: bool, seed: int) -> tuple[list[Any], list[Array]]:
        dataset = input_fn(list(files), training, worker, num_workers, params(seed=seed))
        seen = elements_of(input_fn, dataset, NUM_BATCHES)
        pairs = [(probe_model.sample_numbers(images), np.asarray(labels)) for images, labels in seen]
        return pairs, [probe_model.tilts(images) for images, _ in seen]

    return [{name: read_once(worker, *way) for name, way in ways.items()} for worker in range(num_workers)]


def use_model_fn(model_fn: Answer, all_modes: bool) -> dict[str, Any]:
    """Train, and in all modes evaluate and predict, with the answer's model function; return what the probes saw."""
    tf.get_logger().setLevel("ERROR")  # keeps the Estimator's remarks back; a failed check says what matters
    config = tf.estimator.RunConfig(model_dir=str(places.here().own / "model"), checkpoint_save_graph_def=False)
    estimator = tf.estimator.Estimator(model_fn, config=config, params=params(build=build_for_groups))
    own = probe_model.own_samples(NUM_STEPS * MODEL_BATCH_SIZE)

    class Watch(tf.estimator.SessionRunHook):  # type: ignore[misc]  # TensorFlow has no types
        def begin(self) -> None:
            variables = tf.compat.v1.global_variables()
            self.statistics = next((one for one in variables if "statistics/moving_mean" in one.name), tf.zeros(1))

        def after_run(self, context: Any, _: Any) -> None:
            if len(records) >= 2 * NUM_STEPS:  # without the global step, training never ends
                context.request_stop()

        def end(self, session: Any) -> None:
            self.moving_mean = session.run(self.statistics)  # without the global step, no checkpoint has it

    records, watch = probe_model.watch(), Watch()
    hooks = [hvd.BroadcastGlobalVariablesHook(0), watch]
    estimator.train(lambda: batches(own, MODEL_BATCH_SIZE).repeat(), hooks=hooks, max_steps=NUM_STEPS)
    if not all_modes:
        return {"train": records}
    evaluated = probe_model.watch()
    metrics = estimator.evaluate(lambda: batches(own, batch_size=5))
    predicted = probe_model.watch()
    predictions = list(itertools.islice(estimator.predict(lambda: batches(own)), 4))
    named = [one if isinstance(one, dict) else {} for one in predictions]  # the Estimator takes a tensor, too
    return {
        "train": records,
        "eval": evaluated,
        "predict": predicted,
        "moving_mean": watch.moving_mean,
        "metrics": {str(name): float(value) for name, value in metrics.items()},
        "predictions": [{str(name): np.asarray(value) for name, value in one.items()} for one in named],
    }


def use_run_config(make_run_config: Answer) -> dict[str, Any]:
    """Train two steps with the answer's configuration, every rank in its own folder; return what it says.

    "visible" are the GPUs that a session would see, None without a session's configuration.
    """
    tf.get_logger().setLevel("ERROR")
    config = make_run_config(str(places.here().own))
    is_config = isinstance(config, tf.estimator.RunConfig)
    require_returned(make_run_config, config, fits=is_config, expected="a tf.estimator.RunConfig")
    estimator = tf.estimator.Estimator(_plain_model, config=config, params=params())
    estimator.train(lambda: batches([1, 2]).repeat(), steps=2)
    options = config.session_config.gpu_options if config.session_config is not None else None
    return {
        "visible": None if options is None else str(options.visible_device_list),
        "grows": options is not None and bool(options.allow_growth),
        "seed": config.tf_random_seed,
        "num_steps": config.save_checkpoints_steps,
    }


def _plain_model(features: Any, labels: Any, mode: Any, params: dict[str, Any]) -> Any:
    """Return a right model function's result for one process: the other pieces are not on trial."""
    logits = params["build"]()(features, training=mode == tf.estimator.ModeKeys.TRAIN)
    classes = tf.argmax(logits, axis=1)
    if labels is None:
        return tf.estimator.EstimatorSpec(mode, predictions={"classes": classes})
    loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(params["learning_rate"])
    step = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
    metrics = {"accuracy": tf.compat.v1.metrics.accuracy(labels, classes)}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step, eval_metric_ops=metrics)


@contextmanager
def supplied(answer: Answer, source: str) -> Iterator[None]:
    """Let the answer find the functions of this source in place of the notebook's.

    They come as text with each call, since what stands in a driver can be seen, and copied, by an answer.
    """
    found: dict[str, Any] = {}
    exec(source, found)  # noqa: S102  # the judge's own
    functions = {name: piece for name, piece in found.items() if inspect.isfunction(piece)}
    with mock.patch.dict(getattr(inspect.unwrap(answer), "__globals__", {}), functions):
        yield


def use_train(train: Answer, phases: Sequence[tuple[str, int]], pieces: str) -> dict[str, dict[str, Any]]:
    """Train with these pieces, and go on in the same folder in every further phase; return what each gave.

    Each of `phases` is a name and the steps of a rank up to its end.
    The folder has the same name on all ranks, and is another on each, as on the disks of several nodes.
    """
    tf.get_logger().setLevel("ERROR")
    files = probe_model.own_files()
    found = {}
    for phase, num_steps in phases:
        records, hook = probe_model.watch(), tf.estimator.SessionRunHook()
        hook.after_run = mock.Mock(return_value=None)
        # The model function of the judge's pieces puts no gradients in groups.
        settings = params(batch_size=TRAIN_BATCH_SIZE, build=build if pieces else build_for_groups)
        with supplied(train, pieces):
            estimator = train(list(files), "training", num_steps * hvd.size(), settings, hooks=[hook])
        config = getattr(getattr(estimator, "config", None), "session_config", None)
        found[phase] = {
            "records": records,
            "num_hook_calls": hook.after_run.call_count,
            "is_estimator": hasattr(estimator, "evaluate"),
            "visible": str(config.gpu_options.visible_device_list) if config is not None else "",
        }
    return found


def use_evaluate(evaluate: Answer, answer: int, pieces: str) -> dict[str, Any]:
    """Evaluate a probe that always says `answer`, trained on rank 0 alone, with these pieces.

    Returns the result and what the probes saw.
    """
    tf.get_logger().setLevel("ERROR")
    probe_model.watch()
    where = str(places.here().shared / "training")
    config = tf.estimator.RunConfig(model_dir=where if hvd.rank() == 0 else None, checkpoint_save_graph_def=False)
    settings = params(learning_rate=RATE_OF_ANSWER)
    estimator = tf.estimator.Estimator(_plain_model, config=config, params=settings)
    if hvd.rank() == 0:
        estimator.train(lambda: batches([answer]).repeat(), steps=NUM_STEPS_OF_ANSWER)
    end_endless(estimator)
    records = probe_model.watch()
    with supplied(evaluate, pieces):
        result = evaluate(estimator, probe_model.own_files(), settings)
    # Ranks other than 0 need not return anything.
    return {"result": None if result is None else require_entries(evaluate, result), "records": records}


def end_endless(estimator: Any) -> None:
    """Let the estimator's `evaluate` say so where its data have no end, instead of going on until the deadline."""
    plain, num_steps, hook = estimator.evaluate, itertools.count(1), tf.estimator.SessionRunHook()

    def after_run(*_: Any) -> None:
        if next(num_steps) > MOST_STEPS_OF_EVALUATION:
            message = "evaluate gives the Estimator data without an end, as those for training are"
            raise WrongReturnError(message, "data.endless")

    hook.after_run = after_run
    estimator.evaluate = lambda *args, hooks=(), **options: plain(*args, hooks=[*(hooks or ()), hook], **options)
