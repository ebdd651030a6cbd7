"""Tests a whole distributed training function, however it is written: only its trajectory counts.

In one launch, the answer trains several times; `lab02_updates` and `lab02_properties` read all properties off these
short runs.
In the run *constant*, all samples of a rank are the same point. In the run *coded*, the mean target of an epoch shows
whether every sample was used once. In the run *real*, the samples of a rank are copies of three points that no other
rank has.
In the run *apart*, the rate is zero, and variables start at different values on each rank, whatever the answer does. So
only a broadcast brings the ranks together; once all ranks are where rank 0 started, the mean gradient is zero.
The run *long* has many epochs, and its rate is so large that each step is nearly twice as long as the previous step. So
anything that is added to plain steps shows sooner or later.
Some runs of one step follow; only their initial variables are read.

Each epoch has several batches, except in the long run. The last batch is smaller in the constant and the real run, in
which the shards are unequal.
If unequal shards lead to unequal numbers of steps, the ranks wait for each other for ever. Then they run again with one
batch in each epoch, so that the other properties can be checked.

Each rank has its own data and its own initial variables, and no other rank can know them.
So a result that depends on the values of all ranks proves that the ranks communicated; otherwise, a rank could only
guess.
"""

from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from coursekit.checks.check import CheckError, describe, fresh_rng, require
from coursekit.checks.compare import Array, as_array
from coursekit.checks.lab02_inputs import (
    BATCH_SIZE,
    NUM_EPOCHS,
    NUM_TRAININGS,
    REAL_BATCH_SIZE,
    SHARE,
    STEPS_PER_EPOCH,
    Inputs,
    draw_inputs,
    private_of,
)
from coursekit.checks.on_ranks import AnswerError, run_on_ranks
from coursekit.checks.steps import FIRST_STEP, check_same_number
from coursekit.checks.trials import Trial, remember
from coursekit.drivers import lab02 as drivers
from coursekit.drivers.calls import Answer, call
from coursekit.ranks import RankError, RankTimeoutError

MIN_NUM_STEPS = FIRST_STEP + 2  # of the constant run: one update is read, and the last update is left out
LARGEST = 1e100  # slope or offset; squares and differences of larger numbers overflow
NAMES = ("slope", "offset")
SAME_PLACE = 1e-5  # float32 rounding
MAX_NUM_STEPS = 1000  # ten times what the most wasteful answer needs


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainingTrial(Trial):
    """The results of short runs on real ranks: the trajectories of each rank, keyed by run."""

    inputs: Inputs  # what the ranks trained on
    stuck: str = ""  # the message if the ranks waited for each other on unequal shards

    def history(self, name: str) -> Array:
        """Return slope and offset before each step and after the last step, shape (num_ranks, num_steps + 1, 2)."""
        return np.stack(self.of_ranks(name))

    def gaps(self, name: str) -> Array:
        """Return the largest distance of any rank from rank 0 before each step and after the last step."""
        history = self.history(name)
        return np.asarray(np.max(np.abs(history - history[:1]), axis=(0, 2)))

    def all_starts(self) -> Array:
        """Return, sorted, all different slopes and offsets at which rank 0 starts its runs; *apart* is left out."""
        trained = [self.history(name)[0, 0] for name in NUM_EPOCHS if name != "apart"]
        return np.unique(np.concatenate([*trained, np.ravel(self.of_ranks("starts")[0])]))

    def first_row(self, name: str) -> int:
        """Return the first row of the history at which all ranks are together, or `FIRST_STEP` if there is none."""
        gaps = self.gaps(name)[: FIRST_STEP + 1]
        return int(np.argmax(gaps < SAME_PLACE)) if (gaps < SAME_PLACE).any() else FIRST_STEP


def try_training(  # noqa: PLR0913  # the settings of a launch
    train: Answer,
    num_ranks: int = 2,
    *,
    timeout_s: float = 15.0,
    ranks_per_node: int = 2,
    num_long: int = NUM_EPOCHS["long"],  # the number of epochs of the long run; fewer if each epoch is slow
    num_starts: int = NUM_TRAININGS,  # the number of one-step runs; 0 if the start is not checked
) -> TrainingTrial:
    """Run `train(x, y, num_epochs, batch_size, learning_rate)` on real ranks, several times in one launch.

    With several ranks on a node and several nodes, rank and local rank differ, and so do size and local size.
    The answer's errors are not raised here; they become `TrainingTrial.error`, and the check of every property reports
    it.
    """
    nums: dict[str, Any] = {"num_long": num_long, "num_starts": num_starts}
    on = cache(partial(try_training, train, timeout_s=timeout_s, ranks_per_node=ranks_per_node, **nums))
    inputs = replace(draw_inputs(num_ranks, fresh_rng()), **nums)
    tried = partial(TrainingTrial, num_ranks, inputs=inputs, on=on, changed=remember(train))
    launch: dict[str, Any] = {"ranks_per_node": min(ranks_per_node, num_ranks), "timeout_s": timeout_s}
    stuck = ""
    try:
        try:
            return tried(_launch(train, inputs, BATCH_SIZE, **launch))
        except RankTimeoutError as error:
            stuck = describe(error)
        one_batch = SHARE * num_ranks  # so that each epoch is one step on every rank
        return tried(_launch(train, inputs, one_batch, **launch), stuck=stuck)
    except (RankError, AnswerError, CheckError, TypeError) as error:
        return tried(error=stuck or describe(error))


def _launch(train: Answer, inputs: Inputs, batch_size: int, **launch: Any) -> list[dict[str, Array]]:
    """Launch the ranks once, and return the trajectories of each rank, keyed by run."""
    private = private_of(inputs, unequal=batch_size == BATCH_SIZE)
    batch_sizes = dict.fromkeys(NUM_EPOCHS, batch_size)
    if batch_size == BATCH_SIZE:
        batch_sizes["real"] = REAL_BATCH_SIZE
    args = drivers.training_runs, train, inputs.num_epochs(), batch_sizes, inputs.rates(), inputs.num_starts
    results = run_on_ranks(*args, wrapper=call, num_ranks=len(private), private=private, **launch)
    found = [{name: _history(name, one.get(name), rank) for name in NUM_EPOCHS} for rank, one in enumerate(results)]
    for of_rank, one in zip(found, results):
        of_rank["starts"] = as_array(one.get("starts"), "the starts").reshape(-1, 2)
    for name in NUM_EPOCHS:
        lengths = [len(histories[name]) - 1 for histories in found]
        check_same_number(lengths)
    return found


def _history(name: str, returned: Any, rank: int) -> Array:
    history = as_array(returned, f"the trajectory of rank {rank}")
    message = f"expected the history as an array of shape (num_steps + 1, 2), got {history.shape} on rank {rank}"
    require(history.shape[1:] == (2,), message, "history.wrong-shape")
    for (step, column), value in np.ndenumerate(history):
        message = f"the trajectory of rank {rank} is not finite: its {NAMES[column]} is {value:g} in row {step}"
        is_finite = abs(value) < LARGEST or name == "long"  # there, a rate that is far too large diverges
        require(is_finite, message, "weights.not-finite")
    num_steps = len(history) - 1
    enough = num_steps >= MIN_NUM_STEPS or name != "constant"
    message = f"expected {STEPS_PER_EPOCH[name]} steps in each epoch, got {num_steps} in all on rank {rank}"
    require(enough and num_steps <= MAX_NUM_STEPS, message, "steps.wrong-number")
    return history
