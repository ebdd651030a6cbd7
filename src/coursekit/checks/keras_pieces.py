"""Checks of the pieces of lab 03 around the training: plan, warm-up, optimiser and callbacks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks import spy_steps
from coursekit.checks.check import require
from coursekit.checks.knowledge import check_follows, check_sent, secrets
from coursekit.checks.on_ranks import run_here
from coursekit.checks.plain_numbers import as_lists
from coursekit.checks.random_inputs import fresh_rng
from coursekit.checks.spy_steps import steps_of
from coursekit.checks.spy_trial import check_bits, check_rates, check_same_weights, momentum_of, rates, try_on_ranks
from coursekit.drivers import keras_ranks, keras_spy
from coursekit.drivers.calls import with_horovod

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coursekit.checks.spy_steps import Steps
    from coursekit.checks.spy_trial import SpyTrial
    from coursekit.drivers.spy import Array

COMPRESSIONS = ("none", "fp16")  # in the order of the trial
SMALL_START = 0.05  # so close that losses fall and rise as they should whatever the random numbers


def check_memory_growth(pin_gpu: Callable[[], Any], num_ranks: int = 2) -> None:
    """TensorFlow takes the memory of the GPU that it sees as it needs it, whatever pins it."""
    for rank, (visible, growing) in enumerate(
        run_here(
            with_horovod, keras_ranks.pin_and_grow, pin_gpu, num_ranks, num_ranks=num_ranks, ranks_per_node=num_ranks
        )
    ):
        own = visible or []
        require(
            set(own) <= set(growing),
            f"rank {rank} sees the GPU {own}, expected its memory to grow as it is needed, got growth for "
            f"{growing or 'none'}: set_memory_growth(gpu, True) for the GPU that you pin",
        )


def _plans(
    plan: Callable[..., Any], cases: Sequence[tuple[Any, ...]], num_ranks: int, per_node: int | None
) -> list[Any]:
    """Return the plans of all ranks for each case, and require them to be alike."""
    reply = run_here(with_horovod, keras_ranks.all_plans, plan, cases, num_ranks=num_ranks, ranks_per_node=per_node)
    got = as_lists(reply, len(cases), "the plans")
    for rank, plans in enumerate(got):
        for case, ours, first in zip(cases, plans, got[0]):
            require(len(ours) == 3, f"plan must return three numbers, not {ours!r}")  # noqa: PLR2004
            require(ours == first, f"for {case} rank {rank} plans {ours}, rank 0 {first}: all ranks must agree")
    return list(got[0])


def check_plan(plan: Callable[..., Any], num_ranks: int, ranks_per_node: int | None = None) -> None:
    """Each rank keeps its batch size, the rate grows with the ranks, the steps become fewer."""
    rng = fresh_rng()
    cases = [(1000, 10, 0.1), (640, 32, 0.02), (1281167, 64, 0.05), (3, 16, 0.1)]
    cases += [(int(rng.integers(100, 9999)), int(rng.integers(2, 99)), float(rng.uniform(0.01, 0.5)))]
    for case, (batch, rate, num_steps) in zip(cases, _plans(plan, cases, num_ranks, ranks_per_node)):
        num_images, batch_size, learning_rate = case
        where = f"with {num_ranks} ranks and {num_images} images"
        require(batch == batch_size, f"{where} the batch of a rank: expected {batch_size}, got {batch:g}")
        wanted = learning_rate * num_ranks
        require(
            bool(np.isclose(rate, wanted)),
            f"{where} the rate {learning_rate:.3g} of one rank: expected {wanted:.3g}, got {rate:.3g}: "
            "it follows the global batch",
        )
        steps = max(1, num_images // (batch_size * num_ranks))
        is_epoch = num_steps == steps
        require(is_epoch, f"{where} and batches of {batch_size} an epoch: expected {steps} steps, got {num_steps:g}")


def check_elastic(plan: Callable[..., Any], num_ranks: int, ranks_per_node: int | None = None) -> None:
    """A fixed global batch is divided among the ranks; rate and steps do not depend on their number."""
    by_rank = [(1000, 10, 0.1, 4), (4096, 32, 0.02, 8), (1281167, 32, 0.1, 64), (3, 16, 0.1, 4)]
    cases = [(*case, of_rank * num_ranks) for *case, of_rank in by_rank]
    for case, (batch, rate, num_steps) in zip(cases, _plans(plan, cases, num_ranks, ranks_per_node)):
        num_images, batch_size, learning_rate, global_batch = case
        where = f"for a global batch of {global_batch} on {num_ranks} ranks"
        of_rank = global_batch // num_ranks
        require(batch == of_rank, f"{where} the pictures of a rank: expected {of_rank}, got {batch:g}")
        is_whole = isinstance(batch, int)
        require(is_whole, f"{where} the batch of a rank: expected the whole number {of_rank}, got {batch!r}: use //")
        wanted = learning_rate * global_batch / batch_size
        scaled = bool(np.isclose(rate, wanted))
        told = f"{where} the rate {learning_rate} of a batch of {batch_size}"
        require(scaled, f"{told}: expected {wanted:.3g}, got {rate:.3g}")
        steps = max(1, num_images // global_batch)
        is_epoch = num_steps == steps
        require(is_epoch, f"{where} and {num_images} pictures an epoch: expected {steps} steps, got {num_steps:g}")


def check_warm_up(warmed_up: Callable[..., Any], num_ranks: int, ranks_per_node: int | None = None) -> None:
    """The rate rises on a straight line from that of one rank to the scaled one, and stays there."""
    cases = [(step, rate, 20) for rate in (0.4, 1.6) for step in (0, 1, 10, 19, 20, 21, 1000)]
    cases += [(step, 0.3, 0) for step in (0, 5)]
    cases += [(step, float(fresh_rng().uniform(0.1, 2)), 13) for step in (0, 4, 12, 13)]
    use = keras_ranks.all_rates
    reply = run_here(with_horovod, use, warmed_up, cases, num_ranks=num_ranks, ranks_per_node=ranks_per_node)
    for rank, values in enumerate(as_lists(reply, len(cases), "the rates")):
        for (step, rate, num_warmup_steps), value in zip(cases, values):
            share = min(1.0, step / num_warmup_steps) if num_warmup_steps else 1.0
            expected = rate / num_ranks + share * (rate - rate / num_ranks)
            require(
                bool(np.isclose(value, expected, rtol=1e-5)),
                f"on rank {rank} of {num_ranks} the rate in step {step}: expected {expected:.4g}, got {value:.4g} "
                f"(the scaled rate is {rate:.4g}, and there are {num_warmup_steps} warm-up steps)",
            )


def try_optimizer(make_optimizer: Callable[..., Any], num_ranks: int = 3) -> SpyTrial:
    """Train a spy with the answer's optimiser, with gradients of 32 and of 16 bits."""
    num_samples = keras_ranks.NUM_STEPS * keras_spy.BATCH_SIZE
    told = secrets(num_ranks, keras_spy.NUM_CLASSES, num_rounds=len(COMPRESSIONS), num_samples=num_samples)
    trial = try_on_ranks(keras_ranks.use_optimizer, make_optimizer, num_ranks=num_ranks, secrets=told)
    if RecursionError.__name__ in trial.error:  # Horovod's wrapper takes the outer class for the inner one
        return replace(trial, error=f"{trial.error} Is the optimiser wrapped twice?")
    return trial


