"""What the spies of all ranks saw in one training, and the properties that follow from it.

Whose gradients entered an update, and with which rate, can be read off the updates (`spy_steps`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from coursekit.checks.check import CheckError, describe, require, require_result
from coursekit.checks.knowledge import batches_in_files, places_in_files
from coursekit.checks.on_ranks import run_and_look
from coursekit.checks.remembered import remember
from coursekit.checks.shards import check_owners
from coursekit.checks.spy_steps import FIRST_STEP
from coursekit.drivers.calls import with_horovod
from coursekit.drivers.spy import MOMENTUM, Array
from coursekit.ranks import RankError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coursekit.checks.knowledge import Secrets
    from coursekit.checks.on_ranks import Left
    from coursekit.checks.spy_steps import Steps

RANKS_PER_NODE = 2  # so three ranks are on two nodes: there the local rank is not the rank
TOLERANCE = 1e-2  # of a gradient's length; gradients that travel with 16 bits stay far below it
SAMPLES_PER_FILE = (5, 3, 6, 4, 5, 4, 3)  # unequal, as in ImageNet, and so many that no world size divides them
SMALLEST_GAP = 1e-6  # between weights; float32 rounding stays below it
EXACT = 4e-5  # of a gradient; 32 bits leave a tenth of it, 16 bits more than ten times as much


@dataclass(frozen=True)
class SpyTrial:
    """What one launch on real ranks gave.

    Attributes:
        num_ranks: the world size.
        results: what each rank returned, in rank order.
        error: why the launch did not end well, or ''.
        secrets: what each rank was told and no other.
        left: the files that each rank left in its own folder, seen from outside, where the launch asked for them.
        on: gives the trial of the same answer on another number of ranks; it is made once.
        changed: gives the name of an answer of which the notebook has another by now, else ''.
    """

    num_ranks: int
    results: tuple[Any, ...] = ()
    error: str = ""
    secrets: Secrets = ()
    left: tuple[Left, ...] = ()
    on: Callable[[int], SpyTrial] | None = field(default=None, compare=False, repr=False)
    changed: Callable[[], str] = field(default=str, compare=False, repr=False)

    def of_ranks(self) -> tuple[Any, ...]:
        """Return the results in rank order.

        Raises:
            CheckError: there are none, because of the answer.
        """
        require_result(self.error, "the run", self.changed())
        return self.results


def try_on_ranks(  # noqa: PLR0913  # the settings of a launch
    driver: Callable[..., Any],
    *args: Any,
    num_ranks: int,
    ranks_per_node: int = RANKS_PER_NODE,
    timeout_s: float = 45.0,
    secrets: Secrets,
    look: bool = False,
) -> SpyTrial:
    """Run a driver on real ranks with Horovod; an error of the answer becomes `SpyTrial.error`, for every property."""
    changed = remember(*args)
    try:
        found, left = run_and_look(
            with_horovod,
            driver,
            *args,
            num_ranks=num_ranks,
            ranks_per_node=min(num_ranks, ranks_per_node),
            timeout_s=timeout_s,
            private=secrets,
            look=look,
        )
        return SpyTrial(num_ranks, tuple(found), secrets=secrets, left=tuple(left), changed=changed)
    except (RankError, CheckError) as error:
        return SpyTrial(num_ranks, error=describe(error), secrets=secrets, changed=changed)


def try_pipeline(
    driver: Callable[..., Any], *args: Any, num_ranks: int, secrets: Secrets, look: bool = False
) -> SpyTrial:
    """Read files on real ranks: the results are batches by way, with samples by their places in the files.

    What each rank's files hold only it can read. Entries that are no lists of batches stay as they are.
    """
    trial = try_on_ranks(driver, *args, num_ranks=num_ranks, secrets=secrets, look=look)
    try:
        by_place = [
            {
                way: batches_in_files(batches, secret) if isinstance(batches, list) else batches
                for way, batches in result.items()
            }
            for result, secret in zip(trial.results, secrets)
        ]
    except (AttributeError, LookupError, TypeError, ValueError):
        return replace(trial, results=(), error="the pipeline did not give batches of images and labels")
    return replace(trial, results=tuple(by_place))


def samples_read(trial: SpyTrial, way: str) -> list[Array]:
    """Return the samples that each rank of a pipeline's trial read in one way, in their order."""
    return [np.concatenate([numbers for numbers, _ in result[way]] or [[]]) for result in trial.of_ranks()]


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


def fit(pulls: Array, gradients: Array) -> tuple[Array, Array]:
    """Return the rate that explains each pull best, shape as the steps, and what it leaves over, shape as the pulls."""
    rates = (pulls * gradients).sum(axis=-1) / (gradients * gradients).sum(axis=-1)
    return rates, pulls - rates[..., np.newaxis] * gradients


def _explains(pulls: Array, rest: Array) -> bool:
    lengths = np.maximum(np.linalg.norm(pulls, axis=-1), 1e-12)
    return bool((np.linalg.norm(rest, axis=-1) < TOLERANCE * lengths).all())


