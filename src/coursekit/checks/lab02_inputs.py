"""The data of the training runs that test lab 02's `train`: each rank's samples and initial variables.

Each run shows a different property, as `lab02_trial` explains. The numbers are chosen so that a trajectory can be read
in only one way: the mean over the ranks differs from every rank's own value, and a sum of codes identifies its samples.
"""

from dataclasses import dataclass

import numpy as np

from coursekit.checks.compare import Array

RATE = 0.04  # so small that training stays stable even if the rate is scaled twice
BATCH_SIZE = 4
NUM_EPOCHS = {"constant": 8, "coded": 4, "real": 3, "apart": 2, "long": 52}
STEPS_PER_EPOCH = {"constant": 2, "coded": 2, "real": 2, "apart": 2, "long": 1}  # of every rank, with the run's batches
SHARE = 8  # number of samples of each rank in the coded run
# In the real run, one rank has one more sample than the others. If smaller batches are left out, each rank takes one
# step per epoch.
REAL_SHARE, REAL_BATCH_SIZE = 8, 5
NUM_KINDS = 3  # of samples in that run; so few that batches of three rarely have the same mean as batches of four
# The targets in the long run are about LEVEL + SLOPE * x: the slope is so small that no rank's loss ever falls.
LEVEL, SLOPE = 290, 25
# The factor by which steps grow there. Gradients reach 1e17, and their squares still fit into 32 bits; the scaled rate
# reaches 1.4.
GROWTH = 1.9
# Large compared with a start around one, and small enough for a sum of gradients sent in 16 bits (below 65504).
CONSTANT = 7e3
SMALLEST_CONSTANT = 0.3 * CONSTANT
UNIT = 100.0
MARK = 16  # the marked sample's code is this times two to the power of the rank, which shows which ranks used it
NUM_CODES = 2  # per sample; with more, fewer wrong sums look right by chance, but 16 bits must tell the codes apart
NUM_TRAININGS = 20  # runs of one step; two numbers from each show whether starts are standard normal
NUM_STARTS = 2  # slope and offset; any further variables start at the same numbers again
START = 1e3  # starts are so far apart that one step of an optimiser that has its own rate does not blur them


@dataclass(frozen=True)
class Inputs:
    """What the ranks train on; if the first axis of an array has length num_ranks, each rank gets only its own part."""

    constants: Array  # the points (x, y) of the constant run, shape (num_ranks, 2)
    codes: Array  # the codes of the coded run's samples, shape (num_samples,); a target is `UNIT` times the code
    marked: int  # the number of the marked sample; its entry in `codes` is 0, but each rank gets another code (`MARK`)
    points: Array  # the points (x, y) of the real run, shape (num_ranks, NUM_KINDS, 2)
    kinds: Array  # for each sample, which of the points it is, shape (num_samples,)
    starts: Array  # the values at which variables start in the run *apart*, shape (num_ranks, num_starts)
    targets: Array  # the targets of the run *apart*, shape (num_ranks,)
    long: Array  # the points (x, y) of the long run, shape (num_ranks, 2)
    num_long: int = NUM_EPOCHS["long"]  # the number of the long run's epochs
    num_starts: int = NUM_TRAININGS  # the number of additional runs, which have one step each

    def num_constant_samples(self, *, unequal: bool = True) -> int:
        """Return the number of samples in the constant run.

        If `unequal`, one rank has a shard of 6 samples, and the others have 5; otherwise, each has `SHARE` samples.
        """
        return 5 * len(self.constants) + 1 if unequal else SHARE * len(self.constants)

    def num_epochs(self) -> dict[str, int]:
        """Return the number of epochs of each run."""
        return {**NUM_EPOCHS, "long": self.num_long}

    def rates(self) -> dict[str, float]:
        """Return the learning rate of one rank in each run."""
        x = self.long[:, 0]
        hessian = 2 * np.array([[np.mean(x * x), np.mean(x)], [np.mean(x), 1]])
        long = (1 + GROWTH) / np.max(np.linalg.eigvalsh(hessian)) / len(x)
        return {**dict.fromkeys(NUM_EPOCHS, RATE), "apart": 0.0, "long": float(long)}


