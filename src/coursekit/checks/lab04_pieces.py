"""Checks of lab 04's pieces, and the judge's right versions of them, so that a fault costs points only once.

The pieces are the model function, the configuration, and the text for TF_CONFIG.

Example of updates: if the rate is 0.3 for one rank, every update on four ranks is 1.2 times the mean of the four
gradients; the module `steps` has an example of such gradients. If the factor is 0.3, the rate is not scaled; if it is
4.8, the gradients are summed.
Example of a configuration: if four ranks run on two nodes, rank 3 has the local rank 1 and sees only GPU 1.
Example of a text: for worker 1 of two, it is {"cluster": {"worker": ["node0:20000", "node0:20001"]}, "task": {"type":
"worker", "index": 1}}.
"""

import inspect
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from coursekit import imagenet
from coursekit.checks.check import require
from coursekit.checks.compare import OF_SHARES, as_dict, brief, require_close, require_equal
from coursekit.checks.lab04_updates import Updates, check_direction
from coursekit.checks.lab04_updates import check_rate as check_rate_of
from coursekit.checks.on_ranks import call_answer
from coursekit.checks.private_data import check_follows, check_sent, draw_private
from coursekit.checks.shards import check_writers
from coursekit.checks.trials import Trial, try_on_ranks
from coursekit.drivers import lab04, lab04_strategy
from coursekit.drivers.calls import Answer, hvd, tf
from coursekit.drivers.probe_model import NUM_CLASSES, RATE

CHECKPOINT_STEPS = 100  # as the exercise requires


def try_model_fn(model_fn: Answer, num_ranks: int = 4, *, all_modes: bool = True) -> Trial:
    """Train with the answer's model function and our Estimator; if `all_modes`, also evaluate and predict.

    On other numbers of ranks (`Trial.on`), it only trains.
    """
    given = draw_private(num_ranks, NUM_CLASSES, num_rounds=3, num_samples=lab04.NUM_STEPS * lab04.MODEL_BATCH_SIZE)
    args = lab04.use_model_fn, model_fn, all_modes
    trial = try_on_ranks(*args, num_ranks=num_ranks, timeout_s=lab04.HANG_S, private=given)
    return replace(trial, on=cache(partial(try_model_fn, model_fn, all_modes=False)))


def check_modes(trial: Trial) -> None:
    """The network is in training mode only during training; metrics and predictions are right."""
    check_sent([[record.samples for record in of_rank] for of_rank in trial.of_ranks("eval")], trial.private)
    for result in trial.of_ranks():
        what = "the number of steps until the training ends, by the global step"
        advice = ": pass the global step to `minimize`, which counts each step once"
        require_equal(len(result["train"]), lab04.NUM_STEPS, what, "steps.miscounted", advice)
        for mode, wanted in (("train", True), ("eval", False), ("predict", False)):
            require(result[mode], f"in the mode {mode!r}, the network is never called", "network.not-called")
            found = {record.training for record in result[mode]}
            how = f"the network runs {'with' if True in found else 'without'} training=True"
            message = f"in the mode {mode!r}, {how}: batch normalisation and dropout behave differently then"
            require(wanted or found == {False}, message, "training-mode.on")
            require(not wanted or found == {True}, message, "training-mode.off")
        for mode, kinds in result["collectives"].items():
            message = f"in the mode {mode!r}, ranks wait for each other in {kinds}: rank 0 alone would wait for ever"
            require(not kinds, message, "collective.not-in-training")
        samples = np.concatenate([record.samples for record in result["eval"]])
        expected = float(np.mean(samples + 1 == np.argmax(result["eval"][0].bias)))
        names = sorted(result["metrics"])
        require("accuracy" in names, f"the metrics of an evaluation are {names}: add 'accuracy'", "answer.no-entry")
        require_close(
            result["metrics"]["accuracy"], expected, "the accuracy", "metrics.wrong", tolerance=1e-4, units=OF_SHARES
        )
        for prediction in result["predictions"]:
            message = f"a prediction holds {sorted(prediction)}, but no 'classes': return a dictionary"
            require("classes" in prediction, message, "answer.no-entry")
            right = int(prediction["classes"]) == int(np.argmax(result["predict"][0].bias))
            message = f"a prediction must be the class of the largest logit, not {prediction['classes']}"
            require(right, message, "prediction.wrong")


