"""What the spies of all ranks saw in one training, and the properties that follow from it.

An update of the bias is -rate * velocity, and velocity = momentum * velocity before + gradient.
The gradient on each rank can be predicted from the samples that its spy saw (`spy_math.gradient`),
so whose gradients entered an update, and with which rate, can be read off.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from coursekit.checks import spy_math
from coursekit.checks.check import CheckError, describe, require
from coursekit.checks.knowledge import batches_in_files, places_in_files
from coursekit.checks.on_ranks import run_and_look
from coursekit.checks.pieces import check_owners
from coursekit.drivers.calls import with_horovod
from coursekit.drivers.spy import MOMENTUM
from coursekit.ranks import RankError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coursekit.checks.knowledge import Secrets
    from coursekit.checks.on_ranks import Left
    from coursekit.drivers import spy

Array = np.ndarray[Any, Any]

RANKS_PER_NODE = 2  # so three ranks are on two nodes: there the local rank is not the rank
FIRST_STEP = 2  # before it, a broadcast after the first step may still move the ranks
TOLERANCE = 1e-2  # of a gradient's length; gradients that travel with 16 bits stay far below it
SMALLEST_GAP = 1e-6  # between weights; float32 rounding stays below it


@dataclass(frozen=True)
class Trial:
    """What one launch on real ranks gave.

    Attributes:
        num_ranks: the world size.
        results: what each rank returned, in rank order.
        error: why the launch did not end well, or ''.
        secrets: what each rank was told and no other.
        left: the files that each rank left in its own folder, seen from outside, where the launch asked for them.
        on: gives the trial of the same answer on another number of ranks; it is made once, for all who ask.
    """

    num_ranks: int
    results: tuple[Any, ...] = ()
    error: str = ""
    secrets: Secrets = ()
    left: tuple[Left, ...] = ()
    on: Callable[[int], Trial] | None = field(default=None, compare=False, repr=False)

    def of_ranks(self) -> tuple[Any, ...]:
        """Return the results in rank order.

        Raises:
            CheckError: there are none, because of the answer.
        """
        require(not self.error, f"the run did not end well: {self.error}")
        return self.results


def try_on_ranks(
    driver: Callable[..., Any],
    *args: Any,
    num_ranks: int,
    timeout_s: float = 45.0,
    secrets: Secrets,
    look: bool = False,
) -> Trial:
    """Run a driver on real ranks with Horovod; an error of the answer becomes `Trial.error`, for every property."""
    try:
        found, left = run_and_look(
            with_horovod,
            driver,
            *args,
            num_ranks=num_ranks,
            ranks_per_node=min(num_ranks, RANKS_PER_NODE),
            timeout_s=timeout_s,
            private=secrets,
            look=look,
        )
        return Trial(num_ranks, tuple(found), secrets=secrets, left=tuple(left))
    except (RankError, CheckError) as error:
        text = str(error) if isinstance(error, CheckError) else describe(error)
        return Trial(num_ranks, error=text, secrets=secrets)


def try_pipeline(driver: Callable[..., Any], *args: Any, num_ranks: int, secrets: Secrets) -> Trial:
    """Read files on real ranks: the results are batches by way, with samples by their places in the files.

    What each rank's files hold only it can read.
    """
    trial = try_on_ranks(driver, *args, num_ranks=num_ranks, secrets=secrets)
    try:
        by_place = [
            {way: batches_in_files(batches, secret) for way, batches in result.items()}
            for result, secret in zip(trial.results, secrets)
        ]
    except (AttributeError, LookupError, TypeError, ValueError):
        return replace(trial, results=(), error="the pipeline did not give batches of pictures and labels")
    return replace(trial, results=tuple(by_place))


@dataclass(frozen=True)
class Steps:
    """The training steps of one training, as the ranks' spies saw them.

    Attributes:
        bias: before each step, shape (num_ranks, num_steps, num_classes).
        samples: the numbers of the samples in each rank's batch, by rank and step.
    """

    bias: Array
    samples: tuple[tuple[Array, ...], ...]

    @property
    def num_steps(self) -> int:
        """The number of steps that every rank made."""
        return int(self.bias.shape[1])

    def gradients(self) -> Array:
        """Return the gradient of each rank's own batch, shape (num_ranks, num_steps, num_classes)."""
        pairs = zip(self.bias, self.samples)
        return np.array([[spy_math.gradient(*step) for step in zip(bias, batches)] for bias, batches in pairs])

    def pulls(self, momentum: float = MOMENTUM) -> Array:
        """Return rate times gradient of the steps 1 to num_steps - 2, as the updates show it, same shape but shorter.

        The rate of two neighbouring steps may differ: Keras keeps -rate * velocity, so that each gradient has the
        rate of its own step.
        """
        moves = np.diff(self.bias, axis=1)
        found: Array = momentum * moves[:, :-1] - moves[:, 1:]
        return found


