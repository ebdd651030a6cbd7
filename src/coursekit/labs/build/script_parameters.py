"""The parameters cell of a notebook as a script has it: assignments that the command line can replace."""

from __future__ import annotations

import ast
import io
import tokenize
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from coursekit.labs.lab import Scalar

LINE_LENGTH = 120


@dataclass(frozen=True)
class Option:
    """A parameter that the command line can set; `about` is the comment behind it."""

    name: str
    kind: type[Scalar]
    about: str


@dataclass(frozen=True)
class Parameters:
    """The parameters cell as it goes into the twin."""

    text: str
    options: tuple[Option, ...]


def parse_parameters(code: str, used: Collection[str]) -> Parameters:
    """Return the parameters that the script uses: others, such as the number of ranks, are the launcher's."""
    lines = code.splitlines()
    comments = _comments(code)
    dropped: set[int] = set()
    options: list[Option] = []
    for statement in ast.parse(code).body:
        name = _assigned_name(statement)
        if name and name not in used:
            dropped |= set(range(statement.lineno - 1, statement.end_lineno or statement.lineno))
        elif name and isinstance(value := _literal(statement), (bool, int, float, str)):
            options.append(Option(name, type(value), comments.get(statement.end_lineno or 0, "")))
    text = "\n".join(line for number, line in enumerate(lines) if number not in dropped)
    return Parameters(text.strip("\n"), tuple(options))


def option_lines(option: Option, indent: int) -> list[str]:
    """Return the lines that add an option to the argparse parser `_parser`."""
    words = [_quoted("--" + option.name.replace("_", "-"))]
    words.append("action=argparse.BooleanOptionalAction" if option.kind is bool else f"type={option.kind.__name__}")
    words.append(f"default={option.name}")
    about = option.about.replace("%", "%%")
    # BooleanOptionalAction says its default by itself (up to Python 3.12).
    shown = about if option.kind is bool else f"{about} (default: %(default)r)".strip()
    words.append(f"help={_quoted(shown)}")
    return _call_lines("_parser.add_argument", words, indent)


def _comments(code: str) -> dict[int, str]:
    """Return the text of comments by their line, counted from 1."""
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    return {token.start[0]: token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT}


def _assigned_name(statement: ast.stmt) -> str:
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    target = targets[0] if len(targets) == 1 else None
    return target.id if isinstance(target, ast.Name) and isinstance(statement, (ast.Assign, ast.AnnAssign)) else ""


def _literal(statement: ast.stmt) -> object:
    value = getattr(statement, "value", None)
    try:
        return ast.literal_eval(value) if value is not None else None
    except ValueError:
        return None


def _quoted(text: str) -> str:
    """Return a literal of one line of text: in double quotes, or in those that need fewer escapes."""
    quote = "'" if text.count('"') > text.count("'") else '"'
    escaped = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    return f"{quote}{escaped}{quote}"


def _call_lines(function: str, arguments: Sequence[str], indent: int) -> list[str]:
    """Return a call as `ruff format` writes it: in one line, with all arguments on the next, or with one in each."""
    margin = " " * indent
    together = ", ".join(arguments)
    if len(line := f"{margin}{function}({together})") <= LINE_LENGTH:
        return [line]
    inner = margin + " " * 4
    if len(line := f"{inner}{together}") <= LINE_LENGTH:
        return [f"{margin}{function}(", line, f"{margin})"]
    return [f"{margin}{function}(", *(f"{inner}{argument}," for argument in arguments), f"{margin})"]
