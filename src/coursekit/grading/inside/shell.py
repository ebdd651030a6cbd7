"""The process that stands for a student's kernel: it runs cells, and calls what they define.

Nothing that it says is believed; the judge asks it for plain data, and gives it no data of its own.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from typing import TYPE_CHECKING, Any

from coursekit.grading.inside import wire
from coursekit.grading.inside.cells import run_cell
from coursekit.ranks import pickling

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

    from IPython.core.interactiveshell import InteractiveShell


def serve(channel: Connection) -> None:
    """Answer requests until the channel is closed: `hello`, `cell`, `call` and `pack`."""
    from coursekit.ranks.forked import ForkedServer  # noqa: PLC0415  # imported by the zygote
    from coursekit.ranks.forkserver import adopt_shared_server  # noqa: PLC0415  # the same

    # For cells that start ranks of their own; while this process is still clean.
    adopt_shared_server(ForkedServer())
    shell = _new_shell()
    answers: dict[str, Callable[..., Any]] = {"hello": lambda _: None, "cell": _run_cell, "call": _call, "pack": _pack}
    with contextlib.suppress(EOFError, OSError):
        while True:
            request = wire.loads(channel.recv_bytes())
            op, number = request.pop("op"), request.pop("number")
            channel.send_bytes(_reply(number, functools.partial(answers[op], shell, **request)))


def _reply(number: int, answer: Callable[[], Any]) -> bytes:
    """Return the reply to a request; whatever an answer raises becomes a part of it."""
    try:
        data = wire.checked(wire.dumps({"number": number, "value": answer()}), wire.MAX_REPLY_BYTES)
        wire.loads(data)  # as the other side will: functions are refused, and it would wait for another reply
    except BaseException as error:  # noqa: BLE001  # SystemExit and KeyboardInterrupt of an answer, too
        data = wire.dumps({"number": number, "error": [type(error).__name__, _text(error)]})
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    return data


def _text(error: BaseException) -> str:
    try:
        return str(error)[:20_000]
    except Exception:  # noqa: BLE001  # an exception of an answer's own kind may do anything
        return ""


def _new_shell() -> InteractiveShell:
    """Return what runs cells as a notebook's kernel does, magics included, without history and files."""
    from IPython.core.history import HistoryManager  # noqa: PLC0415  # imported by the zygote
    from IPython.core.interactiveshell import InteractiveShell  # noqa: PLC0415  # the same

    HistoryManager.enabled = False  # type: ignore[assignment]  # a trait
    shell: InteractiveShell = InteractiveShell.instance(colors="NoColor")
    # Pickling by value takes what is of `__main__`, as in a kernel.
    shell.user_module.__name__ = "__main__"
    sys.modules["__main__"] = shell.user_module
    return shell


def _run_cell(shell: InteractiveShell, **parts: Any) -> list[str] | None:
    """Run one cell; return the name and the text of its exception, or None."""
    error = run_cell(shell, **parts)
    return None if error is None else [type(error).__name__, _text(error)]


class _Answers(dict[str, Any]):
    """The student's functions by name; a name that is not there is the student's mistake."""

    def __missing__(self, name: str) -> Any:
        raise NameError(f"name {name!r} is not defined")


def _call(shell: InteractiveShell, call: bytes) -> Any:
    driver, args = wire.loads(call, _Answers(shell.user_ns))
    return driver(*args)


def _pack(shell: InteractiveShell, names: list[str]) -> bytes:
    """Return answers as bytes that ranks unpack, and nobody else."""
    found = _Answers(shell.user_ns)
    return pickling.dumps({name: found[name] for name in names})
