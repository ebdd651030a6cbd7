"""How fast one and two ranks train here, a network with few parameters and one with many, in turns.

Each rank has one core. A rank alone, two that do not talk, and two that average their gradients follow each other,
so that a busy minute of the machine slows all three down.
"""

import statistics

import numpy as np

from coursekit import ranks
from workshop.bench.steps import Case

SETTINGS = {"HOROVOD_CYCLE_TIME": "10"}  # looking for gradients every 10 ms leaves the core to the computation
CASES = (Case("MobileNetV2", 96, 16, 5, 3), Case("VGG16", 32, 16, 4, 2))
ALONE, TOGETHER, AVERAGING = "alone", "together", "averaging"


def measure(case):
    """Return the seconds of this rank's steps of each kind, the number of parameters, and this rank."""
    from workshop.bench import steps  # noqa: PLC0415  # ranks import it, and only they need it

    steps.bind_to_cores()
    import horovod.tensorflow.keras as hvd  # noqa: PLC0415  # after the rank keeps to its core

    steps.limit_threads()
    hvd.init()
    batch = steps.memory_batch(case)
    plain = steps.compiled_network(case, lambda optimizer: optimizer, traced_once=True)
    wrapped = steps.compiled_network(case, lambda one: hvd.DistributedOptimizer(one, groups=1), traced_once=True)
    step = steps.training_step(plain, steps.repeated(batch))
    averaging = steps.training_step(wrapped, steps.repeated(batch))
    rank = hvd.rank()
    num_parameters = sum(int(np.prod(variable.shape)) for variable in plain.trainable_variables)
    kinds = {
        ALONE: lambda: step if rank == 0 else lambda: None,  # rank 1 waits where the next turn begins
        TOGETHER: lambda: step,
        AVERAGING: lambda: averaging,
    }
    return steps.time_in_turns(case, kinds), num_parameters, rank


def record():
    """Measure both networks."""
    return {"networks": [summary(case) for case in CASES]}


def summary(case):
    """Return one network's figures: the median step of each kind, in seconds, and images per second of all ranks."""
    measured = ranks.run(measure, case, num_ranks=2, timeout_s=300, environ=SETTINGS, use_gpus=False, show_output=False)
    seconds = [timings for timings, _, _ in sorted(measured, key=lambda one: one[2])]
    both = {kind: [statistics.mean(pair) for pair in zip(*(one[kind][1:] for one in seconds))] for kind in seconds[0]}
    step_s = {kind: statistics.median(values) for kind, values in both.items()}
    step_s[ALONE] = statistics.median(seconds[0][ALONE][1:])
    num_ranks = {ALONE: 1, TOGETHER: 2, AVERAGING: 2}
    images_per_s = {kind: number * case.batch_size / step_s[kind] for kind, number in num_ranks.items()}
    return {
        "network": case.network,
        "image_size": case.image_size,
        "batch_size": case.batch_size,
        "million_parameters": round(measured[0][1] / 1e6, 2),
        "gradient_mb": round(4 * measured[0][1] / 1e6, 1),
        "step_s": {kind: float(f"{value:.4g}") for kind, value in step_s.items()},
        "images_per_s": {kind: float(f"{value:.4g}") for kind, value in images_per_s.items()},
        "efficiency": round(images_per_s[AVERAGING] / images_per_s[ALONE] / 2, 4),
        "communication_share": round(1 - step_s[TOGETHER] / step_s[AVERAGING], 4),
    }
