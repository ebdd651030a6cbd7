"""The magics `%%ranks`, which runs a cell on several ranks, and `%ranks`, which controls persistent ranks."""

from __future__ import annotations

import argparse
import ast
import math
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from coursekit.errors import CourseKitError
from coursekit.ranks import persistent
from coursekit.ranks.forked_rank import Shown, execute
from coursekit.ranks.launch import run
from coursekit.ranks.pickling import can_travel

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

CELL_USAGE = "%%ranks [NUM_RANKS] [--rank 0,2] [--timeout-s SECONDS] [--seed SEED]"
LINE_USAGE = "%ranks start [-n NUM_RANKS], %ranks restart, or %ranks stop"


def register(shell: InteractiveShell) -> None:
    """Register `%%ranks` and `%ranks` in this notebook."""

    def on_ranks(line: str, cell: str) -> None:
        """Run this cell on several ranks: `%%ranks 4` starts new ranks; `%%ranks` uses persistent ranks, if any."""
        _run_cell(line, cell, shell)

    def ranks(line: str) -> None:
        """Start persistent ranks with `%ranks start -n 4`, restart them, or stop them with `%ranks stop`."""
        parser = _Parser(prog="%ranks", usage=LINE_USAGE, add_help=False)
        parser.add_argument("command", choices=["start", "restart", "stop"])
        parser.add_argument("-n", dest="num_ranks", type=int, default=2)
        options = parser.read(line)
        if options.command == "start":
            persistent.start(options.num_ranks)
        elif options.command == "restart":
            persistent.required().restart()
        else:
            persistent.stop()

    # The decorators of traitlets hide the method's true signature from mypy.
    shell.register_magic_function(on_ranks, magic_kind="cell", magic_name="ranks")  # type: ignore[arg-type, call-arg]
    shell.register_magic_function(ranks, magic_kind="line", magic_name="ranks")  # type: ignore[arg-type, call-arg]


class _Parser(argparse.ArgumentParser):
    """A parser for the line of a magic; its errors are one-sentence messages."""

    def read(self, line: str) -> argparse.Namespace:
        """Return the options in a line; raise a `CourseKitError` if it cannot be parsed."""
        try:
            return self.parse_args(shlex.split(line))
        except ValueError:  # from `error`, or from shlex if a quotation mark is missing
            raise CourseKitError(
                f"{self.prog} cannot read {line!r}; write {self.usage}", "ranks-magic.unreadable"
            ) from None

    def error(self, message: str) -> NoReturn:
        """Raise a ValueError, which `read` turns into a message."""
        raise ValueError(message)


def _run_cell(line: str, cell: str, shell: InteractiveShell) -> None:
    parser = _Parser(prog="%%ranks", usage=CELL_USAGE, add_help=False)
    parser.add_argument("num_ranks", nargs="?", type=int)
    parser.add_argument("--rank", type=lambda text: [int(one) for one in text.split(",")])
    parser.add_argument("--timeout-s", type=float)
    parser.add_argument("--seed", type=int)
    options = parser.read(line)
    code = _compile_cell(cell, shell)
    if options.num_ranks is None and persistent.started() is not None:
        there = persistent.required()
        ranks = range(there.num_ranks) if options.rank is None else options.rank
        timeout_s = math.inf if options.timeout_s is None else options.timeout_s
        _show(ranks, there.cell(execute, *code, ranks=ranks, timeout_s=timeout_s))
        return
    if options.rank is not None:
        raise CourseKitError(f"--rank chooses among persistent ranks: {persistent.NO_RANKS}")
    used = {node.id for node in ast.walk(ast.parse(code[0])) if isinstance(node, ast.Name)} & shell.user_ns.keys()
    # A variable that cannot be pickled is left out: the cell raises a NameError only if it reads it before setting it.
    names = {name: shell.user_ns[name] for name in used if can_travel(shell.user_ns[name])}
    num_ranks, timeout_s = options.num_ranks or 2, options.timeout_s or 60.0
    shown = run(_execute, code, names, num_ranks=num_ranks, timeout_s=timeout_s, seed=options.seed)
    _show(range(num_ranks), shown)


def _show(ranks: Sequence[int], shown: Sequence[Shown]) -> None:
    """Show the last value and the figures of each rank."""
    for rank, one in zip(ranks, shown):
        if one["value"]:
            print("\n".join(f"[{rank}] {line}" for line in one["value"].splitlines()))
    for rank, one in zip(ranks, shown):
        for figure in one["figures"]:
            from IPython.display import Image, display  # only notebooks show figures

            print(f"[{rank}]")
            display(Image(figure))  # type: ignore[no-untyped-call]


def _compile_cell(cell: str, shell: InteractiveShell) -> tuple[str, str]:
    """Return a cell's source, and the file name under which tracebacks find it; raise a SyntaxError if it is wrong.

    Lines that are not Python (`!command` and `%magic`) become calls to IPython.
    """
    source: str = shell.transform_cell(cell)  # type: ignore[no-untyped-call]
    filename = shell.compile.cache(source, shell.execution_count, raw_code=cell)
    compile(source, filename, "exec")
    return source, filename


def _execute(code: tuple[str, str], names: dict[str, Any]) -> Shown:
    return execute({"__name__": "__main__", **names}, *code)