def steps_of(sights: Sequence[Sequence[spy.Sight]]) -> Steps:
    """Return the training steps among what the spies saw, by rank.

    Raises:
        CheckError: there are none, or the ranks made different numbers of steps.
    """
    training = [[sight for sight in of_rank if sight.training] for of_rank in sights]
    counts = [len(of_rank) for of_rank in training]
    require(min(counts) > 0, "the network was never called in training mode")
    require(len(set(counts)) == 1, f"the ranks made different numbers of steps: {counts}")
    require(counts[0] > FIRST_STEP + 1, f"only {counts[0]} steps were made")
    bias = np.array([[sight.bias for sight in of_rank] for of_rank in training], dtype=float)
    require(bool(np.isfinite(bias).all()), "the weights are no longer finite: training ran away")
    numbers = [sight.samples for of_rank in training for sight in of_rank]
    check_colors(numbers)
    # Counted by class later: a number that somebody made up would take memory without end.
    require(max(int(batch.max(initial=0)) for batch in numbers) < bias.shape[2] - 1, "pictures of no class were seen")
    return Steps(bias, tuple(tuple(sight.samples for sight in of_rank) for of_rank in training))


def check_colors(samples: Sequence[Array]) -> None:
    """Every picture has a sample's colour; otherwise nothing can be read off what the spies saw."""
    numbers = np.concatenate([np.ravel(batch) for batch in samples])
    num_strange = int((numbers < 0).sum())
    require(
        num_strange == 0,
        f"{num_strange} of {len(numbers)} pictures do not have their record's colour: are the pixels from -1 to 1?",
    )


def check_same_weights(steps: Steps, first: int = FIRST_STEP) -> None:
    """From step `first` on all ranks have the same weights.

    A rank that trains alone after the same start is another fault, of the averaging: only the start is asked here.
    """
    gaps = np.abs(steps.bias - steps.bias[:1]).max(axis=(0, 2))
    require(
        float(gaps[: first + 1].min()) < SMALLEST_GAP,
        f"the ranks start up to {gaps[0]:.3g} apart, and are still {gaps[first]:.3g} apart before step {first}: "
        "the start is not broadcast",
    )


def _fit(pulls: Array, gradients: Array) -> tuple[Array, Array]:
    """Return the rates that explain the pulls best, and what they leave unexplained, as a share; shape as the steps."""
    rates = (pulls * gradients).sum(axis=-1) / (gradients * gradients).sum(axis=-1)
    rest = np.linalg.norm(pulls - rates[..., np.newaxis] * gradients, axis=-1)
    return rates, rest / np.maximum(np.linalg.norm(pulls, axis=-1), 1e-12)


def rates(steps: Steps, first: int = FIRST_STEP, momentum: float = MOMENTUM) -> Array:
    """Return the rate of each rank in the steps `first` to num_steps - 2, shape (num_ranks, num_steps - 1 - first).

    Raises:
        CheckError: the updates are not made of the mean of all ranks' gradients.
    """
    pulls, own = steps.pulls(momentum)[:, first - 1 :], steps.gradients()[:, first:-1]
    require(bool(np.abs(pulls).max() > 0), "the weights do not move at all")
    found, rest = _fit(pulls, own.mean(axis=0, keepdims=True))
    if bool((rest < TOLERANCE).all()):
        return found
    _, rest_of_own = _fit(pulls, own)
    require(
        not bool((rest_of_own < TOLERANCE).all()),
        "the ranks move by their own gradients: the gradients are not averaged over the ranks",
    )
    message = f"the updates are not those of SGD with momentum {momentum:g} and the mean of all gradients"
    require(condition=False, message=message)
    return found


def check_rates(found: Array, expected: Array, num_ranks: int) -> None:
    """The rates are the expected ones; `found` has a row for each rank, `expected` one value for each step."""
    factors = found / expected
    hint = ""
    if np.allclose(factors, num_ranks, rtol=TOLERANCE):
        hint = ": the gradients are summed and not averaged, or the rate is scaled twice"
    elif np.allclose(factors, 1 / num_ranks, rtol=TOLERANCE):
        hint = ": the rate is not scaled"
    elif np.ptp(factors, axis=0).max() > TOLERANCE:
        hint = ": it depends on the rank"
    rank, step = np.unravel_index(np.argmax(np.abs(factors - 1)), factors.shape)
    require(
        bool(np.allclose(factors, 1, rtol=TOLERANCE)),
        f"rank {rank} makes a step with the learning rate {found[rank, step]:.4g}, "
        f"where it should be {expected[step]:.4g}{hint}",
    )


def owners_in_files(steps: Steps, secrets: Secrets) -> dict[int, list[int]]:
    """Return for each sample of the training files, by its place in them, the ranks that use it."""
    used = [places_in_files(np.concatenate(batches), secret) for batches, secret in zip(steps.samples, secrets)]
    for rank, places in enumerate(used):
        require(bool((places >= 0).all()), f"rank {rank} trains on pictures that are not in its files")
    return owners(used, len(secrets[0]["files"]["train"]["numbers"]))


def check_samples(steps: Steps, secrets: Secrets) -> None:
    """Every sample of the training files is used, and by one rank only."""
    check_owners(owners_in_files(steps, secrets), len(steps.samples))


def owners(samples: Sequence[Array], num_samples: int) -> dict[int, list[int]]:
    """Return for each sample the ranks that use it, from the samples of each rank."""
    used = [set(np.asarray(of_rank).tolist()) for of_rank in samples]
    return {sample: [rank for rank, mine in enumerate(used) if sample in mine] for sample in range(num_samples)}
