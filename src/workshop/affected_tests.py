"""Which tests of a notebook a changed answer can affect, and which cells they need to run.

Cells know each other by names only. A test that uses no name, directly or through other cells, that the answer's cells
bind does the same as with the solution, so running it for each of a hundred answers would only take time.
In doubt a cell counts as affected (see `coursekit.labs.cells`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from coursekit.labs.cells import Names, is_solution, is_test, names_of

if TYPE_CHECKING:
    from nbformat import NotebookNode

NO_NAMES = Names(frozenset(), frozenset())


class LabCells:
    """The code cells of a lab's source, and what an answer to it can affect."""

    def __init__(self, cells: Sequence[NotebookNode]) -> None:
        self.cells = [cell for cell in cells if cell.cell_type == "code"]
        self.ids = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in self.cells]
        self.tests = {i for i, cell in enumerate(self.cells) if is_test(cell)}
        self.names = [names_of(cell.source) for cell in self.cells]

    def tests_in_reach(self, answers: Mapping[str, str], merged: Mapping[str, str] | None = None) -> frozenset[str]:
        """Return the ids of the tests that an answer can reach; `answers` maps ids of cells to new sources.

        `merged` does so for all answers of a run: what those beside this one use may lie in its reach, too.
        """
        return frozenset(self.ids[i] for i in self.tests & self._changed(answers, merged or answers))

    def tests_in_direct_reach(self, answers: Mapping[str, str]) -> frozenset[str]:
        """Return the ids of the tests that an answer can reach, but not only through another answer of the lab.

        Example: `train` calls `shard`, and `try_train(train)` is tested: the answer `shard` reaches that test, not
        directly.
        """
        others = {i for i, cell in enumerate(self.cells) if is_solution(cell) and self.ids[i] not in answers}
        names = [NO_NAMES if i in others else names for i, names in enumerate(self._names(answers))]
        return frozenset(self.ids[i] for i in self.tests & self._changed_by(answers, names))

    def cells_to_run(self, answers: Mapping[str, str], left_out: Collection[str] = ()) -> list[NotebookNode]:
        """Return the code cells to run for an answer, in their order; all of them when it replaces none.

        `answers` maps ids of cells to new sources, `left_out` holds ids of tests that are not run in any case.
        """
        if not answers:
            return self.cells
        replaced = {i for i, name in enumerate(self.ids) if name in answers}
        effects = {i for i, names in enumerate(self.names) if not names.bound} - self.tests
        tests = {i for i in self.tests & self._changed(answers, answers) if self.ids[i] not in left_out}
        start = replaced | effects | tests
        wanted = _closure(start, self._names(answers), lambda cell, others: bool(cell.bound & others.used))
        return [cell for i, cell in enumerate(self.cells) if i in wanted]

    def _names(self, answers: Mapping[str, str]) -> list[Names]:
        """Return the names of each cell, old and new: one that the answer forgets to bind is missed by tests of it."""
        return [together((names, names_of(answers.get(name, "")))) for name, names in zip(self.ids, self.names)]

    def _changed(self, answers: Mapping[str, str], merged: Mapping[str, str]) -> set[int]:
        return self._changed_by(answers, self._names(merged))

    def _changed_by(self, answers: Mapping[str, str], names: Sequence[Names]) -> set[int]:
        replaced = {i for i, name in enumerate(self.ids) if name in answers}
        return _closure(replaced, names, lambda cell, others: bool(cell.used & others.bound))


def _closure(start: set[int], names: Sequence[Names], belongs: Callable[[Names, Names], bool]) -> set[int]:
    """Add cells that belong to those chosen, until none is left: functions may use names that are bound below them."""
    chosen = set(start)
    while True:
        others = together(names[i] for i in chosen)
        more = {i for i, cell in enumerate(names) if i not in chosen and belongs(cell, others)}
        if not more:
            return chosen
        chosen |= more


def together(names: Iterable[Names]) -> Names:
    """Return the names of several cells."""
    all_names = list(names)
    bound = frozenset().union(*(one.bound for one in all_names))
    return Names(bound, frozenset().union(*(one.used for one in all_names)))
