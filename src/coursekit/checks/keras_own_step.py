"""Check of lab 03's last section: a training step of one's own, without `fit`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks import spy_steps
from coursekit.checks.check import require
from coursekit.checks.keras_training import TIMEOUT_S
from coursekit.checks.knowledge import check_follows, check_sent, secrets
from coursekit.checks.on_ranks import run_here
from coursekit.checks.spy_steps import steps_of
from coursekit.checks.spy_trial import RANKS_PER_NODE, check_rates, rates
from coursekit.drivers import keras_ranks
from coursekit.drivers.calls import with_horovod
from coursekit.drivers.keras_spy import BATCH_SIZE, NUM_CLASSES, RATE

if TYPE_CHECKING:
    from collections.abc import Callable


def check_step(make_step: Callable[..., Any], num_ranks: int) -> None:
    """A step moves all ranks by the mean of their gradients, returns the loss, and is traced once."""
    told = secrets(num_ranks, NUM_CLASSES, num_samples=keras_ranks.NUM_STEPS * BATCH_SIZE)
    results = run_here(
        with_horovod,
        keras_ranks.use_step,
        make_step,
        num_ranks=num_ranks,
        ranks_per_node=min(num_ranks, RANKS_PER_NODE),
        timeout_s=TIMEOUT_S,
        private=told,
    )
    steps = steps_of([result["sights"] for result in results])
    check_rates(rates(steps, first=1), RATE, num_ranks)
    check_sent(steps.samples, told)
    check_follows(steps, told)
    for rank, result in enumerate(results):
        own = [spy_steps.loss(*step) for step in zip(steps.bias[rank], steps.samples[rank])]
        require(
            np.allclose(result["losses"], own, rtol=1e-3),
            f"what the step returns on rank {rank}: expected {own[0]:.4g}, the loss of its batch, "
            f"got {result['losses'][0]:.4g}",
        )
        num_traces = result["num_traces"]
        require(
            num_traces <= 2,  # noqa: PLR2004  # TensorFlow may trace once more to make the variables
            f"the step was traced {num_traces} times for {len(own)} steps: compile it once, outside of the loop",
        )
