"""What the checks of lab 03 do on a rank: train a probe model with Keras, one piece being the answer's."""

import operator
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coursekit.drivers import lab02, places, probe_model
from coursekit.drivers.calls import (
    Answer,
    eager_fit,
    hvd,
    hvd_keras,
    require_entries,
    require_number,
    require_numbers,
    require_returned,
    require_values,
    tf,
)
from coursekit.drivers.probe_model import MOMENTUM, NUM_OTHERS, RATE, arrays, batches, compiled, own_batches
from coursekit.pictures.tensorboard import events_in

NUM_STEPS = 7  # of an optimiser, and of a step of one's own
PLANNED = ("the batch size", "the rate", "the steps")
NUM_EPOCHS = 4
STEPS_PER_EPOCH = 2
NUM_STEPS_BEFORE, NUM_STEPS_AFTER = 5, 4  # a checkpoint
EPOCHS_DONE = "the number of completed epochs"


def all_plans(plan: Answer, cases: Sequence[Sequence[Any]]) -> list[list[float]]:
    """Return the numbers that the answer plans in each case; whole numbers stay whole."""
    plans = []
    for case in cases:
        numbers = plan(*case)
        require_values(plan, numbers, "a tuple of batch size, rate and steps", len(PLANNED))
        plans.append([_plain_number(plan, *pair) for pair in zip(numbers, PLANNED)])
    return plans


def _plain_number(plan: Answer, number: Any, what: str) -> float:
    try:
        return operator.index(number)
    except TypeError:
        return require_number(plan, number, part=what)


def all_rates(warmed_up: Answer, cases: Sequence[Sequence[Any]]) -> list[float]:
    """Return the answer's rate in each case."""
    return [require_number(warmed_up, warmed_up(*case)) for case in cases]


@eager_fit()
def use_optimizer(make_optimizer: Answer) -> dict[str, Any]:
    """Train with each compression; return what the probes saw, and in which messages the gradients travel."""
    seen: dict[str, Any] = {}
    for compression in ("none", "fp16"):
        records = probe_model.watch()
        start = hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0)
        optimizer = make_optimizer(RATE, compression)
        # `compiled` takes None for its own optimiser, which is right.
        is_optimizer = isinstance(optimizer, (tf.keras.optimizers.Optimizer, tf.keras.optimizers.legacy.Optimizer))
        require_returned(make_optimizer, optimizer, fits=is_optimizer, expected="a Keras optimiser")
        network = compiled(optimizer, num_others=NUM_OTHERS)
        network.fit(own_batches(NUM_STEPS), callbacks=[start], verbose=0)
        seen[compression] = records
    return {**seen, "messages": _messages(network)}


def _messages(network: Any) -> dict[str, int]:
    """Return how many allreduces of single tensors and of groups the graph of a step has, which is not run."""

    @tf.function(autograph=False)  # type: ignore[untyped-decorator]  # TensorFlow has no types
    def step(images: Any, labels: Any) -> None:
        with tf.GradientTape() as tape:
            loss = network.compute_loss(images, labels, network(images, training=True))
        network.optimizer.minimize(loss, network.trainable_variables, tape=tape)

    graph = step.get_concrete_function(*map(tf.constant, arrays([0]))).graph.as_graph_def()
    nodes = [node.op for node in (*graph.node, *(node for part in graph.library.function for node in part.node_def))]
    return {"single": nodes.count("HorovodAllreduce"), "grouped": nodes.count("HorovodGroupedAllreduce")}


@eager_fit()
def use_callbacks(make_callbacks: Answer) -> dict[str, Any]:
    """Train with the answer's callbacks in this rank's own folder; return what the probes saw, and what is written."""
    folder = places.here().own
    callbacks = make_callbacks(folder)
    is_list = isinstance(callbacks, (list, tuple))
    require_returned(make_callbacks, callbacks, fits=is_list, expected="a list of callbacks")
    for number, one in enumerate(callbacks):
        fits = isinstance(one, tf.keras.callbacks.Callback)
        require_returned(make_callbacks, one, fits=fits, expected="a callback", part=f"entry {number}")
    records = probe_model.watch()
    settings = {"steps_per_epoch": STEPS_PER_EPOCH, "epochs": NUM_EPOCHS, "callbacks": callbacks, "verbose": 0}
    history = compiled().fit(own_batches(NUM_EPOCHS * STEPS_PER_EPOCH), **settings)
    logs = folder / "logs"
    events = [event for one in (logs, *filter(Path.is_dir, logs.rglob("*"))) for event in events_in(one)]
    checkpoint = tf.train.latest_checkpoint(folder)
    names = [name for name, _ in tf.train.list_variables(checkpoint)] if checkpoint else []
    return {
        "records": records,
        "losses": [float(loss) for loss in history.history["loss"]],
        "logged": [event.value for event in events if event.tag == "epoch_loss"],
        "has_momenta": any("optimizer" in name and "_variables" in name for name in names),
    }


