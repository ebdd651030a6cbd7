"""Add to a lab the quizzes (`quiz`), pieces of the solution (`solution_snippet`), and the report's list of checks."""

from __future__ import annotations

import ast
import json
import re
import textwrap
from collections.abc import Mapping
from typing import NamedTuple

import nbformat
from nbformat import NotebookNode

from coursekit.errors import CourseKitError
from coursekit.labs.build.regions import without_markers
from coursekit.labs.build.text_notebook import LINE, CellError
from coursekit.labs.cells import QUIZ, is_solution, is_test
from coursekit.labs.lab import Lab
from coursekit.quiz import LETTERS, fold, listed
from coursekit.solution_snippet import wrap

NUM_CHOICES = (3, 4)
CHOICE = re.compile(r"^- \[([ x])\] ", re.MULTILINE)
CHOSEN = re.compile(r'(?<=\Achoice = ")[A-Z](?=")')
FORM = "write 3 or 4 choices, `- [ ] text` or, if right, `- [x] text`, each with an explanation below, indented by two"
QUIZ_TEXT = "**Quiz, without points.** {question}\n\n{choices}"
QUIZ_CELL = """\
choice = "{right}"  # write {letters} between the quotes, then run this cell

from coursekit.quiz import explain

explain(choice, "{folded}")"""

NUM_LETTERS = 48  # maximum per line, so that lines fit on a page enlarged to 200 %
WAY_OUT = """

<details><summary>Stuck? Continue without these points</summary>

To load this answer from the solution, replace your code with the lines below.
Later cells then work, but the checks of this answer give no points until you write it yourself.

```python
from coursekit.solution_snippet import take
{name} = take(
{lines}
)
```

</details>"""

REPORT = "hand_in_report()"
CHECK = re.compile(r'^with check\("([^"]+)"', re.MULTILINE)


class QuizError(CourseKitError):
    """A quiz does not have the required form."""


class Choice(NamedTuple):
    """One answer choice in a quiz: its text, and why it is right or wrong."""

    is_right: bool
    text: str
    explanation: str


def ask_quizzes(notebook: NotebookNode) -> None:
    """Replace each quiz with a text cell and a code cell that holds the right choice and shows only its output."""
    cells = (_asked(notebook, cell) if cell.metadata.get("role") == QUIZ else [cell] for cell in notebook.cells)
    notebook.cells = [cell for group in cells for cell in group]


def parse_quiz(source: str) -> tuple[str, list[Choice]]:
    """Return a quiz's question and choices, one of which is right; raise a `QuizError` if the form is wrong."""
    question, *parts = CHOICE.split(source)
    choices = []
    for mark, text in zip(parts[::2], parts[1::2]):
        first, *others = text.rstrip().splitlines()
        if not others or any(not line.startswith("  ") for line in others):
            raise QuizError(
                f"the choice {first!r} has no explanation, or it is not indented: {FORM}", "quiz.no-explanation"
            )
        choices.append(Choice(mark == "x", first, " ".join(line.strip() for line in others)))
    if not question.strip() or len(choices) not in NUM_CHOICES:
        raise QuizError(
            f"a quiz needs a question with its choices below (choices here: {len(choices)}): {FORM}", "quiz.num-choices"
        )
    if sum(choice.is_right for choice in choices) != 1:
        raise QuizError(
            "exactly one choice of a quiz must be right: mark only that one with `[x]`", "quiz.not-one-right"
        )
    return question.strip(), choices


def offer_ways_out(notebook: NotebookNode, lab: Lab) -> None:
    """Above each answer in the lab's `ways_out`, show lines of code that take the answer from the solution.

    If a student uses these lines, the checks between this answer and the next answer give no points.

    Raises:
        CourseKitError: the lab has no such answer, or the answer is not a single function.
    """
    cells = notebook.cells
    answers = {cell.id: i for i, cell in enumerate(cells) if is_solution(cell) and cell.cell_type == "code"}
    for answer in lab.ways_out:
        source = without_markers(cells[answers[answer]].source) if answer in answers else ""
        body = ast.parse(source).body
        if len(body) != 1 or not isinstance(body[0], ast.FunctionDef):
            raise CourseKitError(
                f"solutions/{lab.name}/lab.toml: ways_out names {answer!r}, which is not an answer of one function; "
                f"the answers are {', '.join(answers)}.",
                "lab.no-such-answer",
            )
        place = answers[answer]
        end = min((i for i in answers.values() if i > place), default=len(cells))
        checks = [name for cell in cells[place:end] if is_test(cell) for name in CHECK.findall(cell.source)]
        text = next(cell for cell in reversed(cells[:place]) if cell.cell_type == "markdown")
        lines = textwrap.wrap(wrap(checks, source), NUM_LETTERS, break_on_hyphens=False)
        text.source += WAY_OUT.format(name=body[0].name, lines="\n".join(f'    "{line}"' for line in lines))


def list_checks(notebook: NotebookNode) -> None:
    """Give the report at the end of a lab the names and points of all checks and text answers.

    In this way, the report also lists checks that are never run.
    """
    checks, texts = {}, {}
    for cell in notebook.cells:
        if cell.metadata.get("role") == "tests":
            checks.update(dict.fromkeys(CHECK.findall(cell.source), cell.metadata["points"]))
        elif cell.metadata.get("role") == "manual":
            texts[cell.metadata["id"]] = cell.metadata["points"]
    for cell in notebook.cells:
        if checks and cell.source.strip() == REPORT:
            cell.source = f"hand_in_report({_listed(checks)}{', texts=' + _listed(texts) if texts else ''})"


def _asked(notebook: NotebookNode, cell: NotebookNode) -> list[NotebookNode]:
    try:
        question, choices = parse_quiz(cell.source)
    except QuizError as error:
        raise CellError(notebook, cell, str(error)) from None
    right = next(letter for letter, choice in zip(LETTERS, choices) if choice.is_right)
    lines = (f"- **{letter}.** {choice.text}" for letter, choice in zip(LETTERS, choices))
    folded = fold(right, [choice.explanation for choice in choices])
    code = nbformat.v4.new_code_cell(
        QUIZ_CELL.format(right=right, letters=listed(LETTERS[: len(choices)]), folded=folded)
    )
    name = f"{cell.metadata.id}-choice"
    code.metadata.update({LINE: cell.metadata[LINE], "id": name, "tags": ["picture", QUIZ]})
    cell.source = QUIZ_TEXT.format(question=question, choices="\n".join(lines))
    cell.metadata.role = "readonly"
    return [cell, code]


def _listed(points: Mapping[str, float]) -> str:
    rows = "".join(f"    {json.dumps(name, ensure_ascii=False)}: {worth:g},\n" for name, worth in points.items())
    return f"{{\n{rows}}}"