def _updates(trial: Trial) -> Updates:
    rate, kernels = RATE * trial.num_ranks, trial.of_ranks("kernels")
    return Updates(trial.steps("train"), rate, lab04.LARGE_STEP, lab04.MODEL_BATCH_SIZE, kernels)


def check_averaged(trial: Trial) -> None:
    """Every update uses the mean of all ranks' gradients, and nothing else."""
    updates = _updates(trial)
    check_direction(updates)
    check_follows(updates.steps, trial.private)


def check_rate(trial: Trial) -> None:
    """In every step, the rate is the given rate times the number of ranks, whether or not gradients are averaged."""
    check_rate_of(_updates(trial))


def check_statistics(trial: Trial) -> None:
    """Training updates the statistics of batch normalisation."""
    for rank, statistics in enumerate(trial.of_ranks("moving")):
        for kind, values, start in zip(("means", "variances"), statistics, (0, 1)):
            message = f"after training on rank {rank}, the moving {kind} of batch normalisation keep their initial "
            advice = "values: run all of the network's updates with every step"
            require(np.abs(values - start).max() > 0, message + advice, "statistics.frozen")


def try_config(make_run_config: Answer, num_ranks: int, ranks_per_node: int | None = None) -> Trial:
    """Take two training steps with the answer's configuration, on ranks that each have their own folder.

    By default, all ranks are on one node.
    """
    launch = {"ranks_per_node": ranks_per_node or num_ranks, "timeout_s": lab04.HANG_S, "look": True}
    given = draw_private(num_ranks, NUM_CLASSES)
    trial = try_on_ranks(lab04.use_run_config, make_run_config, num_ranks=num_ranks, private=given, **launch)
    return replace(trial, on=cache(partial(try_config, make_run_config)))


def check_pinned(trial: Trial, ranks_per_node: int) -> None:
    """A session with this configuration sees only the GPU of its local rank, and allocates memory as needed."""
    for rank, result in enumerate(trial.of_ranks()):
        local_rank, visible = rank % ranks_per_node, result["visible"]
        message = f"the RunConfig of rank {rank} has no session_config, so sessions see all GPUs"
        require(visible is not None, message, "gpu.all-visible")
        message = f"the sessions of rank {rank} see all GPUs of the node: set visible_device_list"
        require(visible != "", message, "gpu.all-visible")
        where = f"rank {rank}, local rank {local_rank} of its node"
        message = f"{where}: expected GPU {local_rank}, got {visible}: pin by the local rank"
        require(visible == str(local_rank), message, "gpu.wrong")
        message = f"the sessions of rank {rank} take all the memory of their GPU: set allow_growth"
        require(result["grows"], message, "gpu.no-growth")


def check_files(trial: Trial, seed: int) -> None:
    """Rank 0 writes checkpoints into the folder, no other rank writes there, and all ranks have the same seed."""
    seeds, writers = trial.of_ranks("seed"), [rank for rank, writes in enumerate(trial.of_ranks("writes")) if writes]
    message = f"the folder is the model_dir of the ranks {writers}: ranks that write there destroy each other's files"
    require(writers in ([], [0]), message, "writers.not-rank-0")
    check_writers(trial.left, " into its folder: set model_dir in the RunConfig of rank 0")
    left = trial.left[0]
    stems = [name[: -len(".index")] for name in left if name.endswith(".index")]
    whole = [stem for stem in stems if any(name.startswith(f"{stem}.data-") for name in left)]
    message = f"rank 0 writes no checkpoint into the folder, only {', '.join(sorted(left)[:3])}"
    require("checkpoint" in left and bool(whole), message, "checkpoint.missing")
    num_steps = trial.of_ranks("num_steps")[0]
    require_equal(num_steps, CHECKPOINT_STEPS, "save_checkpoints_steps of rank 0", "checkpoint.wrong-steps")
    require_equal(seeds, [seed] * trial.num_ranks, "tf_random_seed of the ranks", "seed.wrong")


