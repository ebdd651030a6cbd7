"""Drivers of lab 03's updates: on a rank, they train with the answer's optimiser, and with its custom step."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from coursekit.drivers import probe_model
from coursekit.drivers.calls import Answer, Array, eager_fit, hvd, hvd_keras, require_number, require_returned, tf
from coursekit.drivers.lab03_data import in_mixed_precision, with_names
from coursekit.drivers.probe_model import MOMENTUM, NUM_OTHERS, RATE, arrays, compiled, own_batches

NUM_STEPS = 7  # with an optimiser, and with a custom step
LATE = 100_000  # the step count for the second half of an optimiser's steps
NUM_GROUPS = 2  # different from the notebook's


@eager_fit()
def use_optimizer(make_optimizer: Answer, rates: Mapping[str, float], starts: Array) -> dict[str, Any]:
    """Train with the answer's optimiser; return what the probe saw, and how many messages carry the gradients.

    "paths" has, for each compression in `rates`, the weights before and after each step with this rank's "pulls", at
    the rate given there. The path "mixed" is without compression, but with a policy of mixed precision. "messages" has
    an entry for each of three values of `num_groups`; see `_with_groups`.
    """
    records = probe_model.watch()
    start = hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0)
    with with_names(make_optimizer, num_groups=NUM_GROUPS):
        network = compiled(_optimizer(make_optimizer, RATE, "none"), num_others=NUM_OTHERS)
        network.fit(own_batches(NUM_STEPS), callbacks=[start], verbose=0)
        paths = {name: _path(_optimizer(make_optimizer, rate, name), starts) for name, rate in rates.items()}
        with in_mixed_precision(make_optimizer):
            mixed = _optimizer(make_optimizer, rates["none"], "none")
        paths["mixed"] = _path(mixed, starts)
    messages = [(NUM_GROUPS, _messages(network), ""), *(_with_groups(make_optimizer, number) for number in (1, 0))]
    return {"records": records, "messages": messages, "paths": paths}


def _with_groups(make_optimizer: Answer, num_groups: int) -> tuple[int, dict[str, int], str]:
    """Return this number of groups, and the messages that the answer's optimiser then sends, or what it raises."""
    try:
        with with_names(make_optimizer, num_groups=num_groups):
            optimizer = make_optimizer(RATE)
        return num_groups, _messages(compiled(optimizer, num_others=NUM_OTHERS)), ""
    except Exception as error:  # noqa: BLE001  # it can raise anything
        return num_groups, {}, f"{type(error).__name__}: {error}"


def _optimizer(make_optimizer: Answer, rate: float, compression: str) -> Any:
    optimizer = make_optimizer(rate, compression)
    # None must be refused here, because `compiled` would replace it by its own optimiser, which is right.
    is_optimizer = isinstance(optimizer, (tf.keras.optimizers.Optimizer, tf.keras.optimizers.legacy.Optimizer))
    require_returned(make_optimizer, optimizer, fits=is_optimizer, expected="an optimiser of tf.keras")
    return optimizer


def _path(optimizer: Any, starts: Array) -> Array:
    """Return the weights before and after each step of a loss whose gradients are this rank's "pulls".

    The shape is (num_steps + 1, *starts.shape). In the second half of the steps, the step count is large, to show
    anything that acts only late in training.
    """
    weights = [tf.Variable(start) for start in starts]
    pulls = probe_model.private_input()["pulls"]
    path = [np.array(weights)]
    for step, of_step in enumerate(pulls):
        if step == len(pulls) // 2:
            optimizer.iterations.assign(LATE)
        with tf.GradientTape() as tape:
            loss = tf.add_n([tf.reduce_sum(weight * pull) for weight, pull in zip(weights, of_step)])
        optimizer.minimize(loss, weights, tape=tape)
        path.append(np.array([weight.numpy() for weight in weights]))
    return np.array(path)


def _messages(network: Any) -> dict[str, int]:
    """Return how many allreduces of single tensors and of groups a step's graph has; the graph is not run."""

    @tf.function(autograph=False)  # type: ignore[untyped-decorator]  # TensorFlow has no types
    def step(images: Any, labels: Any) -> None:
        with tf.GradientTape() as tape:
            loss = network.compute_loss(images, labels, network(images, training=True))
        network.optimizer.minimize(loss, network.trainable_variables, tape=tape)

    graph = step.get_concrete_function(*map(tf.constant, arrays([0]))).graph.as_graph_def()
    nodes = [node.op for node in (*graph.node, *(node for part in graph.library.function for node in part.node_def))]
    return {"single": nodes.count("HorovodAllreduce"), "grouped": nodes.count("HorovodGroupedAllreduce")}


def _scale_layer() -> Any:
    """Return a layer that multiplies by its only weight, which is 1 at first, and is not to be trained."""

    class Scale(tf.keras.layers.Layer):  # type: ignore[misc]  # TensorFlow has no types
        def build(self, _: Any) -> None:
            self.scale = self.add_weight("scale", (), initializer="ones")

        def call(self, values: Any) -> Any:
            return self.scale * values

    return Scale(trainable=False)


def use_step(make_step: Answer) -> dict[str, Any]:
    """Train with the answer's custom step; count how often its Python code ran, and note whether it ran eagerly.

    The loss of each step is multiplied by one of this rank's "factors". "momenta" has the optimiser's momenta, if the
    answer uses the optimiser; "frozen" has the weight, at first 1, of a layer that must not be trained.
    """
    make_step(compiled(), tf.keras.optimizers.SGD(RATE), tf.keras.losses.MeanSquaredError())  # another step, not used
    records = probe_model.watch()
    network = compiled(num_others=NUM_OTHERS)
    frozen = _scale_layer()
    network = tf.keras.Sequential([network, frozen])
    hvd.broadcast_variables(network.variables, root_rank=0)
    optimizer = tf.keras.optimizers.SGD(RATE, momentum=MOMENTUM)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    factor = tf.Variable(1.0, trainable=False)
    num_calls, is_eager = 0, False

    def counted_loss(labels: Any, logits: Any) -> Any:
        nonlocal num_calls, is_eager
        num_calls += 1
        is_eager = tf.executing_eagerly()
        return factor * loss_of(labels, logits)

    apply = optimizer.apply_gradients
    in_python: list[bool] = []  # for each call: whether the update is not part of a compiled function

    def watched(*args: Any, **options: Any) -> Any:
        in_python.append(tf.executing_eagerly())
        return apply(*args, **options)

    optimizer.apply_gradients = watched
    step = make_step(network, optimizer, counted_loss)
    require_returned(make_step, step, fits=callable(step), expected="a function")
    losses = []
    factors = probe_model.private_input()["factors"]
    for (images, labels), of_step in zip(own_batches(len(factors)), factors):
        factor.assign(of_step)
        losses.append(require_number(step, step(images, labels), "a loss, one number,"))
    momenta = [one.numpy() for one in optimizer.variables if one.shape == (probe_model.NUM_CLASSES,)]
    return {
        "records": records,
        "losses": losses,
        "num_traces": num_calls,
        "is_eager": is_eager,
        "updates_eagerly": any(in_python),
        "momenta": np.concatenate([*momenta, []]),
        "frozen": float(frozen.scale),
    }
