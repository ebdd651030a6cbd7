"""What the checks of lab 04's last section do on a rank: train with a strategy of TensorFlow's, without Horovod."""

from __future__ import annotations

import json
import os
import socket
import time
from typing import TYPE_CHECKING, Any

from coursekit.drivers import places, spy
from coursekit.drivers.estimator_ranks import TRAIN_BATCH_SIZE, build, params, quiet

if TYPE_CHECKING:
    from collections.abc import Callable

NUM_STEPS = 5


def rank() -> int:
    """Return the number of this process, which `ranks.run` gives it."""
    return int(os.environ["HOROVOD_RANK"])


def free_host() -> str:
    """Return an address on this machine with a port that is free now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{one.getsockname()[1]}"


def hosts_of_all(num_ranks: int) -> list[str]:
    """Return an address of each rank; they tell each other by files, as TensorFlow must not compute anything yet."""
    shared = places.here().shared
    part = shared / f"host-{rank()}.part"
    part.write_text(free_host())
    part.rename(shared / f"host-{rank()}")
    paths = [shared / f"host-{number}" for number in range(num_ranks)]
    while not all(path.exists() for path in paths):
        time.sleep(0.01)
    return [path.read_text() for path in paths]


def use_strategy(train_with_strategy: Callable[..., Any], num_ranks: int) -> dict[str, Any]:
    """Train with the answer's strategy on this worker, without Horovod.

    Returns what the spy saw, and how many steps a callback saw; None where no network was trained by `fit`.
    """
    import horovod.tensorflow as hvd  # noqa: PLC0415  # on ranks only
    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    hvd.shutdown()
    quiet()
    hosts = hosts_of_all(num_ranks)
    files = spy.own_files_by_child()  # a strategy must be made before TensorFlow computes anything
    os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": rank()}})
    _be_patient(len(hosts))
    networks, seen_steps = [], []

    def build_one() -> Any:
        networks.append(build())
        return networks[-1]

    sights = spy.watch()
    settings = params(batch_size=TRAIN_BATCH_SIZE, build=build_one)
    callback = tf.keras.callbacks.LambdaCallback(on_train_batch_end=lambda step, _: seen_steps.append(step))
    train_with_strategy(files, NUM_STEPS * len(hosts), settings, callbacks=[callback])
    is_fitted = any(getattr(network, "history", None) is not None for network in networks)
    return {"sights": list(sights), "num_callback_calls": len(seen_steps) if is_fitted or seen_steps else None}


def _be_patient(num_workers: int) -> None:
    """Let workers be silent for a minute: on a busy machine TensorFlow's ten seconds take slow ones for dead."""
    from tensorflow.python.eager import context  # noqa: PLC0415  # on ranks only; there is no public way
    from tensorflow.tsl.protobuf import coordination_config_pb2  # noqa: PLC0415  # the same

    workers = coordination_config_pb2.CoordinatedJob(name="worker", num_tasks=num_workers)
    context.context().configure_coordination_service(
        service_type="standalone",
        service_leader="/job:worker/replica:0/task:0",
        heartbeat_timeout_in_ms=60_000,
        coordinated_jobs=[workers],
    )