@eager_fit()
def use_resume(resume: Answer, last_epoch: int) -> dict[str, Any]:
    """Train, save on rank 0, and let the answer continue a fresh network; also in a folder without a checkpoint.

    Every rank has a folder of its own, so that rank 0 alone sees the checkpoint.
    """
    where = places.here().own
    from_nothing = resume(compiled(), where / "nothing-here")
    records = probe_model.watch()
    network = compiled()
    start = hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0)
    own = own_batches(NUM_STEPS_BEFORE)
    network.fit(own, callbacks=[start], verbose=0)
    for epoch in (last_epoch - 1, last_epoch):  # the newest of several is asked for
        if hvd.rank() == 0:
            network.save_weights(where / f"epoch-{epoch:03d}")
        network.fit(own, verbose=0)
    hvd.broadcast_object("all saved", root_rank=0)
    after = probe_model.watch()
    again = compiled()
    num_epochs = resume(again, where)
    again.fit(own_batches(NUM_STEPS_AFTER), verbose=0)
    return {
        "from_nothing": int(require_number(resume, from_nothing, EPOCHS_DONE)),
        "num_epochs": int(require_number(resume, num_epochs, EPOCHS_DONE)),
        "before": records[: 2 * NUM_STEPS_BEFORE + 1],
        "after": after,
        "num_steps": int(again.optimizer.iterations),
    }


def use_evaluate(evaluate: Answer) -> dict[str, Any]:
    """Evaluate a probe on this rank's samples."""
    records = probe_model.watch()
    # Not eagerly: Keras gives other results then for an epoch without a batch.
    result = evaluate(compiled(), batches(probe_model.private_input()["samples"], batch_size=3))
    return {"result": require_entries(evaluate, result), "records": records}


@eager_fit()
def use_train(
    train: Answer, runs: Sequence[Mapping[str, Any]]
) -> list[tuple[dict[str, Any], list[probe_model.Record]]]:
    """Train, and train on, in one folder with each of these settings; return each result with what the probes saw.

    The entry "num_calls" of a result says in how many epochs the callback was called that the answer was given, and
    "is_pinned_first" whether the answer asked for GPUs, or pinned one otherwise, before it built the network.
    """
    files = probe_model.own_files("train"), probe_model.own_files("validation"), places.here().shared / "training"
    return [_train_once(train, files, settings) for settings in runs]


def _train_once(
    train: Answer, files: Any, settings: Mapping[str, Any]
) -> tuple[dict[str, Any], list[probe_model.Record]]:
    records = probe_model.watch()
    called: list[int] = []
    pinned: list[bool] = []
    listener = tf.keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, _: called.append(epoch))
    with lab02.watched_pinning(train) as is_pinned:

        def build() -> Any:
            pinned.append(is_pinned())
            return probe_model.network(np.shape(probe_model.private_input()["starts"])[-1], NUM_OTHERS)

        result = train(build, *files, dict(settings), [listener])
    require_returned(train, result, fits=isinstance(result, Mapping), expected="a dictionary")
    return {**_plain(train, dict(result)), "num_calls": len(called), "is_pinned_first": all(pinned)}, records


def _plain(train: Answer, result: dict[str, Any]) -> dict[str, Any]:
    """Return the entries of a training's result that checks ask for, as plain numbers."""
    plain: dict[str, Any] = {}
    if "history" in result:
        history, part = result["history"], "'history'"
        expected = "a dictionary of lists, network.fit(…).history,"
        require_returned(train, history, fits=isinstance(history, Mapping), expected=expected, part=part)
        plain["history"] = {}
        for name, values in history.items():
            numbers = require_numbers(train, values, "a number for each epoch", f"{name!r} of {part}")
            plain["history"][str(name)] = np.ravel(numbers).tolist()
    if "validation" in result:
        plain["validation"] = require_entries(train, result["validation"], "'validation'")
    if "num_steps" in result:
        plain["num_steps"] = require_number(train, result["num_steps"], part="'num_steps'")
    return plain


def use_step(make_step: Answer) -> dict[str, Any]:
    """Make steps of the answer's own; count how often their Python code ran, and tell whether it was in a graph."""
    records = probe_model.watch()
    network = compiled(num_others=NUM_OTHERS)
    hvd.broadcast_variables(network.variables, root_rank=0)
    optimizer = tf.keras.optimizers.SGD(RATE, momentum=MOMENTUM)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    num_calls, is_eager = 0, False

    def counted_loss(labels: Any, logits: Any) -> Any:
        nonlocal num_calls, is_eager
        num_calls += 1
        is_eager = tf.executing_eagerly()
        return loss_of(labels, logits)

    step = make_step(network, optimizer, counted_loss)
    require_returned(make_step, step, fits=callable(step), expected="a function")
    losses = []
    for images, labels in own_batches(NUM_STEPS):
        losses.append(require_number(step, step(images, labels), "a loss, one number,"))
    return {"records": records, "losses": losses, "num_traces": num_calls, "is_eager": is_eager}
