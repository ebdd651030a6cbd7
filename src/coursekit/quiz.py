"""Quizzes in the labs: students choose one answer, as often as they like, and get no points.

The cell of a quiz also holds the right answer and an explanation of each choice. They are encoded in base64, like the
pieces of `coursekit.solution_snippet`, so that nobody reads them by accident. Students' choices are not recorded.
"""

from __future__ import annotations

import base64
import textwrap
from collections.abc import Iterable, Sequence

LETTERS = "ABCD"
NUM_COLUMNS = 88  # of a line: JupyterLab breaks longer lines inside words


def listed(letters: Iterable[str]) -> str:
    """Return letters as a list that fits into a sentence, such as "A, B or C"."""
    *others, last = letters
    return f"{', '.join(others)} or {last}"


def fold(right: str, explanations: Sequence[str]) -> str:
    """Return the text that `explain` decodes: a line of explanation for each choice, then the right choice's letter."""
    return base64.b64encode("\n".join([*explanations, right]).encode()).decode()


def explain(choice: object, folded: str) -> None:
    """Print whether a choice is right, and an explanation; if there is no such choice, print a message instead.

    Args:
        choice: a letter, as the student wrote it.
        folded: the text that `fold` returned.
    """
    print(textwrap.fill(_message(choice, folded), NUM_COLUMNS))


def _message(choice: object, folded: str) -> str:
    try:
        *lines, right = base64.b64decode(folded).decode().splitlines()
        explanations = dict(zip(LETTERS, lines))
        wanted = listed(explanations)
    except ValueError:  # not base64, not text, or too few lines
        return "This quiz is incomplete: copy its cell from the lab's notebook again. [quiz.damaged]"
    letter = str(choice or "").strip().upper()
    if not letter:
        return f"Nothing is chosen yet: write {wanted} between the quotes, and run this cell again. [quiz.no-choice]"
    if letter not in explanations:
        wrong = f"Expected {wanted} between the quotes, got {choice!r}"
        return f"{wrong}: write one letter, and run this cell again. [quiz.no-such-choice]"
    return f"{f'✓ {letter} is right.' if letter == right else f'✗ {letter} is wrong.'} {explanations[letter]}"
