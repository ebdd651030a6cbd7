"""Checks of the pieces that lab 03's training uses: GPU memory, plan, warm-up and callbacks.

Example: one rank has 1000 pictures, batches of 10 and the rate 0.1. On 4 ranks, each still has batches of 10; the rate
is 0.4, and an epoch has 25 steps. A fixed global batch of 20 instead gives each rank batches of 5, the rate 0.2 and 50
steps. With 20 warm-up steps, the rate begins at 0.1, is 0.25 in step 10, and stays at 0.4 from step 20 on.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from coursekit.checks.check import fresh_rng, require
from coursekit.checks.compare import Array, as_lists, require_close, require_equal
from coursekit.checks.on_ranks import run_on_ranks
from coursekit.checks.private_data import check_follows, draw_private
from coursekit.checks.shards import check_writers
from coursekit.checks.steps import Steps, check_same_weights
from coursekit.checks.trials import Trial, try_on_ranks
from coursekit.drivers import lab02, lab03, probe_model
from coursekit.drivers.calls import Answer
from coursekit.errors import Cause, without_codes
from coursekit.text import counted

SMALL_START = 0.05  # of weights: so close that losses fall and rise as they should, whatever the random numbers are


def check_memory_growth(pin_gpu: Answer, num_ranks: int = 3, ranks_per_node: int = 2) -> None:
    """TensorFlow allocates memory on its visible GPU only as needed, however the GPU is pinned."""
    launch = {"num_ranks": num_ranks, "ranks_per_node": ranks_per_node}
    for rank, (visible, growing) in enumerate(
        run_on_ranks(lab02.pin_with_pretended_gpus, pin_gpu, num_ranks, **launch)
    ):
        got = f"expected its memory to grow as needed, got growth for {growing or 'none'}"
        message = f"rank {rank} sees the GPU {visible}, {got}: call set_memory_growth(gpu, True) for the pinned GPU"
        require(set(visible or ()) <= set(growing), message, "gpu.no-growth")
    [(_, growing)] = run_on_ranks(lab02.pin_with_pretended_gpus, pin_gpu, 1, num_ranks=1)
    message = "the only GPU of a node: expected its memory to grow as needed, too: call set_memory_growth(gpu, True)"
    require(0 in growing, message, "gpu.no-growth")


def check_plan(plan: Answer, num_ranks: int, ranks_per_node: int | None = None) -> None:
    """Each rank keeps its batch size, the rate grows with the number of ranks, and the number of steps falls."""
    rng = fresh_rng()
    cases = [(1000, 10, 0.1), (640, 32, 0.02), (1281167, 64, 0.05), (3, 16, 0.1)]
    cases += [(int(rng.integers(100, 9999)), int(rng.integers(2, 99)), float(rng.uniform(0.01, 0.5)))]
    _check_plans(plan, cases, num_ranks, ranks_per_node)


def check_elastic(plan: Answer, num_ranks: int, ranks_per_node: int | None = None) -> None:
    """A fixed global batch is divided among the ranks, and the remainder dropped; rate and steps fit the used part."""
    by_rank = [(1000, 10, 0.1, 4, 0), (4096, 32, 0.02, 8, 0), (1281167, 32, 0.1, 64, 0), (3, 16, 0.1, 4, 0)]
    by_rank += [(1000, 10, 0.1, 5, 1), (1281167, 32, 0.1, 2, num_ranks - 1)]
    cases = [(*case, of_rank * num_ranks + rest) for *case, of_rank, rest in by_rank]
    _check_plans(plan, cases, num_ranks, ranks_per_node)


def _check_plans(plan: Answer, cases: Sequence[tuple[Any, ...]], num_ranks: int, ranks_per_node: int | None) -> None:
    """All ranks return the same, correct plan; a case has pictures, batch size, rate and perhaps a global batch."""
    reply = run_on_ranks(lab03.all_plans, plan, cases, num_ranks=num_ranks, ranks_per_node=ranks_per_node)
    got = as_lists(reply, len(cases), "the plans")
    for rank, plans in enumerate(got):
        for case, ours, first in zip(cases, plans, got[0]):
            message = f"for {case}, rank {rank} plans {ours} but rank 0 plans {first}: all ranks must agree"
            require(ours == first, message, "plan.uneven")
    for case, (batch, rate, num_steps) in zip(cases, got[0]):
        num_images, batch_size, learning_rate, *fixed = case
        of_rank = fixed[0] // num_ranks if fixed else batch_size
        global_batch = of_rank * num_ranks
        given = f"{fixed[0]}, of which {global_batch} are used" if fixed and fixed[0] > global_batch else global_batch
        where = f"with {counted(num_ranks, 'rank')}, {num_images} pictures and a global batch of {given}"
        require_equal(batch, of_rank, f"{where}, the batch of a rank", "plan.wrong-batch")
        message = f"{where}, the batch of a rank must be a whole number, not {batch!r}: use //"
        require(not fixed or isinstance(batch, int), message, "plan.broken-batch")
        what = f"{where}, the scaled rate ({learning_rate:.3g} for a batch of {batch_size})"
        wanted = learning_rate * global_batch
        advice = "it must grow with the global batch"
        require_close(rate, wanted / batch_size, what, "rate.wrong", is_relative=True, otherwise=advice)
        wanted_steps = max(1, num_images // global_batch)
        require_equal(num_steps, wanted_steps, f"{where}, the steps of an epoch", "steps.wrong-number")


def check_warm_up(warmed_up: Answer, num_ranks: int, ranks_per_node: int | None = None) -> None:
    """The rate rises linearly from the rate of one rank to the scaled rate, and then stays there."""
    cases = [(step, rate, 20) for rate in (0.4, 1.6) for step in (0, 1, 10, 19, 20, 21, 1000)]
    cases += [(step, 0.3, 0) for step in (0, 5)]
    cases += [(step, float(fresh_rng().uniform(0.1, 2)), 13) for step in (0, 4, 12, 13)]
    reply = run_on_ranks(lab03.all_rates, warmed_up, cases, num_ranks=num_ranks, ranks_per_node=ranks_per_node)
    for rank, values in enumerate(as_lists(reply, len(cases), "the rates")):
        for (step, rate, num_warmup_steps), value in zip(cases, values):
            share = min(1.0, step / num_warmup_steps) if num_warmup_steps else 1.0
            expected = rate / num_ranks + share * (rate - rate / num_ranks)
            given = f"(scaled rate {rate:.4g}, {num_warmup_steps} warm-up steps)"
            what = f"the rate in step {step} on rank {rank} of {num_ranks} {given}"
            require_close(value, expected, what, "warm-up.wrong-rate", tolerance=1e-5, is_relative=True)


def explained(trial: Trial, words: str, cause: Cause) -> Trial:
    """Return the trial with a cause added to its error if the error contains these words."""
    return replace(trial, error=f"{without_codes(trial.error)} {cause}") if words in trial.error else trial


def one_and_another(samples: Array) -> Array:
    """Return a rank's samples, all replaced by the first sample or, in the last epoch, by the last one."""
    is_last = np.arange(len(samples)) >= len(samples) - len(samples) // lab03.NUM_EPOCHS
    return np.asarray(np.where(is_last, samples[-1], samples[0]))


