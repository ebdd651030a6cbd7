"""Run one submission in a slot and judge it; as a program, this module judges one submission after another.

The program is a worker of the pool, and uses the socket whose number is its argument. It receives the limits, its cores
and the labs' sources, and then answers each `Submission` with a `Verdict`.
"""

from __future__ import annotations

import functools
import logging
import os
import resource
import signal
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NoReturn

import nbformat

from coursekit.errors import CourseKitError
from coursekit.grading.inside.wire import TimedCell
from coursekit.grading.isolation.cgroups import Refusals
from coursekit.grading.isolation.system import data_bytes
from coursekit.grading.judge.judge import judge, quote_cells
from coursekit.grading.judge.machine_fault import machines_fault, solution_of
from coursekit.grading.judge.running import Fault, Running
from coursekit.grading.judge.slot import Slot
from coursekit.grading.submission.program import CellToRun, Program, cells_to_run, read_program
from coursekit.grading.submission.student_folder import Submission
from coursekit.grading.verdict import Flag, Verdict
from coursekit.labs.cells import CellScore
from coursekit.log import VARIABLE, log_to, machine
from coursekit.processes import end_with_parent
from coursekit.text import printable

LOGGER = logging.getLogger(__name__)
TOO_MUCH = "The judge needs too much time or memory for the data that the answers return"
# Errors of the process that runs the cells, as opposed to exceptions that a cell raises.
PROCESS_ERRORS = frozenset({"TimeoutError", "ProcessEnded", "OutputError", "OddReply"})
# Limits on the judge itself, many times what it needs for an honest notebook.
MAX_CPU_S = 60.0
MAX_MEMORY_BYTES = 2 << 30
AGAIN_S = 1.0  # time until a check that catches the exception is interrupted again
MOST_LOST = 3  # signals whose exceptions Python may ignore, for example in garbage collection


class JudgeTimeoutError(BaseException):  # not an `Exception`, so that no check takes it for a mistake in the answer
    """The judge needed too much time for the data that a submission returned."""


def main() -> None:
    """Judge submissions until the pool closes the channel."""
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the pool ends this process
    pool = Connection(int(sys.argv[1]))
    limits, cores, sources = pool.recv()
    if cores:
        os.sched_setaffinity(0, cores)  # the sandbox inherits them; TensorFlow starts one thread per core
    programs: dict[str, Program] = {}
    log = os.environ.get(VARIABLE)
    with log_to(Path(log)) if log else nullcontext(), Slot(limits) as slot, suppress(EOFError):
        while True:
            one, left_out = pool.recv()
            if one.lab not in programs:
                programs[one.lab] = read_program(one.lab, nbformat.read(sources[one.lab], as_version=4))
            try:
                verdict = grade(programs[one.lab], one, slot, left_out=left_out)
            except CourseKitError as error:
                LOGGER.warning("%s %s: %s (%s)", one.student, one.lab, error, machine())
                verdict = Verdict(one.lab, one.student, (), fault=str(error), key=one.key)
            pool.send(verdict)


def grade(program: Program, one: Submission, slot: Slot, *, left_out: Collection[str] = ()) -> Verdict:
    """Run and judge one submission, except the judge's cells named in `left_out`, and return the verdict.

    If the machine may have cost the submission points, the verdict has a fault instead of scores.
    """
    before = Refusals.so_far()
    verdict = _judged(program, one, slot, left_out)
    solution = replace(one, cells=solution_of(program))
    if fault := machines_fault(verdict, before, lambda: _judged(program, solution, slot, left_out)):
        LOGGER.warning("%s %s: %s (%s)", one.student, one.lab, fault, machine())
        return replace(verdict, scores=(), outputs={}, fault=fault)
    return verdict


