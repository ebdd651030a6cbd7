"""Checks of the configuration and of the whole training of lab 04."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks.check import require, require_result
from coursekit.checks.knowledge import check_begins, check_follows, secrets
from coursekit.checks.launches import once
from coursekit.checks.plain_numbers import told
from coursekit.checks.shards import check_owners
from coursekit.checks.spy_steps import steps_of
from coursekit.checks.spy_trial import SMALLEST_GAP, check_same_weights, owners_in_files, try_on_ranks
from coursekit.drivers import estimator_ranks
from coursekit.drivers.estimator_ranks import HANG_S, TRAIN_BATCH_SIZE
from coursekit.drivers.keras_spy import NUM_CLASSES

if TYPE_CHECKING:
    from collections.abc import Callable

    from coursekit.checks.knowledge import Secrets
    from coursekit.checks.spy_steps import Steps
    from coursekit.checks.spy_trial import SpyTrial

SAMPLES_PER_FILE = (3,) * 7  # of a whole training: no number of ranks divides the files, and no shard has whole batches
NUM_STEPS_BEFORE, NUM_STEPS_LATER = 4, 7  # of each rank, up to the first and to the second end of a training
STEPS = (("first", NUM_STEPS_BEFORE), ("continued", NUM_STEPS_LATER), ("ended", NUM_STEPS_LATER))
PHASES = {"first": "the training", "continued": "continuing", "ended": "a start after the end of the training"}


def try_config(make_run_config: Callable[..., Any], num_ranks: int, ranks_per_node: int | None = None) -> SpyTrial:
    """Train two steps with the answer's configuration, each rank in a folder of its own; by default on one node."""
    trial = try_on_ranks(
        estimator_ranks.use_run_config,
        make_run_config,
        num_ranks=num_ranks,
        ranks_per_node=ranks_per_node or num_ranks,
        timeout_s=HANG_S,
        secrets=secrets(num_ranks, NUM_CLASSES),
        look=True,
    )
    return replace(trial, on=once(partial(try_config, make_run_config)))


def check_pinned(trial: SpyTrial, ranks_per_node: int) -> None:
    """A session with this configuration sees the GPU of its local rank, and no other, and takes memory as needed."""
    for rank, result in enumerate(trial.of_ranks()):
        local_rank, visible = rank % ranks_per_node, result["visible"]
        require(visible is not None, f"the RunConfig of rank {rank} has no session_config: sessions see all GPUs")
        require(visible != "", f"the sessions of rank {rank} see all GPUs of the node: set visible_device_list")
        is_own = visible == str(local_rank)
        where = f"rank {rank}, local rank {local_rank} of its node"
        require(is_own, f"{where}: expected GPU {local_rank}, got {visible}: pin by the local rank")
        require(result["grows"], f"the sessions of rank {rank} take all memory of their GPU: set allow_growth")


def check_files(trial: SpyTrial, seed: int) -> None:
    """Rank 0 writes checkpoints into the folder, and no other rank writes anything there; all have one seed."""
    seeds = [result["seed"] for result in trial.of_ranks()]
    writers = [rank for rank, files in enumerate(trial.left) if files]
    require(0 in writers, "rank 0 writes nothing into the folder: give the RunConfig of rank 0 the model_dir")
    names = ", ".join(map(str, writers))
    require(writers == [0], f"files in the folder: expected rank 0's, got those of ranks {names}: rank 0 alone writes")
    left = trial.left[0]
    stems = [name[: -len(".index")] for name in left if name.endswith(".index")]
    whole = [stem for stem in stems if any(name.startswith(f"{stem}.data-") for name in left)]
    has_checkpoint = "checkpoint" in left and bool(whole)
    require(has_checkpoint, f"rank 0 writes no checkpoint, only {', '.join(sorted(left)[:3])}")
    expected = [seed] * trial.num_ranks
    require(seeds == expected, f"tf_random_seed of the ranks: expected {expected}, got {told(seeds)}")


class Phases:
    """What the phases of a training gave, by name and rank; `on(3)` is the first one on three ranks, made once."""

    def __init__(self, trial: SpyTrial, error: str = "", on: Callable[[int], Phases] | None = None) -> None:
        self.on = on
        self.num_ranks = trial.num_ranks
        self.secrets = trial.secrets
        self.error = error or trial.error
        self.changed = trial.changed
        self._results = trial.results

    def of_ranks(self, phase: str) -> list[Any]:
        """Return what each rank found in a phase.

        Raises:
            CheckError: the phase did not end on all ranks.
        """
        found = [result[phase] for result in self._results if phase in result]
        require_result("" if len(found) == self.num_ranks else self.error, PHASES[phase], self.changed())
        return found

    def num_steps(self, phase: str) -> list[int]:
        """Return how many training steps each rank made in a phase."""
        return [sum(sight.training for sight in result["sights"]) for result in self.of_ranks(phase)]