def try_callbacks(make_callbacks: Answer, num_ranks: int = 3) -> Trial:
    """Train a probe with the answer's callbacks; each rank has its own folder, which shows whether the rank writes.

    The loss falls on rank 0, which sees the same sample in every step, and rises on the others, which always see new
    samples. So a rank that decides by its own loss stops early without the others. In the last epoch, rank 0 sees a new
    sample, so that this epoch has neither the best mean loss nor any rank's best loss.
    """
    num_samples = lab03.NUM_EPOCHS * lab03.STEPS_PER_EPOCH * probe_model.BATCH_SIZE
    private = draw_private(num_ranks, probe_model.NUM_CLASSES, spread=SMALL_START, num_samples=num_samples)
    private[0]["samples"] = one_and_another(private[0]["samples"])
    trial = try_on_ranks(lab03.use_callbacks, make_callbacks, num_ranks=num_ranks, private=private, look=True)
    # Keras fails in this way if it has to save a whole model to a Path.
    whole_model = Cause("Is save_weights_only=True missing?", "checkpoint.whole-model")
    return explained(trial, "has no attribute 'endswith'", whole_model)


def _callback_steps(trial: Trial) -> Steps:
    steps = trial.steps()
    # Without this, an answer could report weights of zero, with which all samples have the same known loss.
    check_follows(steps, trial.private, last_step=steps.num_steps)
    return steps


