"""The work of a benchmark's ranks: they take training steps of several kinds in turns, and time them."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from coursekit import ranks
from coursekit.imagenet.networks import build_network

Step = Callable[[], object]

NUM_RANKS = 2
TIMEOUT_S = 300.0
NUM_CLASSES = 1000
FULL_SPEED = "no communication"


@dataclass(frozen=True)
class Case:
    """What is trained, and how many steps of each kind are taken."""

    network: str  # a name that `build_network` knows
    image_size: int  # height and width, in pixels
    batch_size: int  # images per rank and step
    num_turns: int  # how often all kinds of steps have a turn
    num_steps: int  # steps of one kind in a turn

    def in_turns(self, num_turns: int) -> Case:
        """Return the case with another number of turns."""
        return replace(self, num_turns=num_turns)


@dataclass(frozen=True)
class Setting:
    """How two ranks communicate."""

    name: str  # in words
    environ: Mapping[str, str] = field(default_factory=dict)  # environment variables for the ranks
    optimizer: Mapping[str, Any] = field(default_factory=dict)  # arguments of Horovod's optimiser
    bound: bool = False  # whether each rank keeps to its own cores
    # Whether variables are made before the first step, which is then traced only once, not twice.
    traced_once: bool = False


def cores_of(local_rank: int, num_ranks: int, cores: set[int]) -> set[int]:
    """Return the cores of one rank if they are divided evenly; all cores if there are fewer cores than ranks."""
    share = len(cores) // num_ranks
    own = sorted(cores)[local_rank * share : (local_rank + 1) * share]
    return set(own) or cores


def bind_to_cores() -> None:
    """Bind this rank, and every thread that it starts from now on, to its own cores; call this before `hvd.init`."""
    place = int(os.environ["HOROVOD_LOCAL_RANK"]), int(os.environ["HOROVOD_LOCAL_SIZE"])
    os.sched_setaffinity(0, cores_of(*place, os.sched_getaffinity(0)))


def on_two_ranks(case: Case, setting: Setting) -> dict[str, list[float]]:
    """Run `compare_with_no_communication` on two ranks without GPUs; return the result of `mean_over_ranks`."""
    return mean_over_ranks(run_steps(compare_with_no_communication, case, setting, environ=setting.environ))


def run_steps(function: Callable[..., Any], *args: Any, environ: Mapping[str, str]) -> list[dict[str, list[float]]]:
    """Call a function on two ranks without GPUs and return the timings of both."""
    limits: dict[str, Any] = {"num_ranks": NUM_RANKS, "timeout_s": TIMEOUT_S, "use_gpus": False, "show_output": False}
    timings: list[dict[str, list[float]]] = ranks.run(function, *args, environ=environ, **limits)
    return timings


def mean_over_ranks(everyone: list[dict[str, list[float]]]) -> dict[str, list[float]]:
    """Return the seconds of every step, averaged over the ranks, for each kind of step."""
    return {name: [statistics.mean(step) for step in zip(*(one[name] for one in everyone))] for name in everyone[0]}


def compare_with_no_communication(case: Case, setting: Setting) -> dict[str, list[float]]:
    """Train with a plain optimiser and with Horovod's, in turns; return the seconds of this rank's steps."""
    if setting.bound:
        bind_to_cores()
    import horovod.tensorflow.keras as hvd  # ranks have imported it, but the benchmark's process has not

    limit_threads()
    hvd.init()
    batch = memory_batch(case)

    def kind(wrap: Callable[[Any], Any]) -> Step:
        return training_step(compiled_network(case, wrap, traced_once=setting.traced_once), repeated(batch))

    return time_in_turns(
        case,
        {
            FULL_SPEED: lambda: kind(lambda optimizer: optimizer),
            setting.name: lambda: kind(lambda optimizer: hvd.DistributedOptimizer(optimizer, **setting.optimizer)),
        },
    )


def limit_threads() -> None:
    """Limit TensorFlow to one thread for computing."""
    import tensorflow as tf  # as above

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)


def memory_batch(case: Case) -> tuple[Any, Any]:
    """Return random images, shape (batch, image_size, image_size, 3), and labels, shape (batch,)."""
    import tensorflow as tf  # as above

    images = tf.random.uniform((case.batch_size, case.image_size, case.image_size, 3), -1, 1)
    return images, tf.random.uniform((case.batch_size,), 0, NUM_CLASSES, tf.int32)


def repeated(batch: tuple[Any, Any]) -> Any:
    """Return a data set that yields the same batch for ever."""
    import tensorflow as tf  # as above

    return tf.data.Dataset.from_tensors(batch).repeat()


def compiled_network(case: Case, wrap: Callable[[Any], Any], *, traced_once: bool) -> Any:
    """Return the compiled network, with all variables if `traced_once`; `wrap` is called with a plain optimiser."""
    import tensorflow as tf  # as above

    network = build_network(case.network, case.image_size, NUM_CLASSES)
    optimizer = wrap(tf.keras.optimizers.SGD(0.001, momentum=0.9))
    network.compile(optimizer, tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    if traced_once:
        make_variables(network)
    return network


def training_step(network: Any, dataset: Any) -> Step:
    """Return a function that takes one step on the data set's next batch, as `model.fit` does."""
    function, batches = network.make_train_function(), iter(dataset)
    return lambda: float(function(batches)["loss"])


def make_variables(network: Any) -> None:
    """Make the variables of a compiled network that Keras would make in the first step.

    TensorFlow traces a step twice if the first trace makes variables.
    """
    import tensorflow as tf  # as above

    network.optimizer.build(network.trainable_variables)
    labels, outputs = tf.zeros((1,), tf.int32), tf.zeros((1, network.output_shape[-1]))
    network.compute_loss(None, labels, outputs)
    network.compute_metrics(None, labels, outputs, None)
    network.reset_metrics()


def time_in_turns(case: Case, kinds: dict[str, Callable[[], Step]]) -> dict[str, list[float]]:
    """Take steps of each kind in turns, all ranks starting together; return their seconds, first step first."""
    import horovod.tensorflow as hvd  # as above
    import tensorflow as tf  # as above

    steps: dict[str, Step] = {}
    seconds: dict[str, list[float]] = {}
    for name, make in kinds.items():
        steps[name] = make()
        seconds[name] = [seconds_of(steps[name])]
    for _ in range(case.num_turns):
        for name, step in steps.items():
            step()  # not timed, because the caches hold the other kind's data
            hvd.allreduce(tf.zeros(()), name="turn")
            seconds[name] += [seconds_of(step) for _ in range(case.num_steps)]
    return seconds


def seconds_of(step: Step) -> float:
    """Return how long a step takes."""
    begin = time.perf_counter()
    step()
    return time.perf_counter() - begin
