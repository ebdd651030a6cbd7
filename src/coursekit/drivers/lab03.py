"""Drivers for lab 03: each runs on a rank and trains a probe model with Keras, using one piece of the answer."""

import operator
import shutil
from collections.abc import Callable, Mapping, Sequence
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
from coursekit.drivers.lab03_data import load_as_asked, with_names
from coursekit.drivers.probe_model import NUM_OTHERS, batches, compiled, own_batches
from coursekit.pictures.tensorboard import events_in

PLANNED = ("the batch size", "the rate", "the steps")
NUM_EPOCHS = 7  # enough for a rank to stop after three epochs without progress
STEPS_PER_EPOCH = 2
EVALUATED_BATCH = 256
NUM_STEPS_BEFORE, NUM_STEPS_AFTER = 5, 4  # before and after a checkpoint
EPOCHS_DONE = "the number of completed epochs"
# Parameters of the notebook that an answer gets as arguments, if it may use them at all: these values are wrong ones.
NOT_ASKED = {
    "batch_size": 5,
    "global_batch_size": 30,
    "learning_rate": 7.0,
    "num_warmup_epochs": 5,
    "max_num_steps": 1,
    "compression": "fp8",
}


def all_plans(plan: Answer, cases: Sequence[Sequence[Any]]) -> list[list[float]]:
    """Return the numbers that the answer plans in each case; whole numbers stay whole."""
    plans = []
    for case in cases:
        with with_names(plan, **NOT_ASKED):
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
    with with_names(warmed_up, **NOT_ASKED):
        return [require_number(warmed_up, warmed_up(*case)) for case in cases]


@eager_fit()
def use_callbacks(make_callbacks: Answer) -> dict[str, Any]:
    """Train with the answer's callbacks in this rank's own folder; return what the probe saw, and what was written."""
    folder = places.here().own
    # Another training run in this process comes first; it must leave nothing behind.
    compiled().fit(own_batches(1), callbacks=_callbacks(make_callbacks, folder / "earlier"), verbose=0)
    shutil.rmtree(folder / "earlier", ignore_errors=True)
    callbacks = _callbacks(make_callbacks, folder)
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


def _callbacks(make_callbacks: Answer, folder: Path) -> list[Any]:
    callbacks = make_callbacks(folder)
    is_list = isinstance(callbacks, (list, tuple))
    require_returned(make_callbacks, callbacks, fits=is_list, expected="a list of callbacks")
    for number, one in enumerate(callbacks):
        fits = isinstance(one, tf.keras.callbacks.Callback)
        require_returned(make_callbacks, one, fits=fits, expected="a callback", part=f"entry {number}")
    return list(callbacks)


@eager_fit()
def use_resume(resume: Answer, last_epoch: int) -> dict[str, Any]:
    """Let the answer resume without a checkpoint; then train, save on rank 0, and let it resume with a fresh network.

    Every rank has a separate folder, so that only rank 0 sees the checkpoint and the folder that holds it.
    """
    where = places.here().own / "resnet-50"  # this number in the path is not an epoch
    if hvd.rank() == 0:
        where.mkdir()
    from_nothing = resume(compiled(has_statistics=True), where / "nothing-here")
    records = probe_model.watch()
    network = compiled(has_statistics=True)
    start = hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0)
    own = own_batches(NUM_STEPS_BEFORE)
    network.fit(own, callbacks=[start], verbose=0)
    # The answer must choose the newest of several, which is neither the first nor the last by name.
    for epochs in (last_epoch // 10, last_epoch - 1), (last_epoch,):
        for epoch in epochs if hvd.rank() == 0 else ():
            network.save_weights(where / f"epoch-{epoch:03d}")
        network.fit(own, verbose=0)
    hvd.broadcast_object("all saved", root_rank=0)
    after = probe_model.watch()
    again = compiled(has_statistics=True)
    num_epochs = resume(again, where)
    statistics = [variable.numpy() for variable in again.non_trainable_variables]
    again.fit(own_batches(NUM_STEPS_AFTER), verbose=0)
    return {
        "from_nothing": int(require_number(resume, from_nothing, EPOCHS_DONE)),
        "num_epochs": int(require_number(resume, num_epochs, EPOCHS_DONE)),
        "before": records[: 2 * NUM_STEPS_BEFORE + 1],
        "after": after,
        "num_steps": int(again.optimizer.iterations),
        "statistics": np.concatenate(statistics),
    }


def use_evaluate(evaluate: Answer) -> dict[str, Any]:
    """Evaluate a probe on this rank's samples."""
    records = probe_model.watch()
    # Not eagerly: for an epoch without a batch, Keras would then return other results.
    with with_names(evaluate, **NOT_ASKED):
        result = evaluate(compiled(), batches(probe_model.private_input()["samples"], EVALUATED_BATCH))
    numbers = require_entries(evaluate, result)
    for name, number in dict(result).items():
        require_returned(evaluate, number, fits=isinstance(number, float), expected="a float", part=repr(str(name)))
    return {"result": numbers, "records": records}


@eager_fit()
def use_train(
    train: Answer, runs: Sequence[Mapping[str, Any]]
) -> list[tuple[dict[str, Any], list[probe_model.Record]]]:
    """Train in one folder with each of these settings in turn; return each result with what the probe saw.

    In a result, "heard" has the epoch losses that reached the callback passed to the answer; "is_warmed_late" says
    whether a batch got its rate only after that callback; "is_pinned_first" says whether the answer asked for GPUs, or
    pinned one in another way, before it built the network.
    """
    files = probe_model.own_files("train"), probe_model.own_files("validation"), places.here().shared / "training"
    kinds = list, tuple  # of more_callbacks
    return [_train_once(train, files, settings, kinds[number % 2]) for number, settings in enumerate(runs)]


def _listener(losses: list[float], late: list[bool]) -> Any:
    """Return a callback that records the loss of each epoch, and whether a batch gets its rate only after it."""
    rate = [0.0]

    def begin(*_: Any, **__: Any) -> None:
        rate[0] = float(listener.model.optimizer.learning_rate)

    listener: Any = tf.keras.callbacks.LambdaCallback(
        on_batch_begin=begin,
        on_batch_end=lambda *_, **__: late.append(float(listener.model.optimizer.learning_rate) != rate[0]),
        on_epoch_end=lambda _, logs: losses.append(float((logs or {}).get("loss", np.nan))),
    )
    return listener


def _train_once(
    train: Answer, files: Any, settings: Mapping[str, Any], kind: Callable[[list[Any]], Any]
) -> tuple[dict[str, Any], list[probe_model.Record]]:
    records = probe_model.watch()
    pinned: list[bool] = []
    losses: list[float] = []
    late: list[bool] = []
    listener = _listener(losses, late)
    # Other answers, which train calls, have their own tests for a limit that they should not know.
    names = {**NOT_ASKED, "max_num_steps": 0, "load_picture": load_as_asked}
    with lab02.watched_pinning(train) as is_pinned, with_names(train, **names):

        def build() -> Any:
            pinned.append(is_pinned())
            return probe_model.network(np.shape(probe_model.private_input()["starts"])[-1], NUM_OTHERS)

        result = train(build, *files, dict(settings), kind([listener]))
    require_returned(train, result, fits=isinstance(result, Mapping), expected="a dictionary")
    heard = {"heard": losses, "is_warmed_late": any(late), "is_pinned_first": all(pinned)}
    return {**_plain(train, dict(result)), **heard}, records


def _plain(train: Answer, result: dict[str, Any]) -> dict[str, Any]:
    """Return the entries of a training result that checks need, as plain numbers."""
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
