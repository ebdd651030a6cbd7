"""The launch benchmarks: seconds from a call to its result, in several ways on two ranks, and by number of ranks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from coursekit.ranks import fork_client
from coursekit.ranks.horovod_build import CONTROLLER_VARIABLE
from workshop.bench.measurement import Measurement, Progress, Series, compare
from workshop.bench.programs import times
from workshop.bench.things import NUM_RANKS, WAYS, call_s, through_ranks_run

NUMS_RANKS = (1, 2, 4, 8, 16, 32, 64)
NUM_CALLS = {"ranks.run": 5}  # per turn; each is ten times shorter than the others, so a median needs more of them


def measure_launch(repeat: int, progress: Progress) -> Measurement:
    """Measure all ways in turns, so that a busy moment of the machine affects each of them.

    Each turn of a way is one process, like a notebook, and keeps its imports between calls.

    Raises:
        CourseKitError: a call failed, or took longer than its limit.
    """
    turns: dict[str, list[list[float]]] = {way: [] for way in WAYS}
    for turn in range(1, repeat + 1):
        for way in WAYS:
            progress(f"{way}, turn {turn} of {repeat}")
            name, _, controller = way.partition(", ")
            num_calls = str(NUM_CALLS.get(name, 1))
            turns[way] += times("calls", way, num_calls, environ={CONTROLLER_VARIABLE: controller}).values()
    return compare(
        f"from call to result: one allreduce on {NUM_RANKS} ranks (loopback)",
        [
            Series(way, of_way[0][0], tuple(seconds for _, *later in of_way for seconds in later))
            for way, of_way in turns.items()
        ],
    )


def measure_curve(repeat: int, progress: Progress, nums_ranks: Sequence[int] = NUMS_RANKS) -> Measurement:
    """Measure all numbers of ranks in turns; the very first call starts the fork server.

    Raises:
        RankError: a launch failed.
    """
    seconds: dict[int, list[float]] = {num_ranks: [] for num_ranks in nums_ranks}
    try:
        for turn in range(repeat + 1):
            for num_ranks in nums_ranks:
                progress(f"{num_ranks} ranks, {f'turn {turn} of {repeat}' if turn else 'first call'}")
                seconds[num_ranks].append(call_s(partial(through_ranks_run, num_ranks), num_ranks))
    finally:
        fork_client.shared.close()
    return compare(
        "from call to result: one allreduce by `ranks.run`",
        [Series(str(num), first, tuple(later), num_ranks=num) for num, (first, *later) in seconds.items()],
    )
