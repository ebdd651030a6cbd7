"""Checks of lab 04 around training: the model function, the whole training, and training with a strategy."""

from __future__ import annotations

import socket
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks import estimator_ranks, spy
from coursekit.checks.check import require
from coursekit.checks.estimator_ranks import NUM_STEPS_BEFORE, NUM_STEPS_LATER, NUM_STEPS_OF_STRATEGY, RATE
from coursekit.checks.on_ranks import with_horovod
from coursekit.checks.spy_trial import (
    Trial,
    check_rates,
    check_same_weights,
    owners,
    rates,
    steps_of,
    try_on_ranks,
)
from coursekit.checks.pieces import check_owners

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coursekit.checks.spy_trial import Steps

Array = np.ndarray[Any, Any]

SAMPLES_PER_FILE = (4, 4, 4, 4, 4, 4)  # a rank's steps are one pass over its files, or more
SMALLEST_GAP = 1e-6


def try_model_fn(model_fn: Callable[..., Any], num_ranks: int = 2) -> Trial:
    """Train, evaluate and predict with the answer's model function and an Estimator of ours."""
    with tempfile.TemporaryDirectory() as folder:
        use = estimator_ranks.use_model_fn
        return try_on_ranks(with_horovod, use, model_fn, folder, num_ranks=num_ranks, timeout_s=40)


def check_modes(trial: Trial) -> None:
    """The network is in training mode in training, and in no other mode; metrics and predictions are right."""
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
        require("accuracy" in result["metrics"], f"the metrics of an evaluation are {sorted(result['metrics'])}, no accuracy")
        got = result["metrics"]["accuracy"]
        require(bool(np.isclose(got, expected, atol=1e-4)), f"the accuracy is {got:.4g}, and should be {expected:.4g}")
        for prediction in result["predictions"]:
            require("classes" in prediction, f"a prediction holds {sorted(prediction)}, no 'classes'")
            right = int(prediction["classes"]) == int(np.argmax(result["predict"][0].bias))
            require(right, f"the predicted class is {prediction['classes']}, not that of the largest logit")


def _model_steps(trial: Trial) -> Steps:
    return steps_of([result["train"] for result in trial.of_ranks()])


def check_averaged(trial: Trial) -> None:
    """Every update uses the mean of all ranks' gradients."""
    rates(_model_steps(trial))


def check_rate(trial: Trial) -> None:
    """The rate is the given one times the number of ranks, whoever averages what."""
    steps = _model_steps(trial)
    pulls, own = steps.pulls()[:, 1:], steps.gradients()[:, 2:-1]
    require(bool(np.abs(pulls).max() > 0), "the weights do not move at all")
    fits = []
    for gradients in (own.mean(axis=0, keepdims=True), own):
        found = (pulls * gradients).sum(axis=-1) / (gradients * gradients).sum(axis=-1)
        fits.append((float(np.abs(pulls - found[..., np.newaxis] * gradients).max()), found))
    found = min(fits, key=lambda fit: fit[0])[1]
    check_rates(found, np.full(found.shape[1], RATE * trial.num_ranks), trial.num_ranks)


def check_statistics(trial: Trial) -> None:
    """Training updates the statistics of batch normalisation."""
    for rank, result in enumerate(trial.of_ranks()):
        require(
            bool(np.abs(result["moving_mean"]).max() > 0),
            f"after training on rank {rank} the moving averages of batch normalisation are still those of the start: "
            "run the network's updates with every step",
        )


def try_train(train: Callable[..., Any], num_ranks: int = 2) -> Phases:
    """Train, continue and start again in one launch; what ended before a hang or an error is kept."""
    with tempfile.TemporaryDirectory() as folder:
        files = spy.write_samples(Path(folder), SAMPLES_PER_FILE)
        use = estimator_ranks.use_train
        trial = try_on_ranks(with_horovod, use, train, files, folder, num_ranks=num_ranks, timeout_s=30)
        return Phases(trial, {name: estimator_ranks.read_phase(folder, name, num_ranks) for name in PHASES})


PHASES = ("first", "continued", "ended")


class Phases:
    """What the phases of a training gave, by name and rank."""

    def __init__(self, trial: Trial, found: dict[str, list[Any]]) -> None:
        self.num_ranks = trial.num_ranks
        self.error = trial.error
        self._found = found

    def of_ranks(self, phase: str) -> list[Any]:
        """Return what each rank found in a phase.

        Raises:
            CheckError: the phase did not end on all ranks.
        """
        what = {"first": "the training", "continued": "continuing", "ended": "a start after the end of the training"}
        found = self._found[phase]
        require(len(found) == self.num_ranks, f"{what[phase]} did not end well: {self.error}")
        return found

    def num_steps(self, phase: str) -> list[int]:
        """Return how many training steps each rank made in a phase."""
        return [sum(sight.training for sight in result["sights"]) for result in self.of_ranks(phase)]


def _first_steps(phases: Phases) -> Steps:
    return steps_of([result["sights"] for result in phases.of_ranks("first")])


