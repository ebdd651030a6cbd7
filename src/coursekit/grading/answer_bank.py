"""Read a bank of answers: one small text notebook per answer, with the verdict that the tests must reach.

The form of the files is described in tests/answers/README.md.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import jupytext
import nbformat
from nbgrader.utils import is_grade, is_solution

from coursekit.building.text_notebook import FORMAT, MAGIC, MARKER
from coursekit.errors import CourseKitError
from coursekit.grading.points import is_test

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path
    from typing import Any

BLOCK_START, BLOCK_END = "# /// answer", "# ///"
KEYS = ("title", "verdict", "fails", "consequences")
TOML_LINE = re.compile(r"\(at line (\d+), column \d+\)")


@dataclass(frozen=True)
class Answer:
    """One answer to a lab and what the lab's tests must make of it.

    Attributes:
        name: Name of the file without its ending.
        title: One line that says what the student thought.
        fails: Id of each test that must fail, with the words that its message must contain; empty for a right answer.
        cells: Id of each answer cell that is replaced, with its whole new source.
        consequences: Ids of tests that are not run: they use what is wrong, and may fail with it or not.
    """

    name: str
    title: str
    fails: Mapping[str, tuple[str, ...]]
    cells: Mapping[str, str]
    consequences: frozenset[str] = frozenset()


def load_bank(folder: Path, source_notebook: Path) -> tuple[Answer, ...]:
    """Read every answer of a bank, sorted by name.

    Args:
        folder: Folder with one `.py` file per answer.
        source_notebook: The lab's source, `build/source/<lab>/<lab>.ipynb`.

    Raises:
        CourseKitError: If there is no answer, or one of them is not as the lab and the format demand.
    """
    paths = sorted(folder.glob("*.py"))
    if not paths:
        raise CourseKitError(f"{folder} holds no answers: write one .py file for each (see tests/answers/README.md).")
    notebook = nbformat.read(source_notebook, as_version=4)
    return tuple(load_answer(path, notebook) for path in paths)


def load_answer(path: Path, notebook: nbformat.NotebookNode) -> Answer:
    """Read one answer to the lab whose source is `notebook`.

    Raises:
        CourseKitError: If anything in the file is wrong; the message begins with file and line.
    """
    tests = [cell.metadata.nbgrader.grade_id for cell in notebook.cells if is_test(cell)]
    answers = [cell.metadata.nbgrader.grade_id for cell in notebook.cells if is_solution(cell) and not is_grade(cell)]
    lines = path.read_text(encoding="utf-8").splitlines()
    block, end = _find_block(path, lines)
    _check_block(path, block, tests)
    cells = _read_cells(path, lines, end, answers)
    fails = {test: tuple(words) for test, words in block.values.get("fails", {}).items()}
    return Answer(path.stem, block.values["title"], fails, cells, frozenset(block.values.get("consequences", ())))


@dataclass(frozen=True)
class _Block:
    """The TOML at the top of a file, and where its keys stand (line numbers count from 1)."""

    first_line: int
    lines: Sequence[str]
    values: Mapping[str, Any]

    def line_of(self, key: str) -> int:
        """Return the line of a key, or of the block when the key is written in an unusual way."""
        written = re.compile(rf"""\s*\[?\s*["']?{re.escape(key)}["']?\s*[=\]]""")
        return next(
            (i for i, line in enumerate(self.lines, self.first_line + 1) if written.match(line)), self.first_line
        )


def _find_block(path: Path, lines: Sequence[str]) -> tuple[_Block, int]:
    """Return the block and the number of its last line."""
    first = next((i for i, line in enumerate(lines, 1) if line.strip()), 1)
    if not lines or lines[first - 1].rstrip() != BLOCK_START:
        raise _fault(path, first, f"an answer starts with the line {BLOCK_START!r}")
    end = next((i for i, line in enumerate(lines, 1) if i > first and line.rstrip() == BLOCK_END), None)
    if end is None:
        raise _fault(path, first, f"this block is never closed: end it with the line {BLOCK_END!r}")
    inside = lines[first : end - 1]
    for i, line in enumerate(inside, first + 1):
        if not (line == "#" or line.startswith("# ")):
            raise _fault(path, i, "every line of this block starts with '# '")
    text = [line[2:] for line in inside]
    try:
        values = tomllib.loads("\n" * first + "\n".join(text))
    except tomllib.TOMLDecodeError as error:
        at = TOML_LINE.search(str(error))
        raise _fault(path, int(at[1]) if at else end, f"this is not valid TOML ({error})") from None
    return _Block(first, text, values), end


def _check_block(path: Path, block: _Block, tests: Collection[str]) -> None:
    values = block.values
    for key in values:
        if key not in KEYS:
            raise _fault(path, block.line_of(key), f"unknown key {key!r}; allowed are {', '.join(KEYS)}")
    title, verdict, fails, consequences = (values.get(key) for key in KEYS)
    if not (isinstance(title, str) and title.strip() and "\n" not in title):
        raise _fault(path, block.line_of("title"), 'the title must be one line of text, such as title = "No broadcast"')
    if verdict not in ("right", "wrong"):
        raise _fault(path, block.line_of("verdict"), 'the verdict must be "right" or "wrong"')
    if verdict == "right" and fails is not None:
        raise _fault(path, block.line_of("fails"), "a right answer fails no test: drop [fails], or call it wrong")
    if verdict == "right" and consequences is not None:
        raise _fault(path, block.line_of("consequences"), "a right answer passes every test: drop the consequences")
    if verdict == "wrong":
        _check_fails(path, block, tests)


def _check_fails(path: Path, block: _Block, tests: Collection[str]) -> None:
    fails = block.values.get("fails")
    at = block.line_of("fails")
    if not isinstance(fails, dict) or not fails:
        raise _fault(path, at, "a wrong answer needs [fails], a table of the tests that must fail")
    for test, words in fails.items():
        if test not in tests:
            raise _fault(path, block.line_of(test), f"the lab has no test {test!r}; its tests are {', '.join(tests)}")
        if not (isinstance(words, list) and all(isinstance(word, str) and word.strip() for word in words)):
            raise _fault(path, block.line_of(test), f'{test} needs a list of words, such as ["shard"]')
    for test in block.values.get("consequences", ()):
        if test not in tests or test in fails:
            sentence = f"{test!r} is no other test of the lab: consequences are tests that are not under [fails]"
            raise _fault(path, block.line_of("consequences"), sentence)
    if not any(fails.values()):
        raise _fault(path, at, "at least one of these tests must say something: give words of its message")


def _read_cells(path: Path, lines: Sequence[str], end: int, answers: Collection[str]) -> dict[str, str]:
    markers = [i for i, line in enumerate(lines, 1) if i > end and MARKER.match(line)]
    stray = next((i for i, line in enumerate(lines, 1) if i > end and line.strip()), end)
    if not markers or stray < markers[0]:
        raise _fault(path, stray, 'a cell with the marker `# %% role="answer" id="..."` must follow the block')
    cells: dict[str, str] = {}
    for first, after in zip(markers, [*markers[1:], len(lines) + 1]):
        # Read one at a time, so that each knows its line.
        cell = jupytext.reads("\n".join(lines[first - 1 : after - 1]), fmt=FORMAT).cells[0]
        written = {key: value for key, value in cell.metadata.items() if key != "lines_to_next_cell"}
        name = str(written.get("id"))
        if cell.cell_type != "code" or written != {"role": "answer", "id": name}:
            raise _fault(path, first, 'a cell here is code and its marker `# %% role="answer" id="..."`')
        if name not in answers:
            raise _fault(path, first, f"the lab has no answer cell {name!r}; it has {', '.join(answers)}")
        if name in cells:
            raise _fault(path, first, f"the cell {name!r} is answered twice: keep one")
        if not cell.source.strip():
            raise _fault(path, first, "this answer is empty: a comment will do when the student left it blank")
        cells[name] = MAGIC.sub(r"\1\2", cell.source)
    return cells


def _fault(path: Path, line: int, sentence: str) -> CourseKitError:
    return CourseKitError(f"{path}:{line}: {sentence}.")
