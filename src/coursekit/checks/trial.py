"""Try a whole distributed training function, whatever its code looks like: only its trajectory is asked for.

Short trainings in one launch, from which `coursekit.checks.updates` and `properties` read everything else:
*constant*, where all targets of a rank are one number; *coded*, where every sample of every rank has a target of its
own; *real*, on noisy data as in the lab.
The last, *apart*, is the real one with the rate zero and with variables that start elsewhere on each rank, whatever
the answer says, so that only a broadcast brings them together.
The coded one is made several times: random shards that fit together by luck do so once.

The targets of a rank are its own, and so is where its variables start: no other rank can know its constant, which of
its samples has which code, its noise, or its start.
So what depends on those of all ranks was communicated; a rank that only imagines the others guesses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks.check import CheckError, describe, require, require_result
from coursekit.checks.on_ranks import AnswerError, run_here
from coursekit.checks.plain_numbers import as_array, as_dict
from coursekit.checks.random_inputs import fresh_rng
from coursekit.checks.remembered import remember
from coursekit.drivers import trial as drivers
from coursekit.ranks import RankError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Array = np.ndarray[Any, Any]

NUM_EPOCHS = 10
RATE = 0.04  # small enough that a rate scaled twice is still below every limit
# Large against a start around one, and small enough for a sum of gradients that travel with 16 bits (below 65504).
CONSTANT = 1e4
SMALLEST_CONSTANT = 0.3 * CONSTANT
UNIT = 100.0
FIRST_STEP = 2  # before it, a broadcast after the first step may still move the ranks
MIN_NUM_STEPS = FIRST_STEP + 3  # two updates that can be compared, and the last, which is left out
# One bit for each sample of each rank; float32 holds sums of that many bits exactly enough, with room for rounding.
CODED_SAMPLES_PER_RANK = {1: 8, 2: 2, 3: 1}
CODED = ("coded 1", "coded 2", "coded 3")
NUM_REAL_SAMPLES = 6  # so few that all ways to divide them among the ranks can be tried
NUM_STARTS = 2  # slope and offset; variables besides start at the same numbers again
START = 1e3  # starts are so far apart that a step of an optimiser with a rate of its own does not blur them
MAX_NUM_STEPS = 1000  # ten times what the most wasteful answer needs


@dataclass(frozen=True)
class Inputs:
    """What the ranks train on; of everything with a first axis of length num_ranks, a rank sees its own part.

    Attributes:
        constants: the target of the constant training, shape (num_ranks,).
        bits: by coded training, which bit of the sums stands for each sample, shape (num_ranks, num_coded); its
            targets are `UNIT` times two to this power.
        x: inputs of the real training, shape (num_samples,), which all ranks know.
        y: its targets, shape (num_ranks, num_samples).
        starts: values where variables start in the training *apart*, shape (num_ranks, num_starts).
    """

    constants: Array
    bits: dict[str, Array]
    x: Array
    y: Array
    starts: Array


@dataclass(frozen=True)
class Trial:
    """What short trainings on real ranks showed.

    Attributes:
        num_ranks: the world size.
        histories: by training, an array of shape (num_ranks, num_steps + 1, 2): slope and offset before each step
            and after the last.
        inputs: what the ranks trained on.
        error: why the trainings did not end, or ''.
        on: gives the trial of the same training on another number of ranks; it is made once.
        changed: gives the name of the training when the notebook's is another by now, else ''.
    """

    num_ranks: int
    histories: dict[str, Array] = field(default_factory=dict)
    inputs: Inputs = field(default_factory=lambda: Inputs(np.zeros(0), {}, *[np.zeros(0)] * 3))
    error: str = ""
    on: Callable[[int], Trial] | None = field(default=None, compare=False, repr=False)
    changed: Callable[[], str] = field(default=str, compare=False, repr=False)

    def history(self, name: str) -> Array:
        """Return slope and offset in one of the trainings, shape (num_ranks, num_steps + 1, 2).

        Raises:
            CheckError: the trainings did not end.
        """
        require_result(self.error, "the training", self.changed())
        return self.histories[name]


def try_training(
    train: Callable[..., Any], num_ranks: int = 2, timeout_s: float = 30.0, ranks_per_node: int = 1
) -> Trial:
    """Run `train(x, y, num_epochs, batch_size, learning_rate)` on real ranks, several times in one launch.

    Every rank believes to be on a node of its own, so that rank and local rank, size and local size differ.
    Never raises because of the answer: an error becomes `Trial.error`, which every property reports.
    """
    on = cache(partial(try_training, train, timeout_s=timeout_s, ranks_per_node=ranks_per_node))
    changed = remember(train)
    inputs = draw_inputs(num_ranks, fresh_rng())
    zeros = np.zeros(CODED_SAMPLES_PER_RANK[num_ranks] * num_ranks, np.float32)
    try:
        results = run_here(
            drivers.trainings,
            train,
            {"constant": zeros, **dict.fromkeys(CODED, zeros), "real": inputs.x},
            NUM_EPOCHS,
            RATE,
            num_ranks=num_ranks,
            ranks_per_node=ranks_per_node,
            timeout_s=timeout_s,
            private=secrets(inputs),
        )
        by_rank = [as_dict(result, f"the trajectories of rank {rank}") for rank, result in enumerate(results)]
        names = ("constant", *CODED, "real", "apart")
        histories = {name: _stacked([result.get(name) for result in by_rank]) for name in names}
    except (RankError, AnswerError, CheckError, TypeError) as error:
        return Trial(num_ranks, error=describe(error), on=on, changed=changed)
    return Trial(num_ranks, histories, inputs, on=on, changed=changed)


def draw_inputs(num_ranks: int, rng: np.random.Generator) -> Inputs:
    """Return random inputs."""
    num_coded = CODED_SAMPLES_PER_RANK[num_ranks] * num_ranks
    blocks = num_coded * np.arange(num_ranks)[:, np.newaxis]
    x = rng.uniform(-0.5, 0.5, NUM_REAL_SAMPLES).astype(np.float32)
    noise = rng.uniform(-1, 1, (num_ranks, NUM_REAL_SAMPLES))
    signs = rng.choice([-1, 1], (num_ranks, NUM_STARTS))
    return Inputs(
        constants=_draw_constants(num_ranks, rng),
        bits={name: rng.permuted(blocks + np.arange(num_coded), axis=1) for name in CODED},
        x=x,
        y=(2 * x + noise).astype(np.float32),
        starts=(signs * rng.uniform(START / 3, START, signs.shape)).astype(np.float32),
    )


def _draw_constants(num_ranks: int, rng: np.random.Generator) -> Array:
    """Draw a constant for each rank, not all alike: the mean must be another than what some rank has."""
    while True:
        constants = rng.uniform(SMALLEST_CONSTANT, CONSTANT, num_ranks)
        if num_ranks == 1 or np.ptp(constants) > CONSTANT / 4:
            return constants.astype(np.float32).astype(float)


def secrets(inputs: Inputs) -> list[dict[str, Array]]:
    """Return for each rank what it alone is told: its targets, by training, and where its variables start."""
    num_coded = inputs.bits[CODED[0]].shape[1]
    return [
        {
            "constant": np.full(num_coded, constant, np.float32),
            **{name: (UNIT * 2.0 ** bits[rank]).astype(np.float32) for name, bits in inputs.bits.items()},
            "real": inputs.y[rank],
            "starts": inputs.starts[rank],
        }
        for rank, constant in enumerate(inputs.constants)
    ]


def _stacked(histories: Sequence[Any]) -> Array:
    found = [as_array(history, f"the trajectory of rank {rank}") for rank, history in enumerate(histories)]
    for rank, history in enumerate(found):
        require(
            history.ndim == 2 and history.shape[1] == 2,  # noqa: PLR2004  # slope, offset
            f"the training must return an array of shape (num_steps + 1, 2), not {history.shape} as on rank {rank}",
        )
        require(bool(np.isfinite(history).all()), f"the trajectory of rank {rank} is not finite")
        num_steps = len(history) - 1
        enough = num_steps >= MIN_NUM_STEPS
        require(enough, f"rank {rank} returned {num_steps} steps of {NUM_EPOCHS} epochs: each has a step at least")
        require(num_steps <= MAX_NUM_STEPS, f"rank {rank} returned {num_steps} steps of {NUM_EPOCHS} epochs")
    lengths = [len(history) - 1 for history in found]
    require(len(set(lengths)) == 1, f"the ranks made different numbers of steps: {lengths}")
    return np.stack(found)