def check_start(phases: Phases) -> None:
    """All ranks start with the same weights."""
    check_same_weights(_first_steps(phases))


def check_train_shards(phases: Phases) -> None:
    """Every rank trains on its own files."""
    phases.of_ranks("first")
    sights = [
        result["sights"] + later["sights"] for result, later in zip(phases.of_ranks("first"), phases.of_ranks("first"))
    ]
    samples = [np.concatenate([sight.samples for sight in mine if sight.training] or [[]]) for mine in sights]
    used = owners(samples, sum(SAMPLES_PER_FILE))
    seen = {sample: by for sample, by in used.items() if by}
    check_owners(seen, phases.num_ranks)


def check_steps(phases: Phases) -> None:
    """The steps are divided among the ranks, and all ranks make equally many."""
    found = phases.num_steps("first")
    require(len(set(found)) == 1, f"the ranks made different numbers of steps: {found}")
    hint = ": the steps are not divided by the number of ranks" if found[0] == NUM_STEPS_BEFORE * phases.num_ranks else ""
    require(
        found[0] == NUM_STEPS_BEFORE,
        f"{NUM_STEPS_BEFORE * phases.num_ranks} steps of one process are {NUM_STEPS_BEFORE} steps on each of "
        f"{phases.num_ranks} ranks, not {found[0]}{hint}",
    )


def check_handed_over(phases: Phases) -> None:
    """The sessions of the Estimator have the configuration that pins the GPU."""
    for rank, result in enumerate(phases.of_ranks("first")):
        require(result["is_estimator"], "train must return the Estimator")
        require(
            result["visible"] != "",
            f"the Estimator of rank {rank} knows nothing of the GPU that you pinned: its sessions see all GPUs. "
            "Pass your RunConfig as config",
        )


def check_continued(phases: Phases) -> None:
    """A training goes on where its checkpoint is, on all ranks, and one that has ended is left alone."""
    before = phases.num_steps("first")
    found = phases.num_steps("continued")
    left = NUM_STEPS_LATER - NUM_STEPS_BEFORE
    require(len(set(found)) == 1, f"continuing, the ranks made different numbers of steps: {found}")
    require(
        found[0] == NUM_STEPS_LATER - before[0],
        f"{left} of {NUM_STEPS_LATER} steps were left, but the ranks made {found[0]}",
    )
    sights = [result["sights"] for result in phases.of_ranks("continued")]
    starts = [next(sight.bias for sight in mine if sight.training) for mine in sights]
    last = [sight.bias for sight in phases.of_ranks("first")[0]["sights"] if sight.training]
    gap = max(float(np.abs(start - starts[0]).max()) for start in starts)
    require(gap < SMALLEST_GAP, f"continuing, the ranks start up to {gap:.3g} apart")
    step = float(np.abs(last[-1] - last[-2]).max())
    moved = float(np.abs(starts[0] - last[-1]).max())
    require(moved < 5 * step, "the continued training does not start from the weights of the checkpoint")
    ended = phases.num_steps("ended")
    require(not any(ended), f"the training had ended, but the ranks made {ended} more steps")


def free_hosts(num_hosts: int) -> list[str]:
    """Return addresses on this machine with ports that are free now."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(num_hosts)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{one.getsockname()[1]}" for one in sockets]


def try_strategy(train_with_strategy: Callable[..., Any], num_ranks: int = 2) -> Trial:
    """Train a spy with the answer's strategy on real worker processes."""
    with tempfile.TemporaryDirectory() as folder:
        files = spy.write_samples(Path(folder), SAMPLES_PER_FILE)
        use, hosts = estimator_ranks.use_strategy, free_hosts(num_ranks)
        return try_on_ranks(with_horovod, use, train_with_strategy, hosts, files, num_ranks=num_ranks, timeout_s=30)


def _strategy_steps(trial: Trial) -> Steps:
    return steps_of(trial.of_ranks())


def check_together(trial: Trial) -> None:
    """The workers are one training: same weights, averaged gradients, shards of their own."""
    steps = _strategy_steps(trial)
    check_same_weights(steps)
    rates(steps)
    used = owners([np.concatenate(batches) for batches in steps.samples], sum(SAMPLES_PER_FILE))
    check_owners({sample: by for sample, by in used.items() if by}, trial.num_ranks)


def check_strategy_plan(trial: Trial) -> None:
    """The rate grows with the workers, and the steps become fewer."""
    steps = _strategy_steps(trial)
    wanted = NUM_STEPS_OF_STRATEGY
    require(
        steps.num_steps == wanted,
        f"{wanted * trial.num_ranks} steps of one process are {wanted} steps on each of {trial.num_ranks} workers, "
        f"not {steps.num_steps}",
    )
    check_rate_of(steps, trial.num_ranks)


def check_rate_of(steps: Steps, num_ranks: int) -> None:
    found = rates(steps)
    check_rates(found, np.full(found.shape[1], RATE * num_ranks), num_ranks)
