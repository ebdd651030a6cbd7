"""Checks of the configuration and of the whole training of lab 04."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks.check import require, require_result
from coursekit.checks.knowledge import check_begins, check_follows, secrets
from coursekit.checks.on_ranks import run_and_look, run_here
from coursekit.checks.shards import check_owners
from coursekit.checks.spy_steps import steps_of
from coursekit.checks.spy_trial import SMALLEST_GAP, check_same_weights, owners_in_files, try_on_ranks
from coursekit.drivers import estimator_ranks
from coursekit.drivers.calls import with_horovod
from coursekit.drivers.estimator_ranks import HANG_S
from coursekit.drivers.keras_ranks import NUM_CLASSES

if TYPE_CHECKING:
    from collections.abc import Callable

    from coursekit.checks.knowledge import Secrets
    from coursekit.checks.spy_steps import Steps
    from coursekit.checks.spy_trial import SpyTrial

SAMPLES_PER_FILE = (4, 4, 4, 4, 4, 4)  # of a whole training: on one rank they would be gone through in six steps
NUM_STEPS_BEFORE, NUM_STEPS_LATER = 4, 7  # of each rank, up to the first and to the second end of a training
STEPS = (("first", NUM_STEPS_BEFORE), ("continued", NUM_STEPS_LATER), ("ended", NUM_STEPS_LATER))
PHASES = {"first": "the training", "continued": "continuing", "ended": "a start after the end of the training"}


def check_pinned(make_run_config: Callable[..., Any], num_ranks: int, ranks_per_node: int) -> None:
    """A session with this configuration sees the GPU of its local rank, and no other."""
    use = estimator_ranks.pinned
    got = run_here(
        with_horovod, use, make_run_config, num_ranks=num_ranks, ranks_per_node=ranks_per_node, timeout_s=HANG_S
    )
    for rank, visible in enumerate(got):
        local_rank = rank % ranks_per_node
        require(visible is not None, f"the RunConfig of rank {rank} has no session_config: sessions see all GPUs")
        require(visible != "", f"the sessions of rank {rank} see all GPUs of the node: set visible_device_list")
        is_own = visible == str(local_rank)
        require(is_own, f"rank {rank}, local rank {local_rank} of its node, takes GPU {visible}: pin by the local rank")


def check_files(make_run_config: Callable[..., Any], num_ranks: int) -> None:
    """Rank 0 writes checkpoints into the folder, and no other rank writes anything there."""
    use, told = estimator_ranks.use_run_config, secrets(num_ranks, NUM_CLASSES)
    _, left = run_and_look(with_horovod, use, make_run_config, num_ranks=num_ranks, timeout_s=HANG_S, private=told)
    writers = [rank for rank, files in enumerate(left) if files]
    require(0 in writers, "rank 0 writes nothing into the folder: give the RunConfig of rank 0 the model_dir")
    require(writers == [0], f"the ranks {', '.join(map(str, writers))} write into the folder: rank 0 alone must write")
    stems = [name[: -len(".index")] for name in left[0] if name.endswith(".index")]
    whole = [stem for stem in stems if any(name.startswith(f"{stem}.data-") for name in left[0])]
    has_checkpoint = "checkpoint" in left[0] and bool(whole)
    require(has_checkpoint, f"rank 0 writes no checkpoint, only {', '.join(sorted(left[0])[:3])}")


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


def try_train(train: Callable[..., Any], num_ranks: int = 2, num_phases: int = len(STEPS)) -> Phases:
    """Train, continue and start again in one launch, or do the first of that only.

    If that fails, tries again without the last phases: a rank that waits for ever cannot report the phases before.
    """
    files = {"train": SAMPLES_PER_FILE}
    told = secrets(num_ranks, NUM_CLASSES, num_rounds=len(STEPS), files=files)
    trial = _try_phases(train, told, num_phases)
    error = trial.error
    if error and num_phases > 1:
        trial = _try_phases(train, told, 1)
        longer = trial if trial.error else _try_phases(train, told, 2)
        trial = trial if longer.error else longer
    return Phases(trial, error, cache(partial(try_train, train, num_phases=1)))


def _try_phases(train: Callable[..., Any], told: Secrets, num_phases: int) -> SpyTrial:
    use = estimator_ranks.use_train
    return try_on_ranks(use, train, STEPS[:num_phases], num_ranks=len(told), timeout_s=HANG_S, secrets=told)


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
    """Every rank trains on files of its own."""
    used = owners_in_files(_first_steps(phases), phases.secrets)
    check_owners({sample: by for sample, by in used.items() if by}, phases.num_ranks)


def check_steps(phases: Phases) -> None:
    """The steps are divided among the ranks, and all ranks make equally many."""
    found = phases.num_steps("first")
    require(len(set(found)) == 1, f"the ranks made different numbers of steps: {found}")
    total = NUM_STEPS_BEFORE * phases.num_ranks
    hint = ": the steps are not divided by the number of ranks" if found[0] == total else ""
    require(
        found[0] == NUM_STEPS_BEFORE,
        f"{total} steps of one process are {NUM_STEPS_BEFORE} steps on each of {phases.num_ranks} ranks, "
        f"not {found[0]}{hint}",
    )


def check_handed_over(phases: Phases) -> None:
    """The sessions of the Estimator have the configuration that pins the GPU."""
    for rank, result in enumerate(phases.of_ranks("first")):
        require(result["is_estimator"], "train must return the Estimator")
        require(
            result["visible"] != "",
            f"the Estimator of rank {rank} knows nothing of the GPU that you pinned: its sessions see all GPUs. "
            "Pass your RunConfig as config",
        )


def check_continued(phases: Phases) -> None:
    """A training goes on where its checkpoint is, on all ranks, and one that has ended is left alone."""
    before = phases.num_steps("first")
    found = phases.num_steps("continued")
    left = NUM_STEPS_LATER - NUM_STEPS_BEFORE
    require(len(set(found)) == 1, f"continuing, the ranks made different numbers of steps: {found}")
    is_rest = found[0] == NUM_STEPS_LATER - before[0]
    require(is_rest, f"{left} of {NUM_STEPS_LATER} steps were left, but the ranks made {found[0]}")
    sights = [result["sights"] for result in phases.of_ranks("continued")]
    starts = [next(sight.bias for sight in mine if sight.training) for mine in sights]
    last = [sight.bias for sight in phases.of_ranks("first")[0]["sights"] if sight.training]
    gap = max(float(np.abs(start - starts[0]).max()) for start in starts)
    require(gap < SMALLEST_GAP, f"continuing, the ranks start up to {gap:.3g} apart")
    step = float(np.abs(last[-1] - last[-2]).max())
    moved = float(np.abs(starts[0] - last[-1]).max())
    require(moved < 5 * step, "the continued training does not start from the weights of the checkpoint")
    ended = phases.num_steps("ended")
    require(not any(ended), f"the training had ended, but the ranks made {ended} more steps")
