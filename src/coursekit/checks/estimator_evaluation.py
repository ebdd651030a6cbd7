"""Checks of the evaluation of lab 04: each picture once, and the right mean over unequal shards."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks.check import require
from coursekit.checks.spy_trial import try_on_ranks
from coursekit.drivers import estimator_ranks, spy
from coursekit.drivers.calls import with_horovod
from coursekit.drivers.estimator_ranks import HANG_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from coursekit.checks.spy_trial import Trial

Array = np.ndarray[Any, Any]

HELD_OUT_PER_FILE = (5, 3, 2)
ANSWER = 2  # the sample that the spy of an evaluation takes all others for; it is in the first file


def try_evaluate(evaluate: Callable[..., Any], num_ranks: int = 2) -> Trial:
    """Evaluate a known network on tiny files of unequal sizes; only rank 0 has its checkpoint."""
    with tempfile.TemporaryDirectory() as folder:
        files = spy.write_samples(Path(folder), HELD_OUT_PER_FILE)
        use = estimator_ranks.use_evaluate
        return try_on_ranks(with_horovod, use, evaluate, files, folder, ANSWER, num_ranks=num_ranks, timeout_s=HANG_S)


def check_once(trial: Trial) -> None:
    """All ranks together evaluate each picture once, with the weights of the checkpoint, in evaluation mode."""
    results = trial.of_ranks()
    seen = [np.concatenate([sight.samples for sight in result["sights"]] or [[]]) for result in results]
    times = Counter(np.concatenate(seen).astype(int).tolist())
    num_samples = sum(HELD_OUT_PER_FILE)
    missing = num_samples - len(times)
    require(missing == 0, f"{missing} of {num_samples} pictures are evaluated by no rank")
    most = max(times.values())
    everywhere = min(times.values()) == trial.num_ranks > 1
    require(not everywhere, f"each of the {trial.num_ranks} ranks evaluates all pictures: the same work several times")
    require(most == 1, f"a picture is evaluated {most} times")
    for rank, result in enumerate(results):
        for sight in result["sights"]:
            require(
                int(np.argmax(sight.bias)) == ANSWER + 1,
                f"rank {rank} evaluates with random weights, not those of the checkpoint, which only rank 0 has "
                "in its model_dir: give its path to all ranks",
            )


def check_accuracy(trial: Trial) -> None:
    """The accuracy is the share of right pictures among all that the ranks evaluated, with the weights they had."""
    sights = [sight for result in trial.of_ranks() for sight in result["sights"]]
    right = np.concatenate([sight.samples + 1 == np.argmax(sight.bias) for sight in sights] or [[]])
    results = [result["result"] for result in trial.of_ranks()]
    require(
        results[0] is not None and "accuracy" in results[0],
        f"evaluate must return, at least on rank 0, a dictionary with an 'accuracy', not {results[0]!r}",
    )
    for rank, result in enumerate(results):
        if result is None:
            continue
        accuracy = result.get("accuracy", np.nan)
        hint = _hint(accuracy, trial)
        require(
            bool(np.isclose(accuracy, np.mean(right), rtol=1e-4)),
            f"{np.sum(right):.0f} of {len(right)} pictures are answered rightly, but rank {rank} returns the accuracy "
            f"{accuracy:.4g}{hint}",
        )


def _hint(accuracy: float, trial: Trial) -> str:
    """Return how a wrong accuracy may have come about."""
    sizes = [sum(HELD_OUT_PER_FILE[rank :: trial.num_ranks]) for rank in range(trial.num_ranks)]
    own = [1 / sizes[0], *(0.0 for _ in sizes[1:])]
    if np.isclose(accuracy, np.mean(own), rtol=1e-4):
        return ": the plain mean of unequal shards; weight each by its number of pictures"
    if any(np.isclose(accuracy, value, rtol=1e-4) for value in own):
        return ": that of one shard alone; put all shards together"
    return ""