def draw_inputs(num_ranks: int, rng: np.random.Generator) -> Inputs:
    """Draw random inputs for this number of ranks."""
    num_samples = SHARE * num_ranks
    codes = rng.permutation(NUM_CODES * num_samples)[:num_samples] + rng.uniform(0, 1, num_samples)
    marked = int(rng.integers(num_samples))
    codes[marked] = 0
    x = rng.uniform(0.2, 0.6, (num_ranks, NUM_KINDS)) * [-1, 1, 0.1]
    starts = rng.choice([-1, 1], (num_ranks, NUM_STARTS)) * rng.uniform(START / 3, START, (num_ranks, NUM_STARTS))
    starts[0] = round(starts[0, 0])
    # Only rank 0's own targets show where rank 0 starts; with three or more ranks, the mean of the targets does, too.
    offs = rng.integers(int(START / 3), int(START), num_ranks)
    offs[0] = 0
    if np.count_nonzero(offs) > 1:
        offs[-1] = -np.sum(offs[:-1])
    long = rng.permutation(np.linspace(-0.6, 0.6, num_ranks)) + rng.uniform(-0.05, 0.05, num_ranks)
    return Inputs(
        constants=_draw_constants(num_ranks, rng),
        codes=codes,
        marked=marked,
        points=_rounded(np.stack([x, 2 * x + rng.uniform(-1, 1, x.shape)], axis=2)),
        kinds=_draw_kinds(num_ranks, rng),
        starts=starts.astype(np.float32),
        targets=starts[0, 0] + offs,
        long=_rounded(np.stack([long, LEVEL + SLOPE * long + rng.uniform(-2, 2, num_ranks)], axis=1)),
    )


def _draw_kinds(num_ranks: int, rng: np.random.Generator) -> Array:
    """Draw the kind of each sample in the real run.

    If the samples are sharded in order, each shard's last batch has several kinds. If all its samples were of one kind,
    a batch of three would have the same mean as a batch of four, and a lost sample would not show.
    """
    numbers = np.arange(REAL_SHARE * num_ranks + 1)
    shards = [numbers[rank::num_ranks] for rank in range(num_ranks)] + np.array_split(numbers, num_ranks)
    shards += np.split(numbers[:-1], num_ranks)
    while True:
        kinds = rng.permutation(numbers % NUM_KINDS)
        if all(np.ptp(kinds[shard[REAL_BATCH_SIZE:REAL_SHARE]]) for shard in shards):
            return np.asarray(kinds)


def _draw_constants(num_ranks: int, rng: np.random.Generator) -> Array:
    """Draw a point for each rank, with clearly different targets, so that a rank's own gradient is not the mean.

    The mean gradient must also have a slope part. Otherwise, a rank that averages only the slope moves by a multiple
    of the mean gradient, as if only its rate were wrong.
    Example: x = (-0.6, 0.4) and y = (4000, 6000) give no slope part, because -0.6 * 4000 + 0.4 * 6000 = 0.
    """
    while True:
        x = rng.permutation(np.linspace(-0.5, 0.5, num_ranks)) + rng.uniform(-0.1, 0.1, num_ranks)
        y = rng.uniform(SMALLEST_CONSTANT, CONSTANT, num_ranks)
        if num_ranks == 1 or (np.ptp(y) > CONSTANT / 4 and abs(np.mean(x * y)) > CONSTANT / 50):
            return _rounded(np.stack([x, y], axis=1))


def _rounded(numbers: Array) -> Array:
    """Return these numbers rounded to 32 bits."""
    return np.asarray(numbers.astype(np.float32).astype(float))


def private_of(inputs: Inputs, *, unequal: bool = True) -> list[dict[str, Array]]:
    """Return each rank's private values: its data, keyed by run, and the initial values of its variables.

    The data of a run are x and y in one array, shape (2, num_samples); the initial values have the key "starts".
    """
    found = []
    for rank, (constant, points) in enumerate(zip(inputs.constants, inputs.points)):
        codes = inputs.codes.copy()
        codes[inputs.marked] = MARK * 2.0**rank
        constants = np.repeat(constant[:, np.newaxis], inputs.num_constant_samples(unequal=unequal), axis=1)
        data = {
            "constant": constants,
            "coded": [0 * codes, UNIT * codes],
            "real": points[inputs.kinds[: None if unequal else -1]].T,
            "apart": np.repeat([[0], [inputs.targets[rank]]], constants.shape[1], axis=1),
            "long": np.repeat(inputs.long[rank][:, np.newaxis], BATCH_SIZE * len(inputs.long), axis=1),
            "starts": inputs.starts[rank],
        }
        found.append({name: np.array(values, np.float32) for name, values in data.items()})
    return found
