"""Drivers for lab 04's whole training and its evaluation; each of them runs on a rank.

The judge's correct pieces stand in for those that are not on trial.
"""

import inspect
import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any
from unittest import mock

from coursekit.drivers import places, probe_model
from coursekit.drivers.calls import Answer, WrongReturnError, hvd, require_entries, tf
from coursekit.drivers.lab04 import TRAIN_BATCH_SIZE, build, build_for_groups, params, plain_model
from coursekit.drivers.probe_model import batches

Calls = list[tuple[Any, dict[str, Any]]]  # of an answer's pieces: what each returned, and its arguments by name

FOLDER = "training"  # of a training run; each rank has its own
RATE_OF_ANSWER, NUM_STEPS_OF_ANSWER = 20.0, 2  # with these, a probe learns to always give one answer
MOST_STEPS_OF_EVALUATION = 100  # a right one takes fewer, because there are fewer images


@contextmanager
def supplied(answer: Answer, source: str) -> Iterator[Calls]:
    """Give the answer the functions in this source instead of the notebook's functions; yield the calls of the pieces.

    The source comes as text with each call, because an answer could read and copy functions in a driver.
    """
    found: dict[str, Any] = {}
    exec(source, found)  # noqa: S102  # the judge's own
    notebook, calls = getattr(inspect.unwrap(answer), "__globals__", {}), Calls()
    functions = {name: piece for name, piece in found.items() if inspect.isfunction(piece)}
    for name in ("input_fn", "make_run_config"):
        piece = functions.get(name, notebook.get(name))
        if inspect.isfunction(piece):
            functions[name] = _noting(piece, calls)
    with mock.patch.dict(notebook, functions):
        yield calls


def _noting(piece: Any, calls: Calls) -> Any:
    @wraps(piece)
    def noted(*args: Any, **options: Any) -> Any:
        result = piece(*args, **options)
        calls.append((result, inspect.signature(piece).bind(*args, **options).arguments))
        return result

    return noted


def changed(settings: Mapping[str, Any], calls: Calls, estimator: Any = None) -> list[str]:
    """Return which of the `params` did not reach the input function (or the Estimator, if there is one) unchanged.

    The input function may get another batch size, because the records show its effect.
    """
    for_data = {name: settings[name] for name in ("image_size", "seed")}
    got = [(for_data, given["params"]) for _, given in calls if isinstance(given.get("params"), Mapping)]
    if isinstance(getattr(estimator, "params", None), Mapping):
        got.append((dict(settings), estimator.params))
    return sorted({name for wanted, given in got for name in wanted if given.get(name) != wanted[name]})


def _not_handed_over(config: Any, calls: Calls) -> list[str]:
    """Return the settings in which the Estimator's configuration differs from the one that was made for it."""
    made = [result for result, _ in calls if isinstance(result, tf.estimator.RunConfig)][-1:]
    names = ("tf_random_seed", "save_checkpoints_steps", "save_checkpoints_secs")
    return [name for one in made for name in names if getattr(one, name) != getattr(config, name, None)]


def use_train(train: Answer, phases: Sequence[tuple[str, int]], pieces: str) -> dict[str, dict[str, Any]]:
    """Train with these pieces, and continue in the same folder in each further phase; return the results by phase.

    Each of `phases` has a name and the number of steps that a rank has taken by its end.
    The folder has the same name on all ranks but is a different one on each, as on the disks of several nodes.
    """
    tf.get_logger().setLevel("ERROR")
    files = probe_model.own_files()
    found = {}
    for phase, num_steps in phases:
        records, hooks = probe_model.watch(), [tf.estimator.SessionRunHook() for _ in range(2)]
        for hook in hooks:
            hook.after_run = mock.Mock(return_value=None)
        # The judge's model function does not group gradients.
        settings = params(batch_size=TRAIN_BATCH_SIZE, build=build if pieces else build_for_groups)
        with supplied(train, pieces) as calls:
            estimator = train(list(files), FOLDER, num_steps * hvd.size(), dict(settings), hooks=list(hooks))
        run_config = getattr(estimator, "config", None)
        config = getattr(run_config, "session_config", None)
        is_there = Path(str(getattr(estimator, "model_dir", ""))).resolve() == Path(FOLDER).resolve()
        found[phase] = {
            "records": records,
            "num_hook_calls": min(hook.after_run.call_count for hook in hooks),
            "is_estimator": hasattr(estimator, "evaluate"),
            "visible": str(config.gpu_options.visible_device_list) if config is not None else "",
            "changed": changed(settings, calls, estimator),
            "not_handed_over": _not_handed_over(run_config, calls),
            "writes": is_there or any(path.is_file() for path in Path(FOLDER).glob("*")),
        }
    return found


def use_evaluate(evaluate: Answer, answer: int, pieces: str) -> dict[str, Any]:
    """Evaluate a probe with these pieces; only rank 0 has trained it, to always predict `answer`.

    Returns the result and what the probes saw.
    """
    tf.get_logger().setLevel("ERROR")
    probe_model.watch()
    where = str(places.here().shared / "training")
    config = tf.estimator.RunConfig(model_dir=where if hvd.rank() == 0 else None, checkpoint_save_graph_def=False)
    settings = params(learning_rate=RATE_OF_ANSWER)
    estimator = tf.estimator.Estimator(plain_model, config=config, params=settings)
    if hvd.rank() == 0:
        estimator.train(lambda: batches([answer]).repeat(), steps=NUM_STEPS_OF_ANSWER)
    end_endless(estimator)
    records = probe_model.watch()
    with supplied(evaluate, pieces) as calls:
        result = evaluate(estimator, probe_model.own_files(), dict(settings))
    if hvd.rank() and isinstance(result, Mapping):  # only rank 0 has to return something
        result = {name: value for name, value in result.items() if value is not None} or None
    return {
        "result": None if result is None else require_entries(evaluate, result),
        "records": records,
        "changed": changed(settings, calls),
        "trains": any(given.get("training") for _, given in calls),
    }


def end_endless(estimator: Any) -> None:
    """Make the estimator's `evaluate` raise if its data have no end, instead of running until the deadline."""
    plain, num_steps, hook = estimator.evaluate, itertools.count(1), tf.estimator.SessionRunHook()

    def after_run(*_: Any) -> None:
        if next(num_steps) > MOST_STEPS_OF_EVALUATION:
            message = "evaluate gives the Estimator endless data, like those for training: give it data that end"
            raise WrongReturnError(message, "data.endless")

    hook.after_run = after_run
    estimator.evaluate = lambda *args, hooks=(), **options: plain(*args, hooks=[*(hooks or ()), hook], **options)
