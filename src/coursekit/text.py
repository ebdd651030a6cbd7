"""Prepare text for readers: make students' text safe for terminals and files, and format lists and Markdown tables."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence

# Terminals obey control characters, and other characters reverse the direction of the text that follows.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
NUM_FEW = 5
# With the file browser open on a screen of 1280 pixels, JupyterLab breaks longer lines of output within words.
NUM_COLUMNS = 100
HELD = "\0"  # stands for a space at which a line must not be broken


def printable(text: str) -> str:
    """Return the text with every character that controls a terminal or the direction of text replaced by a mark."""
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def wrapped(text: str) -> str:
    """Return a text with long lines broken between words but not within `code`; continuation lines are indented."""
    return "\n".join(_broken(line) for line in text.splitlines())


def _broken(line: str) -> str:
    margin = " " * (len(line) - len(line.lstrip()) + 4)
    whole = re.sub("`[^`]*`", lambda code: code[0].replace(" ", HELD), line)
    style = textwrap.TextWrapper(NUM_COLUMNS, subsequent_indent=margin, break_long_words=False, break_on_hyphens=False)
    return style.fill(whole).replace(HELD, " ")


def counted(number: float, noun: str) -> str:
    """Return a number and its noun, such as "1 node", "2 nodes", "0.5 nodes", "2 epochs" or "2 batches"."""
    ending = "es" if noun.endswith("tch") else "s"
    return f"{number} {noun}{ending * (number != 1)}"


def two_digits(number: float) -> str:
    """Return a number of at least 10 as text with two significant digits: "5500" for 5515."""
    return f"{float(f'{number:.2g}'):.0f}"


def format_minutes(time_min: int) -> str:
    """Return a number of minutes as text, such as "10 min", "20 h" or "1 h 30 min"."""
    hours, minutes = divmod(time_min, 60)
    parts = [f"{hours} h"] if hours else []
    return " ".join([*parts, f"{minutes} min"] if minutes or not hours else parts)


def first_few(words: Sequence[str]) -> str:
    """Return words separated by commas; if there are more than five, return the first five and a count of the rest."""
    more = f" and {len(words) - NUM_FEW} more" if len(words) > NUM_FEW else ""
    return ", ".join(words[:NUM_FEW]) + more


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], align: str = "") -> str:
    """Return a Markdown table; each row has one cell per heading, and cells may contain line breaks and vertical bars.

    `align` has an "l" or "r" for each column; columns beyond its end are left-aligned.
    """
    rule = [{"l": "---", "r": "---:"}[side] for side in align.ljust(len(head), "l")]
    lines = [[re.sub(r"(?<!\\)\|", r"\|", " ".join(cell.split())) for cell in row] for row in (head, *rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in (lines[0], rule, *lines[1:]))
