"""Checks of lab 03's updates, by the optimiser in `fit` and by a custom training step.

Example: on three ranks with the rate 0.3, one weight has the gradients 0.2, 0.5 and -0.1; the mean is 0.2. If the last
move was -0.1, all ranks move by 0.9 * -0.1 - 0.3 * 0.2 = -0.15. With its own gradient, rank 1 moves by -0.24; with the
sum of all, by -0.27; without momentum, by -0.06. A weight decay of 0.0001 adds -0.00003 times the weight, a hundred
times the rounding error.
"""

import numpy as np

from coursekit.checks.check import fresh_rng, require
from coursekit.checks.compare import require_close
from coursekit.checks.lab03_pieces import explained
from coursekit.checks.private_data import check_follows, draw_private
from coursekit.checks.rates import check_rates, rates
from coursekit.checks.steps import check_exact, steps_of
from coursekit.checks.trials import Trial, try_on_ranks
from coursekit.drivers import lab03_updates as drivers
from coursekit.drivers import probe_model
from coursekit.drivers.calls import Answer
from coursekit.drivers.probe_model import MOMENTUM
from coursekit.errors import Cause
from coursekit.text import counted

RATES = {"none": 2.5, "fp16": 0.02}  # by compression, for comparing the path of an optimiser with a reference
ROUNDING = {32: 1e-5, 16: 1e-2}  # by bits, relative to a weight and the moves that led to it
# By variable, the size of gradients, which random numbers multiply. In the first step, the two gradients of the first
# variable differ only in the 13th bit.
SIZES = (2.0**-8, 1e-3, 1.0, 1.0, 1e2, 1e4, 1.0, 1.0)
NUM_STEPS_OF_PATH = 6
FINE = 1 + 2.0**-12
SMALL = 1e-4  # between momenta
FACTORS = (1.0, 1e-3, 1e3, 1.0)  # of the losses in the last steps of the custom step


def try_optimizer(make_optimizer: Answer, num_ranks: int = 3) -> Trial:
    """Train a probe with the answer's optimiser, and also move weights by given gradients, in 32 and in 16 bits."""
    num_samples = drivers.NUM_STEPS * probe_model.BATCH_SIZE
    private = draw_private(num_ranks, probe_model.NUM_CLASSES, num_samples=num_samples)
    rng = fresh_rng()
    starts = rng.normal(0, 3, (len(SIZES), 2)).astype(np.float32)
    starts[0] = 0
    pulls = rng.normal(0, 1, (num_ranks, NUM_STEPS_OF_PATH, len(SIZES), 2)) * np.array(SIZES)[:, np.newaxis]
    pulls[:, 0, 0] = SIZES[0], SIZES[0] * FINE
    pulls[0, :, -1] = 0  # a zero also counts in the mean
    private = tuple(given | {"pulls": own.astype(np.float32)} for given, own in zip(private, pulls))
    args = drivers.use_optimizer, make_optimizer, RATES, starts
    # Horovod's wrapper mistakes the outer class for the inner one, and calls itself.
    wrapped_twice = Cause("Is the optimiser wrapped twice?", "optimizer.wrapped-twice")
    return explained(try_on_ranks(*args, num_ranks=num_ranks, private=private), RecursionError.__name__, wrapped_twice)


def check_averaged(trial: Trial) -> None:
    """Each update follows SGD with momentum 0.9 and the given rate on the mean of all ranks' gradients."""
    steps = trial.steps()
    check_rates(rates(steps), probe_model.RATE, trial.num_ranks)
    check_follows(steps, trial.private)
    rank, step, got, expected = _misfit(trial, "none")
    what = f"on rank {rank}, with gradients up to 1e4, a weight after step {step}"
    message = f"{what}: expected {expected:.6g} by SGD with momentum 0.9 on the mean gradient, got {got:.6g}: "
    message += "is something added, such as weight decay, clipping, or a limit or schedule for the rate?"
    require(step < 0, message, "updates.differ")


def _misfit(trial: Trial, name: str) -> tuple[int, int, float, float]:
    """Return where a path first goes wrong: rank, step, weight and right weight; the step is -1 if it never does.

    Example: from 3, with the rate 2.5 and mean gradients of 1, 1 and 0, the right path is 0.5, -4.25 and -8.525.
    """
    rate, tolerance = RATES.get(name, RATES["none"]), ROUNDING[_bits(trial, name)]
    pulls = np.array([given["pulls"] for given in trial.private], dtype=float)
    paths = [result["paths"][name] for result in trial.of_ranks()]
    right, move, size = np.array(paths[0][0], dtype=float), 0.0, np.abs(paths[0][0]).astype(float)
    for step, mean in enumerate(pulls.mean(axis=0)):
        move = MOMENTUM * move - rate * mean
        right = right + move
        size = size + rate * np.abs(pulls[:, step]).mean(axis=0)
        for rank, path in enumerate(paths):
            gaps = np.abs(path[step + 1] - right) / size
            worst = np.unravel_index(np.argmax(gaps), gaps.shape)
            if not gaps[worst] <= tolerance:
                return rank, step, float(path[step + 1][worst]), float(right[worst])
    return 0, -1, 0.0, 0.0


