"""Drivers of lab 04's strategy: on a rank that is one of its workers, they train without Horovod."""

import json
import os
from typing import Any

from coursekit.drivers import probe_model
from coursekit.drivers.calls import Answer, hvd, tf
from coursekit.drivers.lab04 import LATE, TRAIN_BATCH_SIZE, build, params
from coursekit.drivers.lab04_training import changed, supplied
from coursekit.ranks import channel

NUM_STEPS = 5
LATE_FROM, LARGE_STEP = 2, 3  # as in the module `lab04`
HOSTS = "hosts"  # the list in which the workers enter their addresses


def rank() -> int:
    """Return the rank that `ranks.run` gives to this process."""
    return int(os.environ["HOROVOD_RANK"])


def text_for(tf_config: Answer, hosts: list[str], index: int) -> tuple[Any, bool]:
    """Return the answer's text for TF_CONFIG, and whether the answer has set the variable itself."""
    before = os.environ.get("TF_CONFIG")
    text = tf_config(hosts, index)
    return text, os.environ.get("TF_CONFIG") != before


def use_strategy(train_with_strategy: Answer, num_ranks: int, pieces: str) -> dict[str, Any]:
    """Train with the answer's strategy and these pieces on this worker.

    Returns what the probe saw, the kernels of `lab04.build`, the names of the `params` that were changed, and the
    number of steps that a callback saw. This number is None if `fit` trained no network.
    """
    hvd.shutdown()
    tf.get_logger().setLevel("ERROR")
    with channel.listen() as listener:  # an address with a free port for each rank
        channel.enter(HOSTS, 0, rank(), listener)
        hosts = [":".join(map(str, channel.find(HOSTS, 0, number))) for number in range(num_ranks)]
    files = probe_model.own_files_by_child()  # a strategy must be made before TensorFlow computes anything
    os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": rank()}})
    _be_patient(len(hosts))
    networks, seen_steps = [], []
    kernels: list[float] = []

    def build_one() -> Any:
        networks.append(build(large_step=LARGE_STEP, keep=kernels.append))
        return networks[-1]

    class Note(tf.keras.callbacks.Callback):  # type: ignore[misc]  # TensorFlow has no types
        def on_train_batch_end(self, step: int, logs: Any = None) -> None:
            del logs
            seen_steps.append(step)
            if len(seen_steps) == LATE_FROM:
                self.model.optimizer.iterations.assign(LATE)

    records = probe_model.watch()
    settings = params(batch_size=TRAIN_BATCH_SIZE, build=build_one)
    with supplied(train_with_strategy, pieces) as calls:
        train_with_strategy(files, NUM_STEPS * len(hosts), dict(settings), callbacks=[Note()])
    is_fitted = any(getattr(network, "history", None) is not None for network in networks)
    return {
        "records": records,
        "kernels": kernels,
        "changed": changed(settings, calls),
        "num_callback_calls": len(seen_steps) if is_fitted or seen_steps else None,
    }


def _be_patient(num_workers: int) -> None:
    """Let workers be silent for a minute; TensorFlow would give up after ten seconds, too soon on a busy machine."""
    from tensorflow.python.eager import context  # only on ranks; there is no public API

    # The module of this class has moved since TensorFlow 2.15; this name has stayed the same.
    workers = context.coordination_config_pb2.CoordinatedJob(name="worker", num_tasks=num_workers)
    context.context().configure_coordination_service(
        service_type="standalone",
        service_leader="/job:worker/replica:0/task:0",
        heartbeat_timeout_in_ms=60_000,
        coordinated_jobs=[workers],
    )