def check_tf_config(tf_config: Answer, num_workers: int) -> None:
    """The text for TF_CONFIG names all workers, and says which of them this process is."""
    # Two workers on each node, in reverse order: the number of a worker is its place in the list.
    hosts = [f"node{number // 2}:{20000 + number % 2}" for number in reversed(range(num_workers))]
    for index in range(num_workers):
        text, is_set = call_answer(lab04_strategy.text_for, tf_config, list(hosts), index)
        message = f"tf_config must return JSON text, not {brief(text)}"
        require(isinstance(text, str), message, "answer.wrong-type")
        message = "tf_config also sets TF_CONFIG, whichever worker it is asked for: only return the text"
        require(not is_set, message, "tf-config.set")
        found: Any = None
        with suppress(ValueError):
            found = json.loads(text)
        require(isinstance(found, dict), f"{text!r} is not a dictionary in JSON: use json.dumps", "tf-config.no-json")
        cluster, task = (as_dict(found.get(part), f"the part {part!r} of TF_CONFIG") for part in ("cluster", "task"))
        workers = cluster.get("worker")
        message = f"the cluster's workers: expected {hosts}, got {brief(workers)}"
        require(workers == hosts, message, "tf-config.wrong-workers")
        require_equal(task.get("type"), "worker", "the type of the task", "tf-config.wrong-type")
        knows_itself = task.get("index") == index and type(task["index"]) is int
        message = f"the index of worker {index}: expected {index}, got {brief(task.get('index'))}"
        require(knows_itself, message, "tf-config.wrong-index")


def or_own(try_with: Callable[[str], Trial], pieces: str, *checks: Callable[[Trial], object]) -> Trial:
    """Return the trial with the judge's pieces, or the trial with the answer's own pieces if only those work.

    An answer may pass arguments that only its own pieces accept, or divide the work among them differently. So
    if a check fails with the judge's pieces, the answer's own pieces are tried. They count if all checks hold with
    them, or if the run succeeds only with them.
    """
    trial = try_with(pieces)
    if _is_right(trial, *checks):
        return trial
    own = try_with(OWN)
    return own if _is_right(own, *checks) or (trial.error and not own.error) else trial


def _is_right(trial: Trial, *checks: Callable[[Trial], object]) -> bool:
    with suppress(Exception):  # the check's own cell reports whatever it cannot use
        for check in checks:
            check(trial)
        return True
    return False


def input_fn(files: list[str], training: bool, worker: int, num_workers: int, params: dict[str, Any]) -> Any:
    """Return a worker's batches as lab 04 requires, but with images that are neither cut nor mirrored."""

    def load(record: Any) -> Any:
        encoded, label = imagenet.parse_record(record)
        return tf.cast(tf.io.decode_jpeg(encoded, channels=3), tf.float32) / 127.5 - 1, label

    records = tf.data.Dataset.from_tensor_slices(files[worker::num_workers]).interleave(imagenet.read_records)
    if training:
        records = records.shuffle(1000, seed=params["seed"]).repeat()
    pictures = records.map(tf.autograph.experimental.do_not_convert(load))
    return pictures.batch(params["batch_size"], drop_remainder=training)


def model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any]) -> Any:
    """Return the EstimatorSpec for a batch in this mode, as lab 04 requires, but without predictions."""
    network = params["build"]()
    logits = network(features, training=mode == tf.estimator.ModeKeys.TRAIN)
    loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, logits)
    metrics = {"accuracy": tf.compat.v1.metrics.accuracy(labels, tf.argmax(logits, axis=1))}
    optimizer = tf.compat.v1.train.MomentumOptimizer(params["learning_rate"] * hvd.size(), momentum=0.9)
    with tf.control_dependencies(network.get_updates_for(features)):
        step = hvd.DistributedOptimizer(optimizer).minimize(loss, tf.compat.v1.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step, eval_metric_ops=metrics)


def make_run_config(folder: str) -> Any:
    """Return a rank's configuration, as lab 04 requires."""
    session_config = tf.compat.v1.ConfigProto()
    session_config.graph_options.rewrite_options.disable_meta_optimizer = True  # it takes longer than training a probe
    session_config.gpu_options.visible_device_list = str(hvd.local_rank())
    session_config.gpu_options.allow_growth = True
    silent = {"save_checkpoints_steps": None, "save_checkpoints_secs": None, "save_summary_steps": None}
    files = {"model_dir": folder, "save_checkpoints_steps": 100} if hvd.rank() == 0 else silent
    return tf.estimator.RunConfig(session_config=session_config, tf_random_seed=1, **files)


OWN = ""
# The pieces are sent as text, because this module is not in the sandbox.
IMPORTS = "from __future__ import annotations\n"
IMPORTS += "from coursekit import imagenet\nfrom coursekit.drivers.calls import hvd, tf\n"
INPUT_FN = IMPORTS + inspect.getsource(input_fn)
FUNCTIONS = INPUT_FN + inspect.getsource(model_fn) + inspect.getsource(make_run_config)