def _bits(trial: Trial, name: str) -> int:
    """Return in how many bits gradients are sent, read off two gradients that differ only in the 13th bit."""
    paths = [result["paths"][name] for result in trial.of_ranks()]
    coarse, fine = np.transpose([path[1][0] - path[0][0] for path in paths])
    return 16 if np.allclose(fine, coarse, rtol=(FINE - 1) / 2, atol=0) else 32


def check_compression(trial: Trial) -> None:
    """Gradients are sent in 16 bits if requested, otherwise in 32."""
    for name, expected in (("none", 32), ("fp16", 16)):
        got = _bits(trial, name)
        message = f'with the compression "{name}", gradients are sent in {got} bits instead of {expected}'
        require(got == expected, message, "compression.wrong-bits")
    got = _bits(trial, "mixed")
    message = f'with the compression "none" and mixed precision, gradients are sent in {got} bits instead of 32'
    require(got == 32, message, "compression.wrong-bits")  # noqa: PLR2004
    is_right_without = _misfit(trial, "none")[1] < 0  # if not, the compression is not to blame
    message = 'with the compression "fp16", the updates do not follow SGD with momentum 0.9 on the mean gradient'
    require(not is_right_without or _misfit(trial, "fp16")[1] < 0, message, "compression.other-updates")


def check_groups(trial: Trial) -> None:
    """The gradients of a step are sent in `num_groups` groups, or one by one if this number is 0."""
    for rank, cases in enumerate(trial.of_ranks("messages")):
        for num_groups, messages, raised in cases:
            code = "groups.wrong-number" if num_groups else "groups.zero"
            message = f"with num_groups = {num_groups}, make_optimizer raises {raised}: pass groups=num_groups or None"
            require(not raised, message, code)
            single, grouped = (int(messages[kind]) for kind in ("single", "grouped"))
            got = f"expected {counted(num_groups, 'group')}, got {grouped} and {counted(single, 'single gradient')}"
            message = f"with num_groups = {num_groups}, the gradients of a step on rank {rank}: {got}"
            advice = "pass groups to hvd_keras.DistributedOptimizer (hvd.DistributedOptimizer drops them)"
            # An answer that averages in its own way has neither, and is judged only by its updates.
            require(single + grouped == 0 or grouped == num_groups, f"{message}: {advice}", code)


def check_step(make_step: Answer, num_ranks: int) -> None:
    """A step moves all ranks by the mean of their gradients, returns the loss, and is traced once."""
    num_steps = drivers.NUM_STEPS + len(FACTORS)
    factors = np.ones((num_ranks, num_steps), dtype=np.float32)
    factors[:, drivers.NUM_STEPS :] = FACTORS
    factors[-1, drivers.NUM_STEPS] = 0  # a zero also counts in the mean
    private = draw_private(num_ranks, probe_model.NUM_CLASSES, num_samples=num_steps * probe_model.BATCH_SIZE)
    private = tuple(given | {"factors": own} for given, own in zip(private, factors))
    trial = try_on_ranks(drivers.use_step, make_step, num_ranks=num_ranks, private=private)
    message = "a layer that is not to be trained has changed: use network.trainable_variables"
    require(all(scale == 1 for scale in trial.of_ranks("frozen")), message, "weights.frozen-changed")
    steps = steps_of(trial.of_ranks("records"))
    check_rates(rates(steps.until(drivers.NUM_STEPS), first=1), probe_model.RATE, num_ranks)
    check_follows(trial.steps(), private)
    check_exact(steps, np.full(num_steps, probe_model.RATE), factors, first=0)
    for rank, result in enumerate(trial.of_ranks()):
        message = f"the optimiser's momenta on rank {rank} differ from those of rank 0: average gradients, not weights"
        is_same = np.allclose(result["momenta"], trial.of_ranks()[0]["momenta"], rtol=1e-4, atol=SMALL)
        require(is_same, message, "momenta.differ")
    for rank, (result, own) in enumerate(zip(trial.of_ranks(), factors * steps.losses())):
        what = f"the losses of its batches that the steps return on rank {rank}"
        require_close(result["losses"], own, what, "loss.wrong", tolerance=1e-4)
        traces = f"the Python code of the step ran {result['num_traces']} times for {len(own)} steps"
        eager = Cause("it is not compiled; use tf.function", "step.not-compiled")
        often = Cause("compile it once for all steps", "step.compiled-again")
        words, code = eager if result["is_eager"] else often
        message = "the step updates the weights outside its compiled function: compile the whole step"
        require(result["is_eager"] or not result["updates_eagerly"], message, "step.not-compiled")
        # TensorFlow may trace once more to create the variables.
        require(result["num_traces"] <= 2, f"{traces}: {words}", code)  # noqa: PLR2004
