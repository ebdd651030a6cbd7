"""Run the instructor's test cells; they call the student's functions, which run elsewhere, in a sandbox."""

from __future__ import annotations

import builtins
import io
import linecache
import secrets
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import redirect_stdout
from typing import Any

from coursekit.checks.check import fresh_rng, repeatable, start_over
from coursekit.checks.on_ranks import AnswerError, Left, RemoteAnswer
from coursekit.grading.inside import wire
from coursekit.grading.judge.running import Running
from coursekit.grading.submission.cells import Cells
from coursekit.grading.submission.program import CellToRun, Part, Program, cells_to_run
from coursekit.labs.cells import CellScore, names_of
from coursekit.ranks import RankError
from coursekit.ranks.explain import RunOutcome
from coursekit.ranks.launch import results_of
from coursekit.ranks.protocol import Report
from coursekit.text import printable

MAX_MESSAGE_LENGTH = 4000  # characters


def judge(
    program: Program,
    students: Cells,
    running: Running,
    run_cells: Callable[[Sequence[CellToRun]], None],
    left_out: Collection[str] = (),
) -> tuple[CellScore, ...]:
    """Return the points of each test cell, except those named in `left_out`.

    `run_cells` runs cells of the notebook in the sandbox. It is called before each of the judge's cells, with the cells
    that the sandbox must run first. A check of an answer that the student took from the solution gives no points.
    """
    start_over(students.taken)
    namespace: dict[str, Any] = {"__name__": "coursekit_judge"}  # in which the judge's cells run
    exec(program.known, namespace)  # noqa: S102  # the instructor's own imports and parameters
    own = frozenset().union(*(names_of(part.source).bound for part in program.judged))
    elsewhere, scores = Sandboxed(running), []
    failed: dict[str, str] = {}  # for each name that a failed cell did not bind, the reason
    with repeatable(secrets.randbits(128)), redirect_stdout(io.StringIO()):
        for cells, part in cells_to_run(program, students):
            if cells:
                run_cells(cells)
            if part is None or part.name in left_out:
                continue
            names = names_of(part.source)
            # A name that the cell uses and that none of the judge's cells binds stands for a function of the student.
            for name in names.used - own - namespace.keys() - vars(builtins).keys():
                namespace[name] = RemoteAnswer(name, elsewhere)
            missing = sorted(names.used & failed.keys())
            message = failed[missing[0]] if missing else _error_of(part, namespace)
            if message and not missing:
                failed.update(dict.fromkeys(names.bound, message))
            if part.points is not None:
                scores.append(CellScore(part.name, 0.0 if message else part.points, part.points, message))
    return tuple(scores)


def _error_of(part: Part, namespace: dict[str, Any]) -> str:
    """Run one of the judge's cells, and return its exception as text, or '' if it raises none."""
    try:
        exec(compile(part.source, f"cell {part.name}", "exec"), namespace)  # noqa: S102  # the instructor's own
    except MemoryError:  # in the judge itself, not a failure of the test: see `own_limits`
        raise
    except Exception as error:  # noqa: BLE001  # any exception fails a test
        return printable(f"{type(error).__name__}: {error}"[:MAX_MESSAGE_LENGTH])
    return ""


def quote_cells(cells: Iterable[CellToRun]) -> None:
    """Make it possible for messages to quote lines of these cells, which are not in any file.

    Cells from an earlier call can no longer be quoted.
    """
    for name in [name for name, entry in linecache.cache.items() if len(entry) > 1 and entry[1] is None]:
        del linecache.cache[name]
    for name, source, _ in cells:
        lines = [line + "\n" for line in source.splitlines()]
        linecache.cache[name] = (len(source), None, lines, name)


class Sandboxed:
    """Gives `RemoteAnswer` access to answers in a sandbox; each call or launch is a request made of plain data."""

    def __init__(self, running: Running) -> None:
        self.running = running

    def call(self, driver: Callable[..., Any], args: tuple[Any, ...], *, timeout_s: float) -> Any:
        """Call a driver in the process that ran the student's cells; an exception there becomes an `AnswerError`."""
        request = {"op": "call", "call": wire.dumps([driver, args]), "timeout_s": timeout_s}
        reply = self.running.ask(request, timeout_s)
        if "error" in reply:
            raise AnswerError(*reply["error"])
        return reply["value"]

    def run(
        self, wrapper: Callable[..., Any], args: tuple[Any, ...], private: Sequence[Any] | None, **launch: Any
    ) -> tuple[list[Any], list[Left]]:
        """Call a wrapper, such as `with_horovod`, on ranks; `args` holds a driver and its arguments.

        Each rank gets its own seed and private value. Like `ranks.run`, this method raises an exception if a rank
        fails. It also raises an `AnswerError` if an answer is missing, or if the launch did not happen in time.

        The result holds what the ranks returned, and the files that they left.
        """
        num_ranks, timeout_s = launch["num_ranks"], launch["timeout_s"]
        seeds = fresh_rng().integers(2**32, size=num_ranks).tolist()
        own = [None] * num_ranks if private is None else private
        request = {
            "op": "launch",
            "call": wire.dumps([wrapper, args]),
            "names": [arg.name for arg in args if isinstance(arg, RemoteAnswer)],
            "inputs": [wire.dumps([seed, value]) for seed, value in zip(seeds, own)],
            **launch,
        }
        reply = self.running.ask(request, 2 * timeout_s)
        if "error" in reply:
            kind, text = reply["error"]
            raise TypeError(text) if kind == "TypeError" else AnswerError(kind, text)
        reports = {rank: Report(*words) for rank, *words in reply["reports"]}
        outcome = RunOutcome(reports, dict(reply["exit_codes"]), reply["stopped"], reply["stacks"])
        return results_of(outcome, num_ranks, timeout_s, _value), reply["left"]


def _value(rank: int, data: bytes) -> Any:
    try:
        return wire.loads(data)
    except wire.NotPlainError as error:
        words = f"the return value of rank {rank} cannot be read: {error}"
        raise RankError(words, "return-value.not-plain", rank=rank) from None
