"""Cells in the shell: a cell runs to its end, its exception or its interrupt, and what it defines stays in any case.

Students experiment where they define their functions, and what they define counts.
"""

from __future__ import annotations

import ast
import signal
import traceback
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from IPython.core.interactiveshell import InteractiveShell

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


def run_cell(shell: InteractiveShell, name: str, source: str, *, definitions_only: bool) -> BaseException | None:
    """Run one cell, or only what it defines; return its exception, or None.

    What stands below the statement that raised, or was interrupted, is defined all the same.
    """
    # IPython names a cell's code after its content; a judge quotes it by the cell's name.
    shell.compile.get_code_name = lambda *_: name  # type: ignore[method-assign]  # the way that is there
    with _interruptible():
        if definitions_only:
            _define(shell, name, source, after_line=0)
            return None
        result = shell.run_cell(source, store_history=False)  # type: ignore[no-untyped-call]  # IPython's
        error: BaseException | None = result.error_before_exec or result.error_in_exec
        if error:
            lines = (line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == name)
            _define(shell, name, source, after_line=next(lines, 0))
    return error


@contextmanager
def _interruptible() -> Iterator[None]:
    """Hear interrupts within the block only: one that comes too late must not end the shell."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _define(shell: InteractiveShell, name: str, source: str, after_line: int) -> None:
    """Run the definitions of a cell below a line, each on its own; none of a cell that is not Python."""
    try:
        statements = ast.parse(shell.transform_cell(source)).body  # type: ignore[no-untyped-call]  # IPython's
    except SyntaxError:
        return
    for node in statements:
        if node.lineno > after_line and _is_definition(node):
            with suppress(Exception):  # of a decorator, or where a name is missing
                exec(compile(ast.Module([node], []), name, "exec"), shell.user_ns)  # noqa: S102  # the shell's purpose


def _is_definition(node: ast.stmt) -> bool:
    """Whether a statement defines something without working for it: a function, or a name for a plain value."""
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
        return isinstance(node.value, ast.Lambda) or not any(isinstance(part, ast.Call) for part in ast.walk(node))
    return isinstance(node, DEFINITIONS)
