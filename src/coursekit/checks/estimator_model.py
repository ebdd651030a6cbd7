"""Checks of the model function of lab 04: modes, averaged gradients, rate, and statistics of batch normalisation."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks.check import require
from coursekit.checks.knowledge import check_follows, check_sent, secrets
from coursekit.checks.launches import once
from coursekit.checks.spy_steps import FIRST_STEP, steps_of
from coursekit.checks.spy_trial import check_rates, fit, rates, try_on_ranks
from coursekit.drivers import estimator_ranks
from coursekit.drivers.estimator_ranks import HANG_S, MODEL_BATCH_SIZE, NUM_STEPS, RATE
from coursekit.drivers.keras_spy import NUM_CLASSES

if TYPE_CHECKING:
    from collections.abc import Callable

    from coursekit.checks.spy_steps import Steps
    from coursekit.checks.spy_trial import SpyTrial
    from coursekit.drivers.spy import Array


def try_model_fn(model_fn: Callable[..., Any], num_ranks: int = 4, *, all_modes: bool = True) -> SpyTrial:
    """Train, and in `all_modes` evaluate and predict, with the answer's model function and an Estimator of ours.

    On other numbers of ranks (`SpyTrial.on`) it only trains.
    """
    told = secrets(num_ranks, NUM_CLASSES, num_rounds=3, num_samples=NUM_STEPS * MODEL_BATCH_SIZE)
    use = estimator_ranks.use_model_fn
    trial = try_on_ranks(use, model_fn, all_modes, num_ranks=num_ranks, timeout_s=HANG_S, secrets=told)
    return replace(trial, on=once(partial(try_model_fn, model_fn, all_modes=False)))


def check_modes(trial: SpyTrial) -> None:
    """The network is in training mode in training, and in no other mode; metrics and predictions are right."""
    check_sent([[sight.samples for sight in result["eval"]] for result in trial.of_ranks()], trial.secrets)
    for result in trial.of_ranks():
        for mode, wanted in (("train", True), ("eval", False), ("predict", False)):
            require(bool(result[mode]), f"in the mode {mode!r} the network is never called")
            found = {sight.training for sight in result[mode]}
            require(
                found == {wanted},
                f"in the mode {mode!r} the network runs {'with' if True in found else 'without'} training=True: "
                "batch normalisation and dropout behave differently then",
            )
        bias = result["eval"][0].bias
        samples = np.concatenate([sight.samples for sight in result["eval"]])
        expected = float(np.mean(samples + 1 == np.argmax(bias)))
        names = sorted(result["metrics"])
        require("accuracy" in names, f"the metrics of an evaluation are {names}, without 'accuracy'")
        got = result["metrics"]["accuracy"]
        require(bool(np.isclose(got, expected, atol=1e-4)), f"the accuracy: expected {expected:.4g}, got {got:.4g}")
        for prediction in result["predictions"]:
            require("classes" in prediction, f"a prediction holds {sorted(prediction)}, no 'classes'")
            right = int(prediction["classes"]) == int(np.argmax(result["predict"][0].bias))
            require(right, f"a prediction's class: expected that of the largest logit, got {prediction['classes']}")


def _model_steps(trial: SpyTrial) -> Steps:
    steps = steps_of([result["train"] for result in trial.of_ranks()])
    check_sent(steps.samples, trial.secrets)
    return steps


def check_averaged(trial: SpyTrial) -> None:
    """Every update uses the mean of all ranks' gradients."""
    steps = _model_steps(trial)
    rates(steps)
    check_follows(steps, trial.secrets)


def rates_alone(steps: Steps, first: int = FIRST_STEP) -> Array:
    """Return what `rates` returns, whoever averages the gradients and whatever the momentum is.

    Each rank's own momentum and rate explain its updates best, those by the mean of all gradients or by its own.
    """
    own = steps.gradients()[:, first:-1]
    mean = np.broadcast_to(own.mean(axis=0), own.shape)
    found, _ = min((_fit_with_momentum(steps, gradients, first) for gradients in (mean, own)), key=lambda fit: fit[1])
    return found


def _fit_with_momentum(steps: Steps, gradients: Array, first: int) -> tuple[Array, float]:
    """Return each rank's rates with the momentum that explains its moves best, and the most that is left over."""
    moves = np.diff(steps.bias, axis=1)
    require(bool(np.abs(moves).max() > 0), "the weights do not move at all")
    pulls = np.empty_like(gradients)
    for rank, (before, after) in enumerate(zip(moves[:, first - 1 : -1], moves[:, first:])):
        columns = np.stack([before.ravel(), -gradients[rank].ravel()], axis=1)
        momentum = np.linalg.lstsq(columns, after.ravel(), rcond=None)[0][0]
        pulls[rank] = momentum * before - after
    found, rest = fit(pulls, gradients)
    return found, float(np.abs(rest).max())


def check_rate(trial: SpyTrial) -> None:
    """The rate is the given one times the number of ranks, whether or not the gradients are averaged."""
    check_rates(rates_alone(_model_steps(trial)), RATE * trial.num_ranks, trial.num_ranks)


def check_statistics(trial: SpyTrial) -> None:
    """Training updates the statistics of batch normalisation."""
    for rank, result in enumerate(trial.of_ranks()):
        require(
            bool(np.abs(result["moving_mean"]).max() > 0),
            f"after training on rank {rank} the moving averages of batch normalisation are still those of the start: "
            "run the network's updates with every step",
        )