def try_train(train: Callable[..., Any], num_ranks: int = 4, num_phases: int = len(STEPS)) -> Phases:
    """Train, continue and start again in one launch, or do the first of that only.

    If that fails, tries again without the last phases: a rank that waits for ever cannot report the phases before.
    """
    files = {"train": SAMPLES_PER_FILE}
    given = secrets(num_ranks, NUM_CLASSES, num_rounds=len(STEPS), files=files)
    trial = _try_phases(train, given, num_phases)
    error = trial.error
    if error and num_phases > 1:
        trial = _try_phases(train, given, 1)
        longer = trial if trial.error else _try_phases(train, given, 2)
        trial = trial if longer.error else longer
    return Phases(trial, error, once(partial(try_train, train, num_phases=1)))


def _try_phases(train: Callable[..., Any], given: Secrets, num_phases: int) -> SpyTrial:
    use = estimator_ranks.use_train
    return try_on_ranks(use, train, STEPS[:num_phases], num_ranks=len(given), timeout_s=HANG_S, secrets=given)


def _first_steps(phases: Phases) -> Steps:
    return steps_of([result["sights"] for result in phases.of_ranks("first")])


def check_start(phases: Phases) -> None:
    """All ranks start with the same weights."""
    steps = _first_steps(phases)
    check_same_weights(steps)
    check_begins(steps, phases.secrets)
    # Ranks that begin alike have heard of one start; what they make of it is the model function's affair.
    if float(np.abs(steps.bias[:, 0] - steps.bias[:1, 0]).max()) >= SMALLEST_GAP:
        check_follows(steps, phases.secrets)


def check_shards(phases: Phases) -> None:
    """Every rank trains on files of its own, and every file is some rank's."""
    check_file_shards(_first_steps(phases), phases.secrets)


def check_file_shards(steps: Steps, secrets: Secrets) -> None:
    """No sample of the training files is used by several ranks, and each of them by one."""
    used = owners_in_files(steps, secrets)
    check_owners({sample: by for sample, by in used.items() if by}, len(secrets))
    check_owners(used, len(secrets))


def check_steps(phases: Phases) -> None:
    """The steps are divided among the ranks, all ranks make equally many, and all batches are of the size asked for."""
    found = phases.num_steps("first")
    require(len(set(found)) == 1, f"the ranks made different numbers of steps: {found}")
    total = NUM_STEPS_BEFORE * phases.num_ranks
    hint = ": the steps are not divided by the number of ranks" if found[0] == total else ""
    require(
        found[0] == NUM_STEPS_BEFORE,
        f"of {total} steps of one process each of {phases.num_ranks} ranks: expected {NUM_STEPS_BEFORE}, "
        f"got {found[0]}{hint}",
    )
    check_batches(_first_steps(phases))


def check_batches(steps: Steps) -> None:
    """All batches of a training have `params["batch_size"]` images."""
    sizes = sorted({len(batch) for of_rank in steps.samples for batch in of_rank})
    require(
        sizes == [TRAIN_BATCH_SIZE],
        f"the batches of a rank: expected {TRAIN_BATCH_SIZE} images, params['batch_size'], in each, got {sizes}",
    )


def check_handed_over(phases: Phases) -> None:
    """The sessions of the Estimator have the configuration that pins the GPU, and the training calls the hooks."""
    for rank, result in enumerate(phases.of_ranks("first")):
        require(result["is_estimator"], "train must return the Estimator")
        require(
            result["visible"] != "",
            f"the Estimator of rank {rank} knows nothing of the GPU that you pinned: its sessions see all GPUs. "
            "Pass your RunConfig as config",
        )
        was_called = result["num_hook_calls"] > 0
        require(was_called, f"on rank {rank} nobody calls the hooks that train is given: pass `hooks` on")


def check_continued(phases: Phases) -> None:
    """A training goes on where its checkpoint is, on all ranks, and one that has ended is left alone."""
    before = phases.num_steps("first")
    found = phases.num_steps("continued")
    left = NUM_STEPS_LATER - NUM_STEPS_BEFORE
    require(len(set(found)) == 1, f"continuing, the ranks made different numbers of steps: {found}")
    is_rest = found[0] == NUM_STEPS_LATER - before[0]
    sights = [result["sights"] for result in phases.of_ranks("continued")]
    starts = [next((sight.bias for sight in mine if sight.training), np.array(np.inf)) for mine in sights]
    strangers = [rank for rank, one in enumerate(phases.secrets) if rank and np.allclose(starts[0], one["starts"][1])]
    require(not strangers, f"continuing, the ranks begin like {strangers[:1]}, which has no checkpoint: send rank 0's")
    require(is_rest, f"{left} of {NUM_STEPS_LATER} steps were left: expected so many, got {found[0]}")
    last = [sight.bias for sight in phases.of_ranks("first")[0]["sights"] if sight.training]
    gap = max(float(np.abs(start - starts[0]).max()) for start in starts)
    require(gap < SMALLEST_GAP, f"continuing, the ranks start up to {gap:.3g} apart")
    step = float(np.abs(last[-1] - last[-2]).max())
    moved = float(np.abs(starts[0] - last[-1]).max())
    require(moved < 5 * step, "the continued training does not start from the weights of the checkpoint")
    ended = phases.num_steps("ended")
    require(not any(ended), f"the training had ended, but the ranks made {ended} more steps")
