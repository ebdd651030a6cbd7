"""Find the answers among the cells of a hand-in; only their source goes into the instructor's own notebook."""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coursekit.grading.submission.students_files import Pictures, StudentCell, StudentNotebook
from coursekit.grading.verdict import Flag
from coursekit.labs.cells import QUIZ, cell_name, is_grade, is_solution, is_test
from coursekit.solution_snippet import checks_of_pieces

if TYPE_CHECKING:
    from nbformat import NotebookNode

DEFINITION = re.compile(r"^(?:async +def|def|class) +(\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Cells:
    """The cells of a hand-in that the student wrote or changed."""

    answers: Mapping[str, str] = field(default_factory=dict)  # source by name, without deleted answers
    extra: tuple[tuple[str, str], ...] = ()  # each added code cell: the known cell above it or '', and its source
    changed: Mapping[str, str] = field(default_factory=dict)  # source of given code cells that were changed, by name
    notes: tuple[str, ...] = ()  # for the report: a sentence for each thing recovered or missing
    flags: tuple[Flag, ...] = ()  # things that an instructor should look at
    pictures: Mapping[str, Pictures] = field(default_factory=dict)  # pasted into an answer, by its name

    @property
    def taken(self) -> set[str]:
        """The names of the checks that give no points, because the checked answer was taken from the solution."""
        sources = [*self.answers.values(), *(source for _, source in self.extra), *self.changed.values()]
        return {check for source in sources for check in checks_of_pieces(source)}

    def digest(self, lab: str) -> str:
        """Return a digest of the lab's name and the sources of all these cells."""
        text = json.dumps([lab, sorted(self.answers.items()), self.extra, sorted(self.changed.items())])
        return hashlib.sha256(text.encode()).hexdigest()


def find_answers(notebook: StudentNotebook, released: NotebookNode) -> Cells:
    """Find the answers to the released notebook among the cells that were handed in.

    A cell is recognised by nbgrader's name for it, or else by its id, or else by its whole text. An answer is also
    recognised if it defines the same functions or classes as the released cell, for example with `def name(`.
    """
    return _Search(notebook, released).result()


class _Search:
    """Gives each handed-in cell the name of a released cell; the most reliable criteria are tried first."""

    def __init__(self, notebook: StudentNotebook, released: NotebookNode) -> None:
        self.notebook, self.cells = notebook, notebook.cells
        self.released = {cell_name(cell): cell for cell in released.cells}
        self.names: dict[int, str] = {}  # by the cell's position in the hand-in
        self.changed: dict[str, str] = {}
        self.notes: list[str] = []
        self.flags: list[Flag] = []
        self.kernelspec = released.metadata.get("kernelspec", {})

    def result(self) -> Cells:
        for i, cell in enumerate(self.cells):
            if cell.grade_id in self.released:
                self.names[i] = cell.grade_id
        self._by_id()
        self._by_text()
        self._by_definition()
        self._forget_code_in_texts()
        answers = {name: self._chosen(name) for name in self.released if self._is_answer(name) and self._at(name)}
        self._report_missing(answers)
        self._report_changes()
        pictures = {name: self._pictures(name) for name in answers}
        return Cells(answers, tuple(self._extra()), self.changed, tuple(self.notes), tuple(self.flags), pictures)

    def _by_id(self) -> None:
        for i, cell in enumerate(self.cells):
            if i not in self.names and cell.cell_id in self.released and not self._at(cell.cell_id):
                self.names[i] = cell.cell_id
                if self._is_answer(cell.cell_id):
                    lost = f"the answer {cell.cell_id!r} has lost nbgrader's metadata"
                    self.notes.append(f"{lost}: found by its cell id [answer.found-by-id]")

    def _by_text(self) -> None:
        texts: dict[str, list[str]] = defaultdict(list)
        for name, cell in self.released.items():
            if not self._at(name):
                texts[cell.source.strip()].append(name)
        for i, cell in enumerate(self.cells):
            names = texts.get(cell.source.strip(), [])
            if i not in self.names and names:
                self.names[i] = names.pop(0)

    def _by_definition(self) -> None:
        for name, cell in self.released.items():
            if not self._is_answer(name) or cell.cell_type != "code" or self._at(name):
                continue
            wanted = defined(cell.source)
            others = [i for i, other in enumerate(self.cells) if i not in self.names and other.cell_type == "code"]
            found = [i for i in others if wanted & defined(self.cells[i].source)]
            if len(found) == 1:
                self.names[found[0]] = name
                lost = f"the answer {name!r} has lost nbgrader's metadata"
                self.notes.append(f"{lost}: found by what it defines [answer.found-by-definition]")
            elif found:
                shown = ", ".join(sorted(wanted))
                none = f"none of them is graded as the answer {name!r} [answer.ambiguous]"
                self.notes.append(f"{len(found)} cells define {shown}: {none}")

    def _forget_code_in_texts(self) -> None:
        """Treat a given text cell that has become a code cell as a cell that the student added."""
        for i, name in [*self.names.items()]:
            ours = self.released[name]
            if ours.cell_type != "code" and not is_solution(ours) and self.cells[i].cell_type == "code":
                del self.names[i]

    def _before_its_test(self, name: str) -> list[int]:
        """Return the positions of the copies of an answer that its tests see: those above the first test.

        Copies below the test run where they are, as experiments. But if all copies above the test are unchanged, the
        student worked below the test, so the positions of all copies are returned. All are also returned for answers in
        words, because a person reads them.
        """
        at, tests = self._at(name), [i for i, known in self.names.items() if is_test(self.released[known])]
        if self.released[name].cell_type != "code":
            return at
        end = min((i for i in tests if i > at[0]), default=len(self.cells))
        above = [i for i in at if i < end]
        if all(self.cells[i].source.strip() in {"", self.released[name].source.strip()} for i in above):
            return at
        for i in at[len(above) :]:
            del self.names[i]
        return above

    def _chosen(self, name: str) -> str:
        """Return the text of an answer; if it has several copies, join the copies that the student worked in.

        Splitting a cell copies nbgrader's metadata, so the parts are joined. If a whole answer was pasted again, the
        last copy with all required definitions counts, together with the copies below it. Of the copies above it, those
        with such a definition are left out; the others (imports, helpers, calls) run where they are, and cannot make
        the answer fail.
        """
        ours = self.released[name]
        if (num_copies := len(self._at(name))) > 1:
            self.flags.append(Flag("duplicated cell", f"{num_copies} cells are called {name!r}."))
        at = self._before_its_test(name)
        at = [i for i in at if self.cells[i].cell_type == ours.cell_type] or at
        places = {self.cells[i].source: i for i in at if self.cells[i].source.strip() not in {"", ours.source.strip()}}
        copies, wanted = list(places), defined(ours.source)
        whole = [number for number, text in enumerate(copies) if wanted and wanted <= defined(text)]
        first = whole[-1] if whole else 0
        for text in copies[:first]:
            if not wanted & defined(text):
                del self.names[places[text]]
        if len(copies) > 1:
            joined = f"{len(copies) - first} of them were joined"
            how = "the last complete one is graded" if first == len(copies) - 1 else joined
            self.notes.append(f"{len(copies)} different cells are called {name!r}: {how} [answer.copies]")
        return "\n".join(copies[first:]) or self.cells[at[-1]].source

    def _report_missing(self, answers: Mapping[str, str]) -> None:
        lost = [name for name in self.released if self._is_answer(name) and name not in answers]
        if lost:
            self.notes.append(f"missing answers: {', '.join(lost)} [answer.missing]")
        tests = [name for name, cell in self.released.items() if is_grade(cell) and not self._is_answer(name)]
        if deleted := [*lost, *(name for name in tests if not self._at(name))]:
            self.flags.append(Flag("deleted cell", f"Missing: {', '.join(deleted)}."))

    def _report_changes(self) -> None:
        for i, name in self.names.items():
            cell, ours = self.cells[i], self.released[name]
            if not self._is_answer(name) and cell.source.strip() != ours.source.strip():
                if is_grade(ours):
                    changed = f"The test cell {name!r} was changed; the original is used."
                    self.flags.append(Flag("changed test", changed))
                elif ours.cell_type == "code" and QUIZ not in ours.metadata.get("tags", []):
                    self.changed[name] = cell.source
                    self.notes.append(
                        f"the cell {name!r} was changed: its definitions are run, then the original cell [cell.changed]"
                    )
            self._report_metadata(name, cell, ours)
        language = self.notebook.language
        if language and language != self.kernelspec.get("language", "python"):
            self.flags.append(Flag("kernel", f"The notebook's language is {language!a}; the lab's language is used."))
        elif self.notebook.kernel and self.notebook.kernel != self.kernelspec.get("name"):
            self.notes.append(f"the notebook ran on the kernel {self.notebook.kernel!a} [kernel.other]")

    def _report_metadata(self, name: str, cell: StudentCell, ours: NotebookNode) -> None:
        points = ours.metadata.get("nbgrader", {}).get("points")
        claims = f"The metadata of the cell {name!r} claims"
        if cell.points is not None and cell.points != points:
            shown = f"{cell.points:g}" if isinstance(cell.points, float) else ascii(cell.points)[:40]
            self.flags.append(Flag("changed metadata", f"{claims} {shown} points; it has {points}."))
        if cell.is_answer is not None and cell.is_answer != is_solution(ours):
            self.flags.append(Flag("changed metadata", f"{claims} a different role for it."))

    def _pictures(self, name: str) -> Pictures:
        """Return all pictures that were pasted into the cells of an answer, by name."""
        return {picture: data for i in self._at(name) for picture, data in self.cells[i].pictures.items()}

    def _extra(self) -> list[tuple[str, str]]:
        extra, before = [], ""
        for i, cell in enumerate(self.cells):
            before = self.names.get(i, before)
            if i not in self.names and cell.cell_type == "code" and cell.source.strip():
                extra.append((before, cell.source))
        return extra

    def _at(self, name: str) -> list[int]:
        return sorted(i for i, known in self.names.items() if known == name)

    def _is_answer(self, name: str) -> bool:
        return bool(is_solution(self.released[name]))


def defined(source: str) -> frozenset[str]:
    """Return the names of the functions and classes that a cell defines.

    The cell is not parsed, because hostile code could crash the parser.
    """
    return frozenset(DEFINITION.findall(source))