def check_same_start(trial: Trial) -> None:
    """After the first step at the latest, all ranks have the same weights, which come from rank 0.

    Example: if three ranks start at the biases 0.04, -0.02 and 0.05, all must soon be at 0.04 plus one step.
    """
    steps = _callback_steps(trial)
    check_same_weights(steps)
    first_move = -probe_model.RATE * steps.gradients()[:, 0].mean(axis=0)
    starts = np.array([given["starts"][0] for given in trial.private])
    root = int(np.argmin(np.linalg.norm(starts + first_move - steps.bias[0, 1], axis=1)))
    message = f"the ranks start with the weights of rank {root}: broadcast from rank 0"
    require(root == 0, message, "broadcast.wrong-root")


def check_metrics(trial: Trial) -> None:
    """Every rank reports the mean over all ranks as the loss of an epoch.

    Example: if the ranks' own batches have the losses 4.1, 4.3 and 4.2, all three report 4.2.
    """
    results = trial.of_ranks()
    local = _callback_steps(trial).epoch_losses(len(results[0]["losses"]))
    for rank, result in enumerate(results):
        own = Cause("these are the losses of its own batches: average the metrics", "metrics.not-averaged")
        what = f"the mean losses of the epochs that rank {rank} reports"
        require_close(result["losses"], local.mean(axis=0), what, "metrics.wrong", {own: local[rank]}, tolerance=1e-3)
    logged = results[0]["logged"]
    has_own = len(logged) == len(local[0]) and np.allclose(logged, local[0], rtol=1e-3)
    message = "the logs hold only the losses of rank 0, expected the mean over the ranks: "
    message += "MetricAverageCallback must come before the callbacks that write"
    require(not has_own, message, "callbacks.wrong-order")


def check_files(trial: Trial) -> None:
    """Rank 0 writes checkpoints and logs, and no other rank writes anything."""
    result = trial.of_ranks()[0]
    check_writers(trial.left)
    names = sorted(trial.left[0])
    is_model = any(name.endswith("saved_model.pb") for name in names)
    require(not is_model, "whole models were saved as checkpoints: save only the weights", "checkpoint.whole-model")
    for name in (f"epoch-{epoch:03d}" for epoch in range(1, lab03.NUM_EPOCHS + 1)):
        require(f"{name}.index" in names, f"there is no checkpoint {name}, only {names[:4]}", "checkpoint.missing")
    message = "the checkpoint lacks the optimiser's momenta: save weights, not a model"
    require(result["has_momenta"], message, "checkpoint.no-momenta")
    # The checkpoint must hold the weights at the end of the first epoch, recorded at the start of the second.
    weights = result["records"][lab03.STEPS_PER_EPOCH].bias.astype("<f4").tobytes()
    saved = [content or b"" for name, content in trial.left[0].items() if name.startswith("epoch-001.data")]
    message = "the checkpoint of epoch 1 does not hold the weights at the end of that epoch"
    require(any(weights in content for content in saved), message, "checkpoint.wrong-weights")
    has_logs = any(name.startswith("logs/") for name in names)
    require(has_logs, "there are no logs for TensorBoard in the folder logs", "logs.missing")
