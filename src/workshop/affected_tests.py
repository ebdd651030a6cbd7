"""Find the tests of a notebook that a changed answer can affect, and the cells that these tests need.

Only names connect cells. If a test uses no name that the answer's cells bind, directly or through other cells, it gives
the same result as with the solution. Running it for each of a hundred answers would only waste time.
In doubt, a cell counts as affected (see `coursekit.labs.cells`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from coursekit.labs.cells import Names, is_solution, is_test, names_of

if TYPE_CHECKING:
    from nbformat import NotebookNode

NO_NAMES = Names(frozenset(), frozenset())


class LabCells:
    """The code cells of a lab's source, with methods that find what an answer can affect."""

    def __init__(self, cells: Sequence[NotebookNode]) -> None:
        self.cells = [cell for cell in cells if cell.cell_type == "code"]
        self.ids = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in self.cells]
        self.tests = {i for i, cell in enumerate(self.cells) if is_test(cell)}
        self.names = [names_of(cell.source) for cell in self.cells]

    def tests_in_reach(self, answers: Mapping[str, str], merged: Mapping[str, str] | None = None) -> frozenset[str]:
        """Return the ids of the tests that an answer can affect; `answers` maps cell ids to new sources.

        `merged` is the same mapping for all answers of a run, because they may use names that this answer binds.
        """
        return frozenset(self.ids[i] for i in self.tests & self._changed(answers, merged or answers))

    def tests_in_direct_reach(self, answers: Mapping[str, str]) -> frozenset[str]:
        """Return the ids of the tests that an answer can affect without going through another answer of the lab.

        Example: `train` calls `shard`, and `try_train(train)` is tested. The answer `shard` affects this test only
        through another answer, so the test is not returned.
        """
        others = {i for i, cell in enumerate(self.cells) if is_solution(cell) and self.ids[i] not in answers}
        names = [NO_NAMES if i in others else names for i, names in enumerate(self._names(answers))]
        return frozenset(self.ids[i] for i in self.tests & self._changed_by(answers, names))

    def cells_to_run(self, answers: Mapping[str, str], left_out: Collection[str] = ()) -> list[NotebookNode]:
        """Return the code cells to run for an answer, in notebook order; all of them if it replaces no cell.

        `answers` maps cell ids to new sources; `left_out` holds the ids of tests that must not run.
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
        """Return each cell's old and new names: tests must also run if an answer forgets to bind a name."""
        return [together((names, names_of(answers.get(name, "")))) for name, names in zip(self.ids, self.names)]

    def _changed(self, answers: Mapping[str, str], merged: Mapping[str, str]) -> set[int]:
        return self._changed_by(answers, self._names(merged))

    def _changed_by(self, answers: Mapping[str, str], names: Sequence[Names]) -> set[int]:
        replaced = {i for i, name in enumerate(self.ids) if name in answers}
        return _closure(replaced, names, lambda cell, others: bool(cell.used & others.bound))


def _closure(start: set[int], names: Sequence[Names], belongs: Callable[[Names, Names], bool]) -> set[int]:
    """Add cells that belong to those chosen until none is left; functions may use names that are bound further down."""
    chosen = set(start)
    while True:
        others = together(names[i] for i in chosen)
        more = {i for i, cell in enumerate(names) if i not in chosen and belongs(cell, others)}
        if not more:
            return chosen
        chosen |= more


def together(names: Iterable[Names]) -> Names:
    """Return the combined names of several cells."""
    all_names = list(names)
    bound = frozenset().union(*(one.bound for one in all_names))
    return Names(bound, frozenset().union(*(one.used for one in all_names)))