def check_averaged(trial: SpyTrial) -> None:
    """Each update is that of SGD with momentum 0.9 and the rate given, with the mean of all ranks' gradients."""
    steps = _steps(trial, "none")
    check_rates(rates(steps), keras_spy.RATE, trial.num_ranks)
    check_follows(steps, trial.secrets)


def _steps(trial: SpyTrial, compression: str) -> Steps:
    steps = steps_of([result[compression] for result in trial.of_ranks()])
    check_sent(steps.samples, trial.secrets)
    return steps


def check_compression(trial: SpyTrial) -> None:
    """Gradients travel with 16 bits if asked for, else with 32."""
    for number, name in enumerate(COMPRESSIONS):
        steps = _steps(trial, name)
        check_follows(steps, trial.secrets, number, momentum=momentum_of(steps))
        check_bits(steps, name)


def check_groups(trial: SpyTrial, num_groups: int) -> None:
    """The gradients of a step travel in so many groups; 0: each alone."""
    for rank, result in enumerate(trial.of_ranks()):
        single, grouped = (int(result["messages"][kind]) for kind in ("single", "grouped"))
        # Whoever averages in a way of their own has neither, and is judged by the updates alone.
        require(
            single + grouped == 0 or grouped == num_groups,
            f"with num_groups = {num_groups}, on rank {rank} the gradients of a step: expected {num_groups} groups, "
            f"got {grouped} and {single} single gradients: hand groups to hvd_keras.DistributedOptimizer "
            "(hvd.DistributedOptimizer forgets them)",
        )


