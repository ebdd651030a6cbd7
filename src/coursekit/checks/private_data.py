"""What only a rank and the judge know, and whether what the probe models report follows from it.

A student's code shares its process with the probe and could forge what it reports, but not what it cannot know:
each rank starts at weights of its own, with samples of its own, that no other rank can read.
Weights that follow from one rank's start and from all ranks' samples prove that the ranks spoke with each other.

Example: rank 0 is told the start 0.5 and the samples 3, 1, rank 1 the start -0.2 and 2, 0. Steps that begin at 0.1 were
made up, and so were those of a rank 1 with the samples 0, 2. Of those that begin at 0.5 on both ranks and go on by the
mean gradient of the samples 3 and 2, rank 1 cannot have known where to begin unless rank 0 told it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coursekit.checks.check import fresh_rng, require
from coursekit.checks.shards import Owners, check_used_in_batches, owners
from coursekit.checks.steps import Steps, loss
from coursekit.drivers.probe_model import MOMENTUM, Array

PrivateInputs = tuple[dict[str, Any], ...]  # of the ranks, see `drivers.probe_model.private_input`

LAST_STEP = 2  # up to which a start may still be replaced by that of another rank
TOLERANCE = 1e-2  # of the move in a step; gradients that travel with 16 bits stay far below it
SAME = 1e-5  # between weights


def draw_private(  # noqa: PLR0913  # what a trial needs, by keyword
    num_ranks: int,
    num_classes: int,  # of the probes; there is one sample less
    *,
    num_rounds: int = 1,  # trainings, each with its own start
    spread: float = 0.5,  # standard deviation of the first weights
    num_samples: int = 0,  # of each rank; no two ranks get the same, and they repeat when they run out
    files: Mapping[str, Sequence[int]] | None = None,  # by split, the samples in each; a rank's files hold none twice
) -> PrivateInputs:
    """Draw what each rank alone knows."""
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
    """Return the places of samples in a rank's files, counted over all files, -1 for samples that are not in them."""
    numbers = np.asarray(given["files"][split]["numbers"])
    order = np.argsort(numbers)
    places = order[np.searchsorted(numbers, samples, sorter=order) % len(numbers)]
    return np.where(numbers[places] == samples, places, -1)


def batches_in_files(batches: Sequence[tuple[Array, Array]], given: Mapping[str, Any]) -> list[tuple[Array, Array]]:
    """Return batches of samples and labels by their places in the files; the label of the first place is 1."""
    found = []
    for samples, named in batches:
        labels = np.asarray(named)
        are_numbers = np.issubdtype(labels.dtype, np.number)
        places = places_in_files(labels - 1, given) if are_numbers else np.full(labels.shape, -1)
        found.append((places_in_files(samples, given), np.where(places < 0, -1, places + 1)))
    return found


def owners_in_files(steps: Steps, private: PrivateInputs) -> Owners:
    """Return for each sample of the training files, by its place in them, the ranks that use it."""
    used = [places_in_files(np.concatenate(batches), given) for batches, given in zip(steps.samples, private)]
    for rank, places in enumerate(used):
        require((places >= 0).all(), f"rank {rank} trains on images that are not in its files", "images.foreign")
    return owners(used, len(private[0]["files"]["train"]["numbers"]))


def check_samples(steps: Steps, private: PrivateInputs, batch_size: int) -> None:
    """Every sample of the training files is used, but for what full batches leave over, and by one rank only."""
    counts = private[0]["files"]["train"]["counts"]
    check_used_in_batches(owners_in_files(steps, private), counts, len(private), batch_size)


def check_sent(
    samples: Sequence[Sequence[Array]], private: PrivateInputs, num_samples: int = 0, *, in_order: bool = True
) -> None:
    """The samples in each rank's batches are those that were sent to it, or the first of them.

    Each rank goes through `num_samples` of them, again and again; 0: all. They come in any order unless `in_order`.
    """
    for rank, (batches, given) in enumerate(zip(samples, private)):
        found = np.concatenate([np.ravel(batch) for batch in batches] or [np.zeros(0, dtype=int)])
        sent = np.asarray(given["samples"])
        wanted = np.resize(sent[: num_samples or len(sent)], len(found))
        message = f"rank {rank} does not train on the images that it was given"
        is_same = np.array_equal(*((found, wanted) if in_order else map(np.sort, (found, wanted))))
        require(is_same, message, "images.foreign")


def check_begins(steps: Steps, private: PrivateInputs, round_number: int = 0) -> None:
    """The weights begin at starts that ranks were given."""
    starts = np.array([given["starts"][round_number] for given in private])
    for rank, bias in enumerate(steps.bias[:, 0]):
        gap = float(np.abs(starts - bias).max(axis=1).min())
        require(gap < SAME, f"rank {rank} starts with weights that no rank was given", "start.foreign")


def check_follows(
    steps: Steps, private: PrivateInputs, round_number: int = 0, last_step: int = LAST_STEP, momentum: float = MOMENTUM
) -> None:
    """The weights begin at the starts that the ranks were given, and the steps up to `last_step` follow from them.

    Each step may continue from the weights of any rank: that is a broadcast.
    Whether ranks use the mean of the gradients or their own is another property.
    """
    check_begins(steps, private, round_number)
    gradients = steps.gradients()
    moves = np.zeros_like(steps.bias[:, 0])
    for step in range(min(last_step, steps.num_steps - 1)):
        before, after = steps.bias[:, step], steps.bias[:, step + 1]
        found = [_move(new, before, momentum * moves, gradients[:, step]) for new in after]
        for rank, move in enumerate(found):
            message = (
                f"the weights of rank {rank} before step {step + 1} cannot result from the ranks' weights and images"
            )
            require(move is not None, message, "updates.impossible")
        moves = np.array(found)


def _move(new: Array, before: Array, swings: Array, gradients: Array) -> Array | None:
    """Return the move that leads to new weights from those of some rank by its swing and some gradient, or None."""
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
    """Return the mean loss over the samples of all ranks, with the same weights."""
    return loss(bias, np.concatenate([np.ravel(one) for one in samples]))
