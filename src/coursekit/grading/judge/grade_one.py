"""Run one submission and judge it: in the sandbox first, then, when all of that is dead, from the record."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING

from coursekit.grading.inside.messages import TimedCell
from coursekit.grading.judge.conversation import Live, Recorded
from coursekit.grading.judge.flags import flags_of_run, flags_of_source
from coursekit.grading.judge.judge import judge, quote_cells
from coursekit.grading.judge.own_limits import JudgeTimeoutError, own_limits
from coursekit.grading.judge.running import Fault
from coursekit.grading.submission.work import cells_to_run
from coursekit.grading.verdict import Flag, Verdict
from coursekit.labs.cells import CellScore
from coursekit.text import printable

if TYPE_CHECKING:
    from collections.abc import Collection

    from coursekit.grading.judge.slot import Slot
    from coursekit.grading.submission.program import Program
    from coursekit.grading.submission.work import Work

TOO_MUCH = "What the answers return takes the judge more time or memory than it has"
# What the shell's process did, and not an exception of a cell's.
PROCESS_ERRORS = frozenset({"TimeoutError", "ProcessEnded", "OutputError", "OddReply"})


def grade(program: Program, work: Work, slot: Slot, *, left_out: Collection[str] = (), key: str = "") -> Verdict:
    """Run and judge one submission but for the judge's cells named in `left_out`; `key` goes into the verdict."""
    started = time.monotonic()
    entropy = secrets.randbits(128)
    cells = cells_to_run(program, work)
    quote_cells(cells)
    source_flags: tuple[Flag, ...] = ()
    try:
        source_flags = flags_of_source(work)
        with slot.submission(needs_tensorflow=program.needs_tensorflow) as running, own_limits():
            conversation = Live(running, slot.limits.notebook_s)
            outputs, flags = _run_cells(cells, conversation, slot.limits.cell_s)
            judge(program, conversation, entropy, left_out, work.taken)
        with own_limits():
            flags += (*flags_of_run(conversation.exchanges), *running.flags())
            # Only now, with the whole run dead, the verdict that counts.
            recorded = Recorded(conversation.exchanges[1:])
            scores = judge(program, recorded, entropy, left_out, work.taken)
        fault, peak_gb = running.watch.fault, round(running.watch.peak_memory_bytes / 2**30, 3)
    except Fault as error:
        scores, outputs, flags, fault, peak_gb = (), {}, [], str(error), 0.0
    except (JudgeTimeoutError, MemoryError) as error:
        scores, outputs, flags = _lost(program, left_out), {}, [Flag("judge", f"{TOO_MUCH} ({type(error).__name__}).")]
        fault, peak_gb = "", 0.0
    return Verdict(
        lab=work.lab,
        student=work.student,
        scores=scores,
        flags=(*work.flags, *source_flags, *flags),
        fault=fault,
        seconds=round(time.monotonic() - started, 3),
        peak_memory_gb=peak_gb,
        sandbox=slot.sandbox,
        outputs=outputs,
        key=key,
    )


def _lost(program: Program, left_out: Collection[str]) -> tuple[CellScore, ...]:
    """Return no point for each test, with the reason."""
    tests = [(part.name, part.points) for part in program.judged if part.points is not None]
    return tuple(CellScore(name, 0.0, points, f"{TOO_MUCH}.") for name, points in tests if name not in left_out)


def _run_cells(cells: list[tuple[str, str]], conversation: Live, cell_s: float) -> tuple[dict[str, str], list[Flag]]:
    """Run the notebook's cells; return what each printed, and flags for those that never ended."""
    timed = [TimedCell(name, source, cell_s) for name, source in cells]
    reply = conversation.ask({"op": "cells", "cells": timed}, cell_s * len(cells))
    if "error" in reply:
        return {}, [Flag("cells", f"the cells did not run: {reply['error'][1]}")]
    flags = [
        Flag(cell["error"][0], printable(f"cell {cell['name']}: {cell['error'][1][:1000]}"))
        for cell in reply["cells"]
        if cell["error"] and cell["error"][0] in PROCESS_ERRORS
    ]
    return {cell["name"]: printable(cell["output"]) for cell in reply["cells"] if cell["output"]}, flags