def try_callbacks(make_callbacks: Callable[..., Any], num_ranks: int = 3) -> SpyTrial:
    """Train a spy with the answer's callbacks; every rank has a folder of its own, so that one sees who writes.

    The loss falls on rank 0, which sees the same sample in every step, and rises on the others, which always see
    new ones: whoever stops early by the loss of its own rank leaves the others alone.
    """
    num_samples = keras_ranks.NUM_EPOCHS * keras_ranks.STEPS_PER_EPOCH * keras_spy.BATCH_SIZE
    told = secrets(num_ranks, keras_spy.NUM_CLASSES, spread=SMALL_START, num_samples=num_samples)
    told[0]["samples"] = np.full(num_samples, told[0]["samples"][0])
    return try_on_ranks(keras_ranks.use_callbacks, make_callbacks, num_ranks=num_ranks, secrets=told, look=True)


def check_same_start(trial: SpyTrial) -> None:
    """All ranks have the same weights, at the latest after the first step, and these come of rank 0's."""
    steps = _callback_steps(trial)
    check_same_weights(steps)
    first_move = -keras_spy.RATE * steps.gradients()[:, 0].mean(axis=0)
    starts = np.array([secret["starts"][0] for secret in trial.secrets])
    root = int(np.argmin(np.linalg.norm(starts + first_move - steps.bias[0, 1], axis=1)))
    require(root == 0, f"the ranks begin with the weights of rank {root}, expected those of rank 0")


def _callback_steps(trial: SpyTrial) -> Steps:
    steps = steps_of([result["sights"] for result in trial.of_ranks()])
    check_sent(steps.samples, trial.secrets)
    # Without this, weights of zero would be reported: all samples then have one loss, which everybody knows.
    check_follows(steps, trial.secrets, last_step=steps.num_steps)
    return steps


def check_metrics(trial: SpyTrial) -> None:
    """The loss of an epoch that every rank reports is the mean over all ranks."""
    results = trial.of_ranks()
    steps = _callback_steps(trial)
    pairs = zip(steps.bias, steps.samples)
    losses = np.array([[spy_steps.loss(*step) for step in zip(of_rank, batches)] for of_rank, batches in pairs])
    num_epochs = len(results[0]["losses"])
    local = losses.reshape(trial.num_ranks, num_epochs, -1).mean(axis=2)
    for rank, result in enumerate(results):
        reported = np.asarray(result["losses"])
        own, mean = (np.allclose(reported, wanted, rtol=1e-3) for wanted in (local[rank], local.mean(axis=0)))
        require(not own or mean, f"rank {rank} reports the loss of its own batches: the metrics are not averaged")
        told = f"expected their mean over the ranks {_short(local.mean(axis=0))}, got {_short(reported)}"
        require(mean, f"the losses of the epochs that rank {rank} reports: {told}")
    logged = np.asarray(results[0]["logged"])
    has_own = logged.shape == (num_epochs,) and np.allclose(logged, local[0], rtol=1e-3)
    told = "the logs hold the losses of rank 0 alone, expected the mean over the ranks"
    require(not has_own, f"{told}: callbacks that write come after the one that averages")


def _short(losses: Array) -> str:
    return ", ".join(f"{loss:.3g}" for loss in losses)


def check_files(trial: SpyTrial) -> None:
    """Rank 0 writes checkpoints and logs, and no other rank writes anything."""
    results = trial.of_ranks()
    writers = [rank for rank, files in enumerate(trial.left) if files]
    require(bool(writers), "no rank wrote a file")
    require(writers == [0], f"expected files of rank 0 alone, got files of the ranks {writers}")
    names = sorted(trial.left[0])
    epochs = [f"epoch-{epoch:03d}.index" for epoch in range(1, keras_ranks.NUM_EPOCHS + 1)]
    missing = [name for name in epochs if name not in names]
    models = [name for name in names if name.endswith("saved_model.pb")]
    require(not models, "whole models were saved as checkpoints: save the weights only")
    require(not missing, f"there is no checkpoint {missing[0].partition('.')[0]} but {names[:4]}" if missing else "")
    has_momenta = bool(results[0]["has_momenta"])
    require(has_momenta, "the checkpoint holds no momenta of the optimiser: save weights, not a model")
    # The first epoch's end, which the spy saw at the beginning of the second: what is saved are these weights.
    weights = results[0]["sights"][keras_ranks.STEPS_PER_EPOCH].bias.astype("<f4").tobytes()
    saved = [content or b"" for name, content in trial.left[0].items() if name.startswith("epoch-001.data")]
    holds_weights = any(weights in content for content in saved)
    require(holds_weights, "the checkpoint of epoch 1 holds other weights than it ended with")
    require(any(name.startswith("logs/") for name in names), "there are no logs for TensorBoard in the folder logs")
