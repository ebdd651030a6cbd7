"""Check of lab 03's evaluation: all ranks' images count, however many each rank has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks.check import require
from coursekit.checks.keras_training import TIMEOUT_S
from coursekit.checks.knowledge import loss_of_all
from coursekit.checks.on_ranks import run_here
from coursekit.checks.random_inputs import fresh_rng
from coursekit.drivers import keras_ranks, keras_spy
from coursekit.drivers.calls import with_horovod

if TYPE_CHECKING:
    from collections.abc import Callable

    from coursekit.drivers.spy import Array

UNEQUAL = ((5, 2), (0, 2), (1, 3))  # how many samples of each rank's validation are classified correctly and wrongly


def _unequal_samples(num_ranks: int) -> tuple[Array, list[Array]]:
    """Return weights that answer one sample, and for each rank some samples of this kind and some of others."""
    rng = fresh_rng()
    bias = rng.uniform(-1, 1, keras_spy.NUM_CLASSES).astype(np.float32)
    answer, *others = rng.permutation(keras_spy.NUM_SAMPLES)
    bias[answer + 1] = 3.0
    return bias, [
        np.array([answer] * num_right + list(rng.choice(others, num_wrong))) for num_right, num_wrong in UNEQUAL
    ][:num_ranks]


def check_evaluate(evaluate: Callable[..., Any], num_ranks: int, ranks_per_node: int | None = None) -> None:
    """Loss and accuracy are those over the images of all ranks, on every rank, in evaluation mode."""
    bias, samples = _unequal_samples(num_ranks)
    results = run_here(
        with_horovod,
        keras_ranks.use_evaluate,
        evaluate,
        bias,
        num_ranks=num_ranks,
        ranks_per_node=ranks_per_node,
        timeout_s=TIMEOUT_S,
        private=[{"samples": of_rank} for of_rank in samples],
    )
    right = [of_rank == np.argmax(bias) - 1 for of_rank in samples]
    expected = {"accuracy": float(np.mean(np.concatenate(right))), "loss": loss_of_all(bias, samples)}
    biased = float(np.mean([np.mean(of_rank) for of_rank in right]))
    for rank, result in enumerate(results):
        trained = any(sight.training for sight in result["sights"])
        require(not trained, "the network was called in training mode")
        for name, value in expected.items():
            require(name in result["result"], f"the result on rank {rank} has no entry {name!r}: {result['result']}")
            got = result["result"][name]
            own = np.mean(right[rank])
            hint = ""
            if name == "accuracy" and np.isclose(got, own):
                hint = ": that is the accuracy of this rank alone"
            elif name == "accuracy" and np.isclose(got, biased):
                hint = ": the plain mean of the ranks' accuracies is wrong when their numbers of images differ"
            is_of_all = bool(np.isclose(got, value, rtol=1e-3))
            told = f"the {name} over the images of all ranks: expected {value:.4g}, got {got:.4g} on rank {rank}"
            require(is_of_all, f"{told}{hint}")
