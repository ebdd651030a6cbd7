"""Try a whole distributed training function, whatever its code looks like: only its trajectory is asked for.

Three short trainings in one launch, from which `coursekit.checks.properties` reads everything else:
*constant*, where all targets are one number; *coded*, where every sample of every rank has a target of its own;
*real*, on data as in the lab.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks.check import CheckError, describe, require
from coursekit.checks.on_ranks import run_here
from coursekit.ranks import RankError

if TYPE_CHECKING:
    from collections.abc import Callable

Array = np.ndarray[Any, Any]

NUM_EPOCHS = 4
RATE = 0.04  # small enough that a rate scaled twice is still below every limit
# Large against a start around one, and small enough for gradients that travel with 16 bits (below 65504).
CONSTANT = 1e4
UNIT = 100.0
FIRST_STEP = 2  # before it, a broadcast after the first step may still move the ranks
# One bit for each sample of each rank; float32 holds sums of that many bits exactly enough, with room for rounding.
CODED_SAMPLES_PER_RANK = {1: 8, 2: 2, 3: 1}
REAL_SAMPLES_PER_RANK = 12


@dataclass(frozen=True)
class Trial:
    """What three short trainings on real ranks showed.

    Attributes:
        num_ranks: the world size.
        histories: by training, an array of shape (num_ranks, num_steps + 1, 2): slope and offset before each step
            and after the last.
        x: inputs of the real training, shape (num_samples,).
        y: its targets, same shape.
        error: why the trainings did not end, or ''.
    """

    num_ranks: int
    histories: dict[str, Array] = field(default_factory=dict)
    x: Array = field(default_factory=lambda: np.zeros(0))
    y: Array = field(default_factory=lambda: np.zeros(0))
    error: str = ""


def try_training(train: Callable[..., Any], num_ranks: int = 2, timeout_s: float = 30.0) -> Trial:
    """Run `train(x, y, num_epochs, batch_size, learning_rate)` three times on real ranks, in one launch.

    Never raises because of the answer: an error becomes `Trial.error`, which every property reports.
    """
    num_samples = REAL_SAMPLES_PER_RANK * num_ranks
    rng = np.random.default_rng()
    x = rng.uniform(-0.5, 0.5, num_samples).astype(np.float32)
    y = (2 * x + rng.uniform(-0.5, 0.5, num_samples)).astype(np.float32)
    try:
        results = run_here(_three_trainings, train, x, y, num_ranks=num_ranks, timeout_s=timeout_s)
        histories = {name: _stacked([result[name] for result in results]) for name in ("constant", "coded", "real")}
    except (RankError, CheckError, TypeError) as error:
        return Trial(num_ranks, error=str(error) if isinstance(error, CheckError) else describe(error))
    return Trial(num_ranks, histories, x, y)


def _three_trainings(train: Callable[..., Any], x: Array, y: Array) -> dict[str, Array]:
    """On a rank: train on the three data sets."""
    rank, size = int(os.environ["HOROVOD_RANK"]), int(os.environ["HOROVOD_SIZE"])
    coded = codes(rank, CODED_SAMPLES_PER_RANK[size] * size)
    zeros = np.zeros_like(coded)
    data = {"constant": (zeros, zeros + np.float32(CONSTANT)), "coded": (zeros, coded), "real": (x, y)}
    return {
        name: np.asarray(train(*pair, NUM_EPOCHS, len(pair[0]) // size, RATE), dtype=float)
        for name, pair in data.items()
    }


def codes(rank: int, num_samples: int) -> Array:
    """Return targets of shape (num_samples,): for each sample of this rank a power of two of its own."""
    return (UNIT * 2.0 ** (rank * num_samples + np.arange(num_samples))).astype(np.float32)


def _stacked(histories: list[Array]) -> Array:
    for rank, history in enumerate(histories):
        require(
            history.ndim == 2 and history.shape[1] == 2 and len(history) > FIRST_STEP + 1,  # noqa: PLR2004  # slope, offset
            f"the training must return an array of shape (num_steps + 1, 2), not {history.shape} as on rank {rank}",
        )
        require(bool(np.isfinite(history).all()), f"the trajectory of rank {rank} is not finite")
    lengths = [len(history) - 1 for history in histories]
    require(len(set(lengths)) == 1, f"the ranks made different numbers of steps: {lengths}")
    return np.stack(histories)