def _judged(program: Program, one: Submission, slot: Slot, left_out: Collection[str]) -> Verdict:
    started = time.monotonic()
    quote_cells(cell for cells, _ in cells_to_run(program, one.cells) for cell in cells)
    scores: tuple[CellScore, ...] = ()
    outputs: dict[str, str] = {}
    flags: list[Flag] = []
    fault, peak_gb = "", 0.0
    try:
        with slot.submission(program.framework) as running, own_limits():
            run_cells = functools.partial(_run_cells, running, slot.limits.cell_s, outputs, flags)
            scores = judge(program, one.cells, running, run_cells, left_out)
        flags = [*dict.fromkeys(flags), *running.flags()]  # without duplicates, which occur when time is up
        fault, peak_gb = running.watch.fault, round(running.watch.peak_memory_bytes / 2**30, 3)
    except Fault as error:
        LOGGER.warning("%s %s: %s (%s)", one.student, one.lab, error, machine())
        scores, outputs, flags, fault = (), {}, [], str(error)
    except (JudgeTimeoutError, MemoryError) as error:
        scores, outputs, flags = _lost(program, left_out), {}, [Flag("judge", f"{TOO_MUCH} ({type(error).__name__}).")]
    return Verdict(
        lab=one.lab,
        student=one.student,
        scores=scores,
        flags=tuple(flags),
        fault=fault,
        seconds=round(time.monotonic() - started, 3),
        peak_memory_gb=peak_gb,
        outputs=outputs,
        key=one.key,
    )


def _lost(program: Program, left_out: Collection[str]) -> tuple[CellScore, ...]:
    """Return a score of 0 for each test that is not in `left_out`, with the message `TOO_MUCH`."""
    tests = [(part.name, part.points) for part in program.judged if part.points is not None]
    return tuple(CellScore(name, 0.0, points, f"{TOO_MUCH}.") for name, points in tests if name not in left_out)


def _run_cells(
    running: Running, cell_s: float, outputs: dict[str, str], flags: list[Flag], cells: Sequence[CellToRun]
) -> None:
    """Run cells of the notebook; add their output to `outputs`, and a flag to `flags` for each that never ended."""
    timed = [TimedCell(name, source, cell_s, definitions_only) for name, source, definitions_only in cells]
    reply = running.ask({"op": "cells", "cells": timed}, cell_s * len(cells))
    if "error" in reply:
        flags.append(Flag("cells", f"The cells did not run: {reply['error'][1]}."))
        return
    flags += [
        Flag(cell["error"][0], printable(f"cell {cell['name']}: {cell['error'][1][:1000]}"))
        for cell in reply["cells"]
        if cell["error"] and cell["error"][0] in PROCESS_ERRORS
    ]
    outputs.update({cell["name"]: printable(cell["output"]) for cell in reply["cells"] if cell["output"]})


@contextmanager
def own_limits(max_cpu_s: float = MAX_CPU_S, max_memory_bytes: int = MAX_MEMORY_BYTES) -> Iterator[None]:
    """Limit the CPU time and memory of this process while it executes the block.

    Reading data from an answer may never end, or may use up all memory. Processes that the block starts have the same
    memory limit. The time limit counts CPU time, so that a busy machine does not shorten it. At a limit, a
    `JudgeTimeoutError` or a `MemoryError` ends the block. Long-running C code, such as `sum` over a huge range, does
    not handle signals. In that case, the kernel kills this process after twice the time and `MOST_LOST` more signals.
    """
    last_s = int(time.process_time() + 2 * max_cpu_s + MOST_LOST * AGAIN_S) + 1
    wanted = {resource.RLIMIT_DATA: data_bytes() + max_memory_bytes, resource.RLIMIT_CPU: last_s}
    limits = {limit: resource.getrlimit(limit) for limit in wanted}
    for limit, (_, hard) in limits.items():
        most = wanted[limit] if hard == resource.RLIM_INFINITY else min(wanted[limit], hard)
        resource.setrlimit(limit, (most, hard))
    before = signal.signal(signal.SIGPROF, _give_up)
    signal.setitimer(signal.ITIMER_PROF, max_cpu_s, AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        for limit, earlier in limits.items():
            resource.setrlimit(limit, earlier)


def _give_up(*_: object) -> NoReturn:
    raise JudgeTimeoutError


if __name__ == "__main__":
    main()
