"""Checks of the evaluation of lab 04: each image once, and the right mean over unequal shards."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks import spy_steps
from coursekit.checks.check import require
from coursekit.checks.knowledge import secrets
from coursekit.checks.random_inputs import fresh_rng
from coursekit.checks.spy_trial import try_on_ranks
from coursekit.drivers import estimator_ranks
from coursekit.drivers.estimator_ranks import HANG_S, NUM_STEPS_OF_ANSWER, RATE_OF_ANSWER
from coursekit.drivers.keras_spy import NUM_CLASSES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coursekit.checks.knowledge import Secrets
    from coursekit.checks.spy_trial import SpyTrial
    from coursekit.drivers.spy import Array, Sight

HELD_OUT_PER_FILE = (21, 13, 9, 4, 3)  # the shards of several ranks are unequal, not all of whole batches
CLEAR_GAP = 0.01  # between accuracies that are told apart
ANSWER = 2  # the sample that the spy of an evaluation takes all others for


def try_evaluate(evaluate: Callable[..., Any], num_ranks: int = 4) -> SpyTrial:
    """Evaluate a known network on tiny files of unequal sizes; only rank 0 has its checkpoint."""
    use = estimator_ranks.use_evaluate
    return try_on_ranks(
        use, evaluate, ANSWER, num_ranks=num_ranks, timeout_s=HANG_S, secrets=labelled_secrets(num_ranks)
    )


def labelled_secrets(num_ranks: int) -> Secrets:
    """Return secrets of ranks whose files hold the same images, but labels that only the rank can read.

    A share of them, another one on each rank, is what the network will answer.
    Rank 0's alone, the mean over all shards and their plain mean are different accuracies.
    """
    rng, numbers = fresh_rng(), np.arange(sum(HELD_OUT_PER_FILE))
    told = secrets(num_ranks, NUM_CLASSES, num_rounds=2)
    while True:
        for secret in told:
            is_right = rng.random(len(numbers)) < rng.uniform(0.2, 0.8)
            labels = np.where(is_right, ANSWER + 1, ANSWER + 2 + numbers % (NUM_CLASSES - ANSWER - 2))
            secret["files"] = {"train": {"counts": list(HELD_OUT_PER_FILE), "numbers": numbers, "labels": labels}}
        of_shards, sizes = _accuracies_of_shards(told)
        telling = np.array([*of_shards, np.mean(of_shards), np.average(of_shards, weights=sizes)])
        if len(of_shards) == 1 or float(np.diff(np.sort(telling)).min()) > CLEAR_GAP:
            return told


def _answered_rightly(secret: dict[str, Any], sights: Sequence[Sight]) -> Array:
    """Return for each image that a rank evaluated whether the weights of the time answer its label."""
    labels = np.asarray(secret["files"]["train"]["labels"])
    return np.concatenate([labels[sight.samples] == np.argmax(sight.bias) for sight in sights] or [np.zeros(0)])


def _accuracies_of_shards(told: Secrets) -> tuple[list[float], list[int]]:
    """Return accuracy and size of each rank's shard, where rank r of n has every n-th file from file r on."""
    files = np.repeat(np.arange(len(HELD_OUT_PER_FILE)), HELD_OUT_PER_FILE)
    labels = [np.asarray(secret["files"]["train"]["labels"]) for secret in told]
    shards = [of_rank[files % len(told) == rank] == ANSWER + 1 for rank, of_rank in enumerate(labels)]
    return [float(np.mean(shard)) for shard in shards], [len(shard) for shard in shards]


def _weights(told: Secrets) -> Array:
    """Return the weights of the checkpoint: rank 0's start after its steps of plain descent."""
    bias = np.asarray(told[0]["starts"][0], dtype=float)
    for _ in range(NUM_STEPS_OF_ANSWER):
        bias = bias - RATE_OF_ANSWER * spy_steps.gradient(bias, np.array([ANSWER]))
    return bias


def check_once(trial: SpyTrial) -> None:
    """All ranks together evaluate each image once, with the weights of the checkpoint, in evaluation mode."""
    results = trial.of_ranks()
    seen = [np.concatenate([sight.samples for sight in result["sights"]] or [[]]) for result in results]
    times = Counter(np.concatenate(seen).astype(int).tolist())
    num_samples = sum(HELD_OUT_PER_FILE)
    missing = num_samples - len(times)
    require(missing == 0, f"{missing} of {num_samples} images are evaluated by no rank")
    most = max(times.values())
    everywhere = min(times.values()) == trial.num_ranks > 1
    require(not everywhere, f"each of the {trial.num_ranks} ranks evaluates all images: the same work several times")
    require(most == 1, f"an image is evaluated {most} times, expected once")
    weights = _weights(trial.secrets)
    for rank, result in enumerate(results):
        for sight in result["sights"]:
            require(
                bool(np.allclose(sight.bias, weights, atol=1e-3)),
                f"rank {rank} evaluates with random weights, not those of the checkpoint, which only rank 0 has "
                "in its model_dir: give its path to all ranks",
            )


def check_accuracy(trial: SpyTrial) -> None:
    """The accuracy is the share of right images among all that the ranks evaluated, with the weights they had."""
    sights = [result["sights"] for result in trial.of_ranks()]
    seen = [np.concatenate([sight.samples for sight in of_rank] or [np.zeros(0)]).astype(int) for of_rank in sights]
    right = [_answered_rightly(*pair) for pair in zip(trial.secrets, sights)]
    results = [result["result"] for result in trial.of_ranks()]
    is_told = results[0] is not None and "accuracy" in results[0]
    require(is_told, f"evaluate must return, at least on rank 0, a dictionary with an 'accuracy', not {results[0]!r}")
    for rank, result in enumerate(results):
        if result is None:
            continue
        accuracy = result.get("accuracy", np.nan)
        # A rank that evaluates everything needs no other; whether images are evaluated twice is another property.
        alone = len(set(seen[rank].tolist())) == sum(HELD_OUT_PER_FILE)
        counted = right[rank] if alone else np.concatenate(right)
        require(
            bool(np.isclose(accuracy, np.mean(counted), rtol=1e-4)),
            f"{np.sum(counted):.0f} of {len(counted)} images are classified correctly: the accuracy on rank {rank}: "
            f"expected {np.mean(counted):.4g}, got {accuracy:.4g}{_hint(accuracy, trial)}",
        )


def _hint(accuracy: float, trial: SpyTrial) -> str:
    """Return how a wrong accuracy may have come about."""
    of_shards, _ = _accuracies_of_shards(trial.secrets)
    if np.isclose(accuracy, np.mean(of_shards), rtol=1e-4):
        return ": the plain mean of unequal shards; weight each by its number of images"
    if any(np.isclose(accuracy, value, rtol=1e-4) for value in of_shards):
        return ": that of one shard alone; put all shards together"
    return ""
