"""The benchmark of the simulator: seconds for one predicted step of ResNet-50, by the number of ranks."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from coursekit.lecture.bench.measurement import Measurement, Series
from coursekit.scaling.machine import Link, Machine
from coursekit.scaling.networks import find_network
from coursekit.scaling.step import Settings, Work, simulate

if TYPE_CHECKING:
    from collections.abc import Callable

NUMS_RANKS = (8, 64, 512, 4096)
MACHINE = Machine(Link(300.0, 3.4), Link(100.0, 9.6), 8)


def measure_prediction(repeat: int, progress: Callable[[str], None]) -> Measurement:
    """Measure all numbers of ranks in turns."""
    work = Work(find_network("ResNet50"), 0.28)
    seconds: dict[int, list[float]] = {num_ranks: [] for num_ranks in NUMS_RANKS}
    for turn in range(repeat + 1):
        progress(f"turn {turn} of {repeat}")
        for num_ranks in NUMS_RANKS:
            begin = time.perf_counter()
            simulate(work, MACHINE, num_ranks, Settings())
            seconds[num_ranks].append(time.perf_counter() - begin)
    series = (Series(f"{num_ranks} ranks", one[0], tuple(one[1:])) for num_ranks, one in seconds.items())
    return Measurement("one predicted step of ResNet-50", tuple(series))
