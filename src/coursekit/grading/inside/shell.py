"""The process that takes the place of a student's kernel: it runs cells and calls the functions that they define.

The judge does not trust any of this process's replies: it accepts only plain data, and keeps its own data to itself.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import signal
import sys
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from coursekit.drivers.calls import UNUSABLE, WrongReturnError
from coursekit.grading.inside import DEFINITIONS, wire
from coursekit.ranks.fork_client import ForkedServer, shared
from coursekit.ranks.pickling import dumps
from coursekit.ranks.rank_process import flush_output
from coursekit.tracebacks import fault_in_syntax, place_below, text_of

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


MAX_TEXT = 20_000  # characters of an exception's text
_not_compiled: dict[str, str] = {}  # the code of cells that do not compile, by the cells' names in messages


def serve(channel: Connection) -> None:
    """Answer the judge's requests, which are `hello`, `cell`, `call` and `pack`, until the channel is closed."""
    from IPython.core.history import HistoryManager  # imported by the zygote
    from IPython.core.interactiveshell import InteractiveShell

    shared.give_back(ForkedServer())  # for cells that start ranks; created now, before any cell runs
    # The shell runs cells as a notebook's kernel does, including magics, but keeps no history and no files.
    HistoryManager.enabled = False  # type: ignore[assignment]  # a trait
    shell: InteractiveShell = InteractiveShell.instance(colors="NoColor")
    # Objects that belong to `__main__` are pickled by value, as in a kernel.
    shell.user_module.__name__ = "__main__"
    sys.modules["__main__"] = shell.user_module
    answers: dict[str, Callable[..., Any]] = {"hello": lambda _: None, "cell": _run_cell, "call": _call, "pack": _pack}
    with contextlib.suppress(EOFError, OSError):
        while True:
            request = wire.loads(channel.recv_bytes())
            op, number = request.pop("op"), request.pop("number")
            channel.send_bytes(_reply(number, functools.partial(answers[op], shell, **request)))


def _reply(number: int, answer: Callable[[], Any]) -> bytes:
    """Return the reply to a request; if `answer` raises an exception, the reply holds the exception's name and text."""
    try:
        data = wire.checked(wire.dumps({"number": number, "value": answer()}), wire.MAX_REPLY_BYTES)
        wire.loads(data)  # as the other side does, which drops a reply that it cannot read and waits for another
    except BaseException as error:  # noqa: BLE001  # also SystemExit and KeyboardInterrupt
        data = wire.dumps({"number": number, "error": [type(error).__name__, text_of(error)[:MAX_TEXT]]})
    flush_output()
    return data


def _run_cell(shell: InteractiveShell, name: str, source: str, *, definitions_only: bool) -> list[str] | None:
    """Run one cell, or only its definitions; return the name and the text of its exception, or None.

    Students experiment in the cells that define their functions, but only the definitions count. Therefore, if a
    statement fails or is interrupted, the definitions below that statement are still run.
    """
    # IPython would name a cell's code after its content, but the judge quotes the code by the cell's name.
    shell.compile.get_code_name = lambda *_: name  # type: ignore[method-assign]  # IPython offers no other way
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        if definitions_only:
            _define(shell, name, source, after_line=0)
            return None
        result = shell.run_cell(source, store_history=False)  # type: ignore[no-untyped-call]  # IPython's
        error: BaseException | None = result.error_before_exec or result.error_in_exec
        if error is None:
            return None
        if isinstance(result.error_before_exec, SyntaxError):
            _not_compiled[f"the cell {name}"] = shell.transform_cell(source)  # type: ignore[no-untyped-call]  # IPython's
        lines = (line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == name)
        _define(shell, name, source, after_line=next(lines, 0))
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a late interrupt must not end the shell
    return [type(error).__name__, text_of(error)[:MAX_TEXT]]


def _define(shell: InteractiveShell, name: str, source: str, after_line: int) -> None:
    """Run the definitions below a line of a cell, one after another; do nothing if the cell is not valid Python."""
    try:
        statements = ast.parse(shell.transform_cell(source)).body  # type: ignore[no-untyped-call]  # IPython's
    except SyntaxError:
        return
    for node in statements:
        if node.lineno > after_line and _is_definition(node):
            with contextlib.suppress(Exception):  # raised by a decorator, or because a name is missing
                exec(compile(ast.Module([node], []), name, "exec"), shell.user_ns)  # noqa: S102  # the shell's purpose


def _is_definition(node: ast.stmt) -> bool:
    """Return whether a statement only defines a function or class, imports names, or binds a value without a call."""
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
        return isinstance(node.value, ast.Lambda) or not any(isinstance(part, ast.Call) for part in ast.walk(node))
    return isinstance(node, DEFINITIONS)


class _Answers(dict[str, Any]):
    """The student's functions, by name; looking up a missing name raises an error that blames the student's code."""

    def __missing__(self, name: str) -> Any:
        fault = fault_in_syntax(name, _not_compiled)
        raise SyntaxError(f"{name} is not defined: {fault}") if fault else NameError(f"name {name!r} is not defined")


def _call(shell: InteractiveShell, call: bytes) -> Any:
    driver, args = wire.loads(call, _Answers(shell.user_ns))
    try:
        return driver(*args)
    except Exception as error:
        if isinstance(error, WrongReturnError) or place_below(error, 0):
            raise
        # No line of the student's code is in the traceback. The judge could not find that out, because the traceback
        # stays in this process.
        message = f"{UNUSABLE}: {type(error).__name__}: {text_of(error)[:MAX_TEXT]}"
        raise WrongReturnError(message, "answer.unusable") from None


def _pack(shell: InteractiveShell, names: list[str]) -> bytes:
    """Return the answers with these names as bytes; only ranks unpack them, never the judge."""
    found = _Answers(shell.user_ns)
    return dumps({name: found[name] for name in names})
