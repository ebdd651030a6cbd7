"""Python code as `ruff format` would write it, for the few lines that the builder writes itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LINE_LENGTH = 120


def quoted(text: str) -> str:
    """Return a literal of one line of text: in double quotes, or in those that need fewer escapes."""
    quote = "'" if text.count('"') > text.count("'") else '"'
    escaped = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    return f"{quote}{escaped}{quote}"


def docstring_text(text: str) -> str:
    """Return text so that it can stand in a docstring with double quotes."""
    return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')


def call_lines(function: str, arguments: Sequence[str], indent: int) -> list[str]:
    """Return the lines of a call: one if it fits, else the arguments on a line of their own, else one line each."""
    margin = " " * indent
    together = ", ".join(arguments)
    if len(line := f"{margin}{function}({together})") <= LINE_LENGTH:
        return [line]
    inner = margin + " " * 4
    if len(line := f"{inner}{together}") <= LINE_LENGTH:
        return [f"{margin}{function}(", line, f"{margin})"]
    return [f"{margin}{function}(", *(f"{inner}{argument}," for argument in arguments), f"{margin})"]
