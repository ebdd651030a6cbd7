"""The curve of launches: seconds from a call to its result, by the number of ranks on this machine."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from coursekit import ranks
from coursekit.errors import CourseKitError
from coursekit.lecture.bench import task
from coursekit.lecture.bench.launch import CALL_TIMEOUT_S
from coursekit.lecture.bench.measurement import Measurement, Series
from coursekit.ranks.errors import RankError
from coursekit.ranks.forkserver import close_shared_server

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NUMS_RANKS = (1, 2, 4, 8, 16, 32, 64)


def measure_curve(repeat: int, progress: Callable[[str], None], nums_ranks: Sequence[int] = NUMS_RANKS) -> Measurement:
    """Measure all numbers of ranks in turns; the very first call starts the fork server.

    Raises:
        CourseKitError: a launch failed.
    """
    seconds: dict[int, list[float]] = {num_ranks: [] for num_ranks in nums_ranks}
    try:
        for turn in range(repeat + 1):
            for num_ranks in nums_ranks:
                progress(f"{num_ranks} ranks, {f'turn {turn} of {repeat}' if turn else 'first call'}")
                seconds[num_ranks].append(_launch(num_ranks))
    finally:
        close_shared_server()
    return Measurement(
        title="from call to result: one allreduce by `ranks.run`",
        series=tuple(Series(str(num), first, tuple(later), num_ranks=num) for num, (first, *later) in seconds.items()),
    )


def _launch(num_ranks: int) -> float:
    """Return the seconds of one call, whose result has to be right."""
    begin = time.perf_counter()
    try:
        results = ranks.run(task.one_allreduce, num_ranks=num_ranks, timeout_s=CALL_TIMEOUT_S)
    except RankError as error:
        raise CourseKitError(f"{num_ranks} ranks failed, run `coursekit doctor`: {error}") from error
    seconds = time.perf_counter() - begin
    expected = [num_ranks * (num_ranks + 1) / 2] * num_ranks
    if results != expected:
        raise CourseKitError(f"expected {expected} from the ranks, got {results}")
    return seconds
