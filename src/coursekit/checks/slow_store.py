"""Checks of lab 05's pipeline from a slow store: the same samples, and faster than the one it began with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable

import numpy as np

from coursekit.checks.check import CheckError, describe, require, require_result
from coursekit.checks.on_ranks import run_here
from coursekit.checks.plain_numbers import require_equal
from coursekit.checks.random_inputs import fresh_rng
from coursekit.checks.remembered import remember
from coursekit.drivers import store_rank
from coursekit.ranks import RankError

NUM_SAMPLES, BATCH_SIZE = 40, 8
SHAPE = (NUM_SAMPLES, 2, 3)
# How much faster than the pipeline given. Reading alone, or decoding alone, side by side gives 1.9; both give 7 on a
# quiet machine, nearly all of it sleep, so that a busy one may take thrice as long.
GOAL = 2.7


@dataclass(frozen=True)
class StoreTrial:
    """What a pipeline made of a slow store.

    Attributes:
        found: of the answer's last training what `drivers.store_rank.ServedStore.found` tells.
        slow_s: the seconds of the pipeline given.
        images: that are in the store, shape (num_samples, height, width).
        error: why the trial did not end well, or ''.
        changed: gives the name of the answer when the notebook has another by now, else ''.
    """

    found: dict[str, Any]
    images: Any
    slow_s: float = 0.0
    error: str = ""
    changed: Callable[[], str] = field(default=str, compare=False, repr=False)

    def of_answer(self) -> dict[str, Any]:
        """Return what was found.

        Raises:
            CheckError: the trial did not end well, because of the answer.
        """
        require_result(self.error, "the pipeline", self.changed())
        return self.found


def try_store(feed_fast: Callable[..., Any]) -> StoreTrial:
    """Train from a slow store, which is on a rank of its own, by the pipeline given, and by the answer's."""
    changed = remember(feed_fast)
    images = fresh_rng().integers(1 << 30, size=SHAPE, dtype=np.int64)
    try:
        _, trainings = run_here(
            store_rank.feed, feed_fast, SHAPE, BATCH_SIZE, GOAL, num_ranks=2, ranks_per_node=2, private=[None, images]
        )
    except (RankError, CheckError) as error:
        return StoreTrial({}, images, error=describe(error), changed=changed)
    slow, *_, fast = trainings
    return StoreTrial(fast, images, float(slow["seconds"]), changed=changed)


def check_same_samples(trial: StoreTrial) -> None:
    """Every image comes once, in full batches, and every record is read once."""
    found = trial.of_answer()
    sizes = [len(np.atleast_1d(batch)) for batch in found["batches"]]
    require_equal(sizes, [BATCH_SIZE] * (NUM_SAMPLES // BATCH_SIZE), "the sizes of the batches")
    numbers = _numbers(trial)
    num_missing = NUM_SAMPLES - len(set(numbers))
    require(
        num_missing == 0, f"{num_missing} of {NUM_SAMPLES} images are missing, others come twice: expected each once"
    )
    asked = sorted(found["asked"])
    require(asked == list(range(NUM_SAMPLES)), f"{len(asked)} records are read, expected each of {NUM_SAMPLES} once")


def _numbers(trial: StoreTrial) -> list[int]:
    """Return which images of the store the batches hold."""
    by_content = {image.tobytes(): number for number, image in enumerate(trial.images)}
    batches = [np.atleast_1d(batch) for batch in trial.of_answer()["batches"]]
    numbers = [by_content.get(image.tobytes(), -1) for batch in batches for image in batch.astype(np.int64)]
    require(-1 not in numbers, "the batches hold what is no image of the store: is each record decoded, once?")
    return numbers


def check_faster(trial: StoreTrial) -> None:
    """It takes much less time than the pipeline given, in the same run, and what comes out are images."""
    found = trial.of_answer()
    _numbers(trial)
    require(len(found["batches"]) > 0, "the pipeline gives no batch")
    fast_s = float(found["seconds"])
    ratio = trial.slow_s / fast_s
    told = f"the pipeline given takes {trial.slow_s:.2f} s, yours {fast_s:.2f} s, {ratio:.1f} times as fast"
    stage, busy_s = max(found["busy_s"].items(), key=lambda one: float(one[1]))
    require(ratio >= GOAL, f"{told}, expected {GOAL:g}; for {busy_s:.2f} s of them it is at the stage {stage!r}")
