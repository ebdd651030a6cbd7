"""The launch benchmarks: seconds from a call to its result, in several ways on two ranks, and by their number."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

from coursekit import ranks
from coursekit.environ import scrubbed
from coursekit.errors import CourseKitError
from coursekit.processes import MARK, end_marked
from coursekit.ranks import forkserver
from coursekit.ranks.launched import CONTROLLER_VARIABLE
from workshop.bench.caller import NUM_RANKS, WAYS, one_allreduce
from workshop.bench.measurement import Measurement, Series

CALL_TIMEOUT_S = 180.0
END_TIMEOUT_S = 10.0
NUMS_RANKS = (1, 2, 4, 8, 16, 32, 64)
CALLS_PER_TURN = {"ranks.run": 5}  # of which each is ten times shorter than the others: a median needs more of them


def measure_launch(repeat: int, progress: Callable[[str], None]) -> Measurement:
    """Measure all ways in turns, so that a busy moment of the machine meets each of them.

    Raises:
        CourseKitError: a call failed, or took longer than its limit.
    """
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    with ExitStack() as stack:
        callers = {way: stack.enter_context(caller_of(way)) for way in WAYS}
        for way, caller in callers.items():
            progress(f"{way}, first call")
            seconds[way].append(ask(way, caller))
        for turn in range(1, repeat + 1):
            for way, caller in callers.items():
                progress(f"{way}, turn {turn} of {repeat}")
                seconds[way] += [ask(way, caller) for _ in range(CALLS_PER_TURN.get(way.partition(",")[0], 1))]
    return Measurement(
        title=f"from call to result: one allreduce on {NUM_RANKS} ranks (loopback)",
        series=tuple(Series(way, first, tuple(later)) for way, (first, *later) in seconds.items()),
    )


@contextmanager
def caller_of(way: str) -> Iterator[Connection]:
    """Start the caller of one way; at the end, nothing that it started is left."""
    with tempfile.TemporaryDirectory(prefix="coursekit-bench-") as folder, ExitStack() as stack:
        ours, theirs = Pipe()
        stack.enter_context(ours)
        process = subprocess.Popen(
            [sys.executable, "-m", "workshop.bench.caller", way, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**scrubbed(), MARK: folder, CONTROLLER_VARIABLE: way.rpartition(", ")[2], "TF_CPP_MIN_LOG_LEVEL": "2"},
            start_new_session=True,
        )
        theirs.close()
        try:
            yield ours
            ours.close()
            with suppress(subprocess.TimeoutExpired):
                process.wait(END_TIMEOUT_S)
        finally:
            end_marked(Path(folder))
            process.wait()


def ask(way: str, caller: Connection) -> float:
    """Have one call made; return its seconds."""
    try:
        caller.send("call")
        if not caller.poll(CALL_TIMEOUT_S):
            raise CourseKitError(f"{way} gave no result within {CALL_TIMEOUT_S:g} s: run `coursekit doctor`")
        reply = caller.recv()
    except (EOFError, OSError):
        raise CourseKitError(f"the process that calls {way} ended without a result: run `coursekit doctor`") from None
    if isinstance(reply, str):
        raise CourseKitError(f"{way} failed, run `coursekit doctor`: {reply}")
    return float(reply)


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
        forkserver.shared.close()
    return Measurement(
        title="from call to result: one allreduce by `ranks.run`",
        series=tuple(Series(str(num), first, tuple(later), num_ranks=num) for num, (first, *later) in seconds.items()),
    )


def _launch(num_ranks: int) -> float:
    """Return the seconds of one call, whose result has to be right."""
    begin = time.perf_counter()
    try:
        results = ranks.run(one_allreduce, num_ranks=num_ranks, timeout_s=CALL_TIMEOUT_S)
    except ranks.RankError as error:
        raise CourseKitError(f"{num_ranks} ranks failed, run `coursekit doctor`: {error}") from error
    seconds = time.perf_counter() - begin
    expected = [num_ranks * (num_ranks + 1) / 2] * num_ranks
    if results != expected:
        raise CourseKitError(f"expected {expected} from the ranks, got {results}")
    return seconds
