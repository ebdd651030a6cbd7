"""Data that only one rank and the judge know, and checks that the probe models' reports follow from them.

A student's code shares its process with the probe and could forge its reports, but it cannot know other ranks' data:
each rank has its own initial weights and its own samples, which no other rank can read.
Weights that follow from one rank's start and from all ranks' samples prove that the ranks communicated.

Example: rank 0 gets the weight 0.5 and the samples 3, 1; rank 1 gets the weight -0.2 and the samples 2, 0. Steps that
begin at 0.1 are forged, and so are steps of rank 1 with the samples 0, 2. If both ranks begin at 0.5 and then follow
the mean gradient of the samples 3 and 2, rank 1 cannot have known this weight unless rank 0 sent it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coursekit.checks.check import fresh_rng, require
from coursekit.checks.shards import Owners, check_used_in_batches, owners
from coursekit.checks.steps import Steps, loss
from coursekit.drivers.probe_model import MOMENTUM, Array

PrivateInputs = tuple[dict[str, Any], ...]  # one for each rank, see `drivers.probe_model.private_input`

LAST_STEP = 2  # until then, another rank's start may still replace a rank's own
TOLERANCE = 1e-2  # part of the move in a step; gradients sent in 16 bits stay far below it
SAME = 1e-5  # difference between weights that count as equal


def draw_private(  # noqa: PLR0913  # what a trial needs, by keyword
    num_ranks: int,
    num_classes: int,  # of the probes; there is one sample fewer than there are classes
    *,
    num_rounds: int = 1,  # training runs, each with its own start
    spread: float = 0.5,  # standard deviation of the first weights
    num_samples: int = 0,  # of each rank; ranks share no samples, and a rank's samples repeat when they run out
    files: Mapping[str, Sequence[int]] | None = None,  # by split, the samples per file; no sample comes twice on a rank
) -> PrivateInputs:
    """Draw each rank's private values: its starts, its samples and the contents of its files."""
    rng = fresh_rng()
    starts = rng.normal(0, spread, (num_ranks, num_rounds, num_classes)).astype(np.float32)
    shared_out = rng.permutation(num_classes - 1)
    samples = [np.resize(shared_out[rank::num_ranks], num_samples) for rank in range(num_ranks)]
    contents = [_contents(rng, num_classes - 1, files or {}) for _ in range(num_ranks)]
    return tuple(dict(zip(("starts", "samples", "files"), given)) for given in zip(starts, samples, contents))


def _contents(rng: np.random.Generator, num_samples: int, files: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    order, contents = rng.permutation(num_samples), {}
    for split, counts in files.items():
        numbers, order = np.split(order, [sum(counts)])
        contents[split] = {"counts": list(counts), "numbers": numbers, "labels": numbers + 1}
    return contents


def places_in_files(samples: Array, given: Mapping[str, Any], split: str = "train") -> Array:
    """Return the places of samples in a rank's files, counted over all files, or -1 for a sample that is not there."""
    numbers = np.asarray(given["files"][split]["numbers"])
    order = np.argsort(numbers)
    places = order[np.searchsorted(numbers, samples, sorter=order) % len(numbers)]
    return np.where(numbers[places] == samples, places, -1)


def batches_in_files(batches: Sequence[tuple[Array, Array]], given: Mapping[str, Any]) -> list[tuple[Array, Array]]:
    """Return the batches with every sample and label replaced by its place in the files; the labels count from 1."""
    found = []
    for samples, named in batches:
        labels = np.asarray(named)
        are_numbers = np.issubdtype(labels.dtype, np.number)
        places = places_in_files(labels - 1, given) if are_numbers else np.full(labels.shape, -1)
        found.append((places_in_files(samples, given), np.where(places < 0, -1, places + 1)))
    return found


def owners_in_files(steps: Steps, private: PrivateInputs) -> Owners:
    """Return, for each place in the training files, the ranks that use its sample."""
    used = [places_in_files(np.concatenate(batches), given) for batches, given in zip(steps.samples, private)]
    for rank, places in enumerate(used):
        require((places >= 0).all(), f"rank {rank} trains on images that are not in its files", "images.foreign")
    return owners(used, len(private[0]["files"]["train"]["numbers"]))


def check_samples(steps: Steps, private: PrivateInputs, batch_size: int) -> None:
    """Every sample of the training files is used by exactly one rank, except for leftovers that do not fill a batch."""
    counts = private[0]["files"]["train"]["counts"]
    check_used_in_batches(owners_in_files(steps, private), counts, len(private), batch_size)


def check_sent(
    samples: Sequence[Sequence[Array]], private: PrivateInputs, num_samples: int = 0, *, in_order: bool = True
) -> None:
    """Each rank's batches hold the samples that were sent to this rank.

    The rank uses the first `num_samples` of these samples, or all of them if the number is 0, again and again. If
    `in_order` is false, it may use them in any order.
    """
    for rank, (batches, given) in enumerate(zip(samples, private)):
        found = np.concatenate([np.ravel(batch) for batch in batches] or [np.zeros(0, dtype=int)])
        sent = np.asarray(given["samples"])
        wanted = np.resize(sent[: num_samples or len(sent)], len(found))
        message = f"rank {rank} does not train on the images that it was given"
        is_same = np.array_equal(*((found, wanted) if in_order else map(np.sort, (found, wanted))))
        require(is_same, message, "images.foreign")


def check_begins(steps: Steps, private: PrivateInputs, round_number: int = 0) -> None:
    """Every rank starts with weights that some rank was given."""
    starts = np.array([given["starts"][round_number] for given in private])
    for rank, bias in enumerate(steps.bias[:, 0]):
        gap = float(np.abs(starts - bias).max(axis=1).min())
        require(gap < SAME, f"rank {rank} starts with weights that no rank was given", "start.foreign")


def check_follows(
    steps: Steps, private: PrivateInputs, round_number: int = 0, last_step: int = LAST_STEP, momentum: float = MOMENTUM
) -> None:
    """The ranks start with weights that some rank was given, and the steps up to `last_step` follow from these.

    Each step may continue from the weights of any rank, because a broadcast may come first.
    Whether the ranks use the mean gradient or their own gradients is another property.
    """
    check_begins(steps, private, round_number)
    gradients = steps.gradients()
    moves = np.zeros_like(steps.bias[:, 0])
    for step in range(min(last_step, steps.num_steps - 1)):
        before, after = steps.bias[:, step], steps.bias[:, step + 1]
        found = [_move(new, before, momentum * moves, gradients[:, step]) for new in after]
        for rank, move in enumerate(found):
            message = (
                f"the weights of rank {rank} before step {step + 1} cannot follow from the ranks' weights and images"
            )
            require(move is not None, message, "updates.impossible")
        moves = np.array(found)


def _move(new: Array, before: Array, swings: Array, gradients: Array) -> Array | None:
    """Return the move from some rank's weights to the new weights, or None if no such move can be explained.

    A swing (the momentum of some rank's last move) plus a multiple of a gradient must explain the move.
    """
    downhill = [gradients.mean(axis=0), *gradients]
    for old in before:
        move: Array = new - old
        for swing in swings:
            pull = swing - move
            for gradient in downhill:
                rest = pull - (pull @ gradient) / (gradient @ gradient) * gradient
                if np.linalg.norm(rest) < TOLERANCE * max(float(np.linalg.norm(move)), SAME):
                    return move
    return None


def loss_of_all(bias: Array, samples: Sequence[Array]) -> float:
    """Return the mean loss over the samples of all ranks if every rank has the weights `bias`."""
    return loss(bias, np.concatenate([np.ravel(one) for one in samples]))
