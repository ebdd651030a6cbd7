"""Right pieces of lab 04, with which answers that use them are tried: a fault costs its points only once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from coursekit.checks.check import CheckError
from coursekit.checks.trials import Trial


def or_own(try_with: Callable[[str], Trial], pieces: str, *checks: Callable[[Trial], object]) -> Trial:
    """Return the trial with the judge's pieces, or one with the answer's own where only these serve it.

    An answer may give its own pieces arguments that the judge's do not have, or leave to one what the judge's leaves
    to the other. So its own are tried where a check fails with the judge's, and count where all checks hold with them,
    or where the run ends with them only.
    """
    trial = try_with(pieces)
    if _is_right(trial, *checks):
        return trial
    own = try_with(OWN)
    return own if _is_right(own, *checks) or (trial.error and not own.error) else trial


def _is_right(trial: Trial, *checks: Callable[[Trial], object]) -> bool:
    try:
        for check in checks:
            check(trial)
    except CheckError:
        return False
    return True


def input_fn(files: list[str], training: bool, worker: int, num_workers: int, params: dict[str, Any]) -> Any:
    """Return a worker's batches, as lab 04 asks for them, but images are neither cut nor mirrored."""
    import tensorflow as tf  # on ranks only

    from coursekit import imagenet  # the function travels alone

    def load(record: Any) -> Any:
        encoded, label = imagenet.parse_record(record)
        return tf.cast(tf.io.decode_jpeg(encoded, channels=3), tf.float32) / 127.5 - 1, label

    records = tf.data.Dataset.from_tensor_slices(files[worker::num_workers]).interleave(imagenet.read_records)
    if training:
        records = records.shuffle(1000, seed=params["seed"]).repeat()
    pictures = records.map(tf.autograph.experimental.do_not_convert(load))
    return pictures.batch(params["batch_size"], drop_remainder=training)


def model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any]) -> Any:
    """Return what is to be done with a batch in this mode, as lab 04 asks for it; it predicts nothing."""
    import horovod.tensorflow as hvd  # on ranks only
    import tensorflow as tf  # on ranks only

    network = params["build"]()
    logits = network(features, training=mode == tf.estimator.ModeKeys.TRAIN)
    loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, logits)
    metrics = {"accuracy": tf.compat.v1.metrics.accuracy(labels, tf.argmax(logits, axis=1))}
    optimizer = tf.compat.v1.train.MomentumOptimizer(params["learning_rate"] * hvd.size(), momentum=0.9)
    with tf.control_dependencies(network.get_updates_for(features)):
        step = hvd.DistributedOptimizer(optimizer).minimize(loss, tf.compat.v1.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step, eval_metric_ops=metrics)


def make_run_config(folder: str) -> Any:
    """Return a rank's configuration, as lab 04 asks for it."""
    import horovod.tensorflow as hvd  # on ranks only
    import tensorflow as tf  # on ranks only

    session_config = tf.compat.v1.ConfigProto()
    session_config.graph_options.rewrite_options.disable_meta_optimizer = True  # takes longer than a spy trains
    session_config.gpu_options.visible_device_list = str(hvd.local_rank())
    session_config.gpu_options.allow_growth = True
    silent = {"save_checkpoints_steps": None, "save_checkpoints_secs": None, "save_summary_steps": None}
    files = {"model_dir": folder, "save_checkpoints_steps": 100} if hvd.rank() == 0 else silent
    return tf.estimator.RunConfig(session_config=session_config, tf_random_seed=1, **files)


def _source(*pieces: Callable[..., Any]) -> str:
    return "\n\n".join(["from __future__ import annotations", *map(inspect.getsource, pieces)])


OWN = ""
INPUT_FN = _source(input_fn)
FUNCTIONS = _source(input_fn, model_fn, make_run_config)