def rates(steps: Steps, first: int = FIRST_STEP, momentum: float = MOMENTUM) -> Array:
    """Return the rate of each rank in the steps `first` to num_steps - 2, shape (num_ranks, num_steps - 1 - first).

    Raises:
        CheckError: the updates are not made of the mean of all ranks' gradients.
    """
    pulls, own = steps.pulls(momentum)[:, first - 1 :], steps.gradients()[:, first:-1]
    require(bool(np.abs(pulls).max() > 0), "the weights do not move at all")
    found, rest = fit(pulls, own.mean(axis=0, keepdims=True))
    if _explains(pulls, rest):
        return found
    if _explains(pulls, fit(pulls, own)[1]):
        raise CheckError("the ranks move by their own gradients: the gradients are not averaged over the ranks")
    expected = f"the updates are not those of SGD with momentum {momentum:g} and the mean of all gradients"
    if momentum and not momentum_of(steps, first):
        raise CheckError(f"{expected}: expected momentum {momentum:g}, got none")
    for rank, pull in enumerate(pulls[:, 0]):
        shares = np.linalg.lstsq(own[:, 0].T, pull, rcond=None)[0]
        if _explains(pull, pull - shares @ own[:, 0]) and np.ptp(shares) > TOLERANCE * np.abs(shares).max():
            told = ", ".join(f"{abs(share):.2f}" for share in shares / shares.sum())
            raise CheckError(
                f"{expected}: rank {rank} moves by the gradients of the ranks in the shares {told}, "
                f"expected {1 / len(own):.2f} of each"
            )
    raise CheckError(expected)


def momentum_of(steps: Steps, first: int = FIRST_STEP) -> float:
    """Return the momentum to read the updates with: 0 where the mean of all gradients alone explains them."""
    plain, mean = steps.pulls(0.0)[:, first - 1 :], steps.gradients()[:, first:-1].mean(axis=0, keepdims=True)
    return 0.0 if _explains(plain, fit(plain, mean)[1]) else MOMENTUM


def bits(steps: Steps) -> int:
    """Return with how many bits the gradients travel, 32 or 16, by what the mean of exact ones leaves of the updates.

    Whether the updates have the right momentum or none does not matter.

    Raises:
        CheckError: as `rates` does.
    """
    momentum = momentum_of(steps)
    found = rates(steps, momentum=momentum)
    mean = steps.gradients().mean(axis=0)[FIRST_STEP:-1]
    pulls = steps.pulls(momentum)[0, FIRST_STEP - 1 :] / found[0][:, np.newaxis]
    rest = float(np.median(np.linalg.norm(pulls - mean, axis=1) / np.linalg.norm(mean, axis=1)))
    return 32 if rest < EXACT else 16


def check_bits(steps: Steps, compression: str) -> None:
    """Gradients travel with 16 bits where the compression is "fp16", else with 32."""
    expected, got = 16 if compression == "fp16" else 32, bits(steps)
    require(got == expected, f'with the compression "{compression}" gradients travel with {got} bits, not {expected}')


def check_rates(found: Array, expected: Array | float, num_ranks: int) -> None:
    """The rates are the expected ones; `found` has a row for each rank, `expected` a value for each step or for all."""
    expected = np.broadcast_to(expected, found.shape[1])
    factors = found / expected
    hint = ""
    if np.allclose(factors, num_ranks, rtol=TOLERANCE):
        hint = ": the gradients are summed and not averaged, or the rate is scaled twice"
    elif np.allclose(factors, 1 / num_ranks, rtol=TOLERANCE):
        hint = ": the rate is not scaled"
    elif np.ptp(factors, axis=0).max() > TOLERANCE:
        hint = ": it depends on the rank"
    elif np.ptp(factors) < TOLERANCE and abs(factors.flat[0] - 1) > TOLERANCE:
        hint = f", {factors.flat[0]:.3g} times as much in every step on every rank"
    rank, step = np.unravel_index(np.argmax(np.abs(factors - 1)), factors.shape)
    require(
        bool(np.allclose(factors, 1, rtol=TOLERANCE)),
        f"the learning rate of a step on rank {rank}: expected {expected[step]:.3g}, got {found[rank, step]:.3g}{hint}",
    )


def owners_in_files(steps: Steps, secrets: Secrets) -> dict[int, list[int]]:
    """Return for each sample of the training files, by its place in them, the ranks that use it."""
    used = [places_in_files(np.concatenate(batches), secret) for batches, secret in zip(steps.samples, secrets)]
    for rank, places in enumerate(used):
        require(bool((places >= 0).all()), f"rank {rank} trains on images that are not in its files")
    return owners(used, len(secrets[0]["files"]["train"]["numbers"]))


def check_samples(steps: Steps, secrets: Secrets) -> None:
    """Every sample of the training files is used, and by one rank only."""
    check_owners(owners_in_files(steps, secrets), len(steps.samples))


def owners(samples: Sequence[Array], num_samples: int) -> dict[int, list[int]]:
    """Return for each sample the ranks that use it, from the samples of each rank."""
    used = [set(np.asarray(of_rank).tolist()) for of_rank in samples]
    return {sample: [rank for rank, mine in enumerate(used) if sample in mine] for sample in range(num_samples)}
