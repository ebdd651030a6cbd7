"""From a quiz as its author writes it to two cells: its text, and one in which to choose; see `coursekit.quiz`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import nbformat

from coursekit.labs.build.text_notebook import FIRST_LINE, LINE, fault
from coursekit.labs.cells import QUIZ
from coursekit.quiz import LETTERS, fold, listed

if TYPE_CHECKING:
    from nbformat import NotebookNode

NUM_CHOICES = (3, 4)
CHOICE = re.compile(r"^- \[([ x])\] ", re.MULTILINE)
CHOSEN = re.compile(r'(?<=\Achoice = ")[A-Z](?=")')
FORM = "write 3 or 4 of them, `- [ ] text` or, the right one, `- [x] text`, each above its explanation, indented by two"
TEXT = "**Quiz, without points.** {question}\n\n{choices}"
CELL = """\
choice = "{right}"  # write {letters} between the quotes, then run this cell

from coursekit.quiz import explain

explain(choice, "{folded}")"""


class Choice(NamedTuple):
    """One choice of a quiz: its text, and why it is or is not right."""

    is_right: bool
    text: str
    explanation: str


def ask_quizzes(notebook: NotebookNode) -> NotebookNode:
    """Replace each quiz by its text and a cell, which only shows something, where the right choice is chosen."""
    cells = (_asked(notebook, cell) if cell.metadata.get("role") == QUIZ else [cell] for cell in notebook.cells)
    notebook.cells = [cell for group in cells for cell in group]
    return notebook


def without_choices(release: NotebookNode) -> NotebookNode:
    """Leave the choice of every quiz to the student."""
    for cell in release.cells:
        if QUIZ in cell.metadata.get("tags", []):
            cell.source = CHOSEN.sub("", cell.source)
    return release


def parse_quiz(source: str) -> tuple[str, list[Choice]]:
    """Return a quiz's question and choices, of which one is right.

    Raises:
        ValueError: something is missing, or more than one is right; the message says what.
    """
    question, *parts = CHOICE.split(source)
    choices = [_choice(mark, text) for mark, text in zip(parts[::2], parts[1::2])]
    if not question.strip() or len(choices) not in NUM_CHOICES:
        raise ValueError(f"a quiz is a question and below it its choices, here {len(choices)}: {FORM}")
    if sum(choice.is_right for choice in choices) != 1:
        raise ValueError("exactly one choice of a quiz is right: mark that one, and no other, with `[x]`")
    return question.strip(), choices


def _choice(mark: str, text: str) -> Choice:
    first, *others = text.rstrip().splitlines()
    if not others or any(not line.startswith("  ") for line in others):
        raise ValueError(f"the choice {first!r} has no explanation, or one that is not indented: {FORM}")
    return Choice(mark == "x", first, " ".join(line.strip() for line in others))


def _asked(notebook: NotebookNode, cell: NotebookNode) -> list[NotebookNode]:
    try:
        question, choices = parse_quiz(cell.source)
    except ValueError as error:
        raise fault(notebook, cell.metadata[LINE], str(error)) from None
    right = next(letter for letter, choice in zip(LETTERS, choices) if choice.is_right)
    lines = (f"- **{letter}.** {choice.text}" for letter, choice in zip(LETTERS, choices))
    folded = fold(right, [choice.explanation for choice in choices])
    code = nbformat.v4.new_code_cell(CELL.format(right=right, letters=listed(LETTERS[: len(choices)]), folded=folded))
    notes = {note: cell.metadata[note] for note in (LINE, FIRST_LINE)}
    code.metadata.update(notes, id=f"{cell.metadata.id}-choice", tags=["picture", QUIZ])
    cell.source = TEXT.format(question=question, choices="\n".join(lines))
    cell.metadata.role = "readonly"
    return [cell, code]
