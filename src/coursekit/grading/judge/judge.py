"""Run the instructor's test cells, with answers that live elsewhere in place of functions."""

from __future__ import annotations

import builtins
import io
import linecache
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

from coursekit.checks.check import start_over
from coursekit.checks.launches import noting
from coursekit.checks.on_ranks import RemoteAnswer
from coursekit.checks.random_inputs import repeatable
from coursekit.grading.judge.remote_answers import Sandboxed
from coursekit.labs.affected_tests import names_of
from coursekit.labs.cells import CellScore
from coursekit.text import printable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from coursekit.checks.launches import Layout
    from coursekit.grading.judge.conversation import Live, Recorded
    from coursekit.grading.submission.program import Part, Program
    from coursekit.labs.affected_tests import Names

MAX_MESSAGE_LENGTH = 4000  # characters


def judge(
    program: Program,
    conversation: Live | Recorded,
    entropy: int,
    left_out: Collection[str] = (),
    taken: Collection[str] = (),
) -> tuple[CellScore, ...]:
    """Return the points of each test cell but those named in `left_out`; random inputs follow from `entropy`.

    Checks named in `taken` give none: the student took what they look at from the solution.
    """
    start_over(taken)
    judge = _Judge(program, conversation)
    scores = []
    with repeatable(entropy), redirect_stdout(io.StringIO()):
        for part in program.judged:
            if part.name in left_out:
                continue
            message, layouts = judge.run(part)
            if part.points is not None:
                points = 0.0 if message else part.points
                scores.append(CellScore(part.name, points, part.points, message, sorted(layouts)))
    return tuple(scores)


class _Judge:
    """The namespace in which the judge's cells run, one after the other."""

    def __init__(self, program: Program, conversation: Live | Recorded) -> None:
        self.namespace: dict[str, Any] = {"__name__": "coursekit_judge"}
        exec(program.known, self.namespace)  # noqa: S102  # the instructor's own imports and parameters
        self.elsewhere = Sandboxed(conversation)
        self.own = frozenset().union(*(names_of(part.source).bound for part in program.judged))
        self.failed: dict[str, str] = {}  # by a name that a failed cell did not bind, why
        self.layouts: dict[str, set[Layout]] = {}  # by a name that a cell bound, what it launched

    def run(self, part: Part) -> tuple[str, set[Layout]]:
        """Run one cell; return '' or its exception as a sentence, and the ranks that it or its trials launched."""
        names = names_of(part.source)
        with noting() as launched:
            message = self._run(part, names)
        self.layouts.update(dict.fromkeys(names.bound, launched))
        return message, launched.union(*(self.layouts.get(name, ()) for name in names.used))

    def _run(self, part: Part, names: Names) -> str:
        missing = sorted(names.used & self.failed.keys())
        if missing:
            return self.failed[missing[0]]
        # Every name that it uses and no cell of the judge's binds stands for a function of the student's.
        for name in sorted(names.used - self.own):
            if name not in self.namespace and not hasattr(builtins, name):
                self.namespace[name] = RemoteAnswer(name, self.elsewhere)
        try:
            exec(compile(part.source, f"cell {part.name}", "exec"), self.namespace)  # noqa: S102  # the instructor's own
        except MemoryError:  # the judge's own: that is not a test's matter, see `own_limits`
            raise
        except Exception as error:  # noqa: BLE001  # a test fails by any exception
            message = printable(f"{type(error).__name__}: {error}"[:MAX_MESSAGE_LENGTH])
            self.failed.update(dict.fromkeys(names.bound, message))
            return message
        return ""


def quote_cells(cells: Iterable[tuple[str, str]]) -> None:
    """Let messages quote lines of these cells, which exist in no file; only they are quoted from now on."""
    for name in [name for name, entry in linecache.cache.items() if len(entry) > 1 and entry[1] is None]:
        del linecache.cache[name]
    for name, source in cells:
        lines = [line + "\n" for line in source.splitlines()]
        linecache.cache[name] = (len(source), None, lines, name)
