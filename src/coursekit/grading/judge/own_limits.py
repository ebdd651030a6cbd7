"""Limits on the judge itself: an answer may return data whose reading never ends, or fills the memory."""

from __future__ import annotations

import resource
import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from coursekit.grading.walls.allowance import data_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

# Many times what judging an honest notebook takes; the memory holds the largest record of replies several times.
MAX_CPU_S = 60.0
MAX_MEMORY_BYTES = 2 << 30
AGAIN_S = 1.0  # a check that catches what ended it is ended again
MOST_LOST = 3  # exceptions of a signal that came where Python ignores them, as in a collection of garbage


class JudgeTimeoutError(BaseException):  # no `Exception`: nothing in a check may take it for an answer's mistake
    """What a submission returned has taken the judge too long."""


@contextmanager
def own_limits(max_cpu_s: float = MAX_CPU_S, max_memory_bytes: int = MAX_MEMORY_BYTES) -> Iterator[None]:
    """Limit this process within the block; the processes that it starts within have the limit of memory, too.

    Time is the processor's, so that no busy machine makes it shorter. Only the main thread can be limited.
    C hears no signals, as where `sum` counts up to a number of an answer's: after twice the time, and `MOST_LOST`
    more signals, the kernel ends the process.

    Raises:
        JudgeTimeoutError: the block has used too much of it.
        MemoryError: it has asked for more memory.
    """
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("only the main thread hears signals")
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = data_bytes() + max_memory_bytes
    resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))
    cpu_soft, cpu_hard = resource.getrlimit(resource.RLIMIT_CPU)
    last_s = int(time.process_time() + 2 * max_cpu_s + MOST_LOST * AGAIN_S) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (last_s if cpu_hard == resource.RLIM_INFINITY else cpu_soft, cpu_hard))
    before = signal.signal(signal.SIGPROF, _give_up)
    signal.setitimer(signal.ITIMER_PROF, max_cpu_s, AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_soft, cpu_hard))
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _give_up(*_: object) -> NoReturn:
    raise JudgeTimeoutError
