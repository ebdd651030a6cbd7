"""The magics `%%ranks`, for one cell on several ranks, and `%ranks`, for ranks that stay from one cell to the next."""

from __future__ import annotations

import argparse
import ast
import shlex
from typing import TYPE_CHECKING, Any, NoReturn

from coursekit.errors import CourseKitError
from coursekit.ranks import staying_here
from coursekit.ranks.launch import run
from coursekit.ranks.pickling import can_travel
from coursekit.ranks.staying_rank import execute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from IPython.core.interactiveshell import InteractiveShell

    from coursekit.ranks.staying_rank import Shown

CELL_USAGE = "%%ranks [NUM_RANKS] [--rank 0,2] [--output live|grouped] [--timeout SECONDS] [--seed SEED]"
LINE_USAGE = "%ranks [start [-n NUM_RANKS] | restart | stop]"


def register(shell: InteractiveShell) -> None:
    """Make `%%ranks` and `%ranks` known to this notebook."""

    def on_ranks(line: str, cell: str) -> None:
        """Run this cell on several ranks: on fresh ones, `%%ranks 4`, or on those that stay, `%%ranks`."""
        _run_cell(_parse_cell(line), cell, shell)

    def ranks(line: str) -> None:
        """Start ranks that stay, `%ranks start -n 4`, show them, `%ranks`, and end them, `%ranks stop`."""
        _do(_parse_line(line))

    # Traitlets' decorators hide the method's true signature from mypy.
    shell.register_magic_function(on_ranks, magic_kind="cell", magic_name="ranks")  # type: ignore[arg-type, call-arg]
    shell.register_magic_function(ranks, magic_kind="line", magic_name="ranks")  # type: ignore[arg-type, call-arg]


class Parser(argparse.ArgumentParser):
    """A parser of a magic's line that says in one sentence what it cannot read."""

    def read(self, line: str) -> argparse.Namespace:
        """Return the options in a line.

        Raises:
            CourseKitError: it cannot be read.
        """
        try:
            return self.parse_args(shlex.split(line))
        except ValueError:  # a quotation mark may be missing, too
            raise CourseKitError(f"{self.prog} cannot read {line!r}; write {self.usage}") from None

    def error(self, message: str) -> NoReturn:
        """Leave it to `read` to say what to write."""
        raise ValueError(message)


def _parse_cell(line: str) -> argparse.Namespace:
    parser = Parser(prog="%%ranks", usage=CELL_USAGE, add_help=False)
    parser.add_argument("num_ranks", nargs="?", type=int)
    parser.add_argument("--rank", type=lambda text: [int(one) for one in text.split(",")])
    parser.add_argument("--output", choices=["live", "grouped"], default="live")
    parser.add_argument("--timeout", type=float)
    parser.add_argument("--seed", type=int)
    return parser.read(line)


def _parse_line(line: str) -> argparse.Namespace:
    parser = Parser(prog="%ranks", usage=LINE_USAGE, add_help=False)
    parser.add_argument("command", nargs="?", choices=["start", "restart", "stop"])
    parser.add_argument("-n", dest="num_ranks", type=int, default=2)
    return parser.read(line)


def _do(options: argparse.Namespace) -> None:
    if options.command == "start":
        staying_here.start(options.num_ranks)
    elif options.command == "restart":
        staying_here.required().restart()
    elif options.command == "stop":
        staying_here.stop()
    else:
        print("rank  node              process  memory")
        for state in staying_here.required().states():
            print(f"{state.rank:4}  {state.node:16}  {state.pid:7}  {state.memory_mib:4} MiB")


def _run_cell(options: argparse.Namespace, cell: str, shell: InteractiveShell) -> None:
    code = compile_cell(cell, shell)
    if options.num_ranks is None and staying_here.started() is not None:
        settings = {} if options.timeout is None else {"timeout_s": options.timeout}
        run_on_staying(code, options.rank, grouped=options.output == "grouped", **settings)
        return
    if options.rank is not None:
        raise CourseKitError(f"--rank chooses among ranks that stay: {staying_here.NO_RANKS}")
    names = _picklable({name: shell.user_ns[name] for name in _names_in(code[0]) if name in shell.user_ns})
    num_ranks, timeout_s = options.num_ranks or 2, options.timeout or 60.0
    shown = run(_execute, code, names, num_ranks=num_ranks, timeout_s=timeout_s, seed=options.seed)
    show(range(num_ranks), shown)


def run_on_staying(
    code: tuple[str, str], ranks: Sequence[int] | None, *, grouped: bool, **settings: Any
) -> tuple[Sequence[int], list[Shown]]:
    """Run a cell on the ranks that stay, or on some of them, show what it leaves, and return the ranks and that."""
    there = staying_here.required()
    if ranks is None:
        ranks = range(there.num_ranks)
    shown = there.cell(execute, *code, ranks=ranks, grouped=grouped, **settings)
    show(ranks, shown)
    return ranks, shown


def show(ranks: Sequence[int], shown: Sequence[Shown]) -> None:
    """Show the last value and the figures of each rank."""
    for rank, one in zip(ranks, shown):
        if one["value"]:
            print("\n".join(f"[{rank}] {line}" for line in one["value"].splitlines()))
    for rank, one in zip(ranks, shown):
        for figure in one["figures"]:
            from IPython.display import Image, display  # noqa: PLC0415  # there are figures in notebooks only

            print(f"[{rank}]")
            display(Image(figure))  # type: ignore[no-untyped-call]


def compile_cell(cell: str, shell: InteractiveShell) -> tuple[str, str]:
    """Return the cell's source and the file name under which tracebacks find it; refuse broken code here.

    What is not Python, `!command` and `%magic`, is written as calls of IPython.
    """
    source: str = shell.transform_cell(cell)  # type: ignore[no-untyped-call]
    filename = shell.compile.cache(source, shell.execution_count, raw_code=cell)
    compile(source, filename, "exec")
    return source, filename


def _names_in(cell: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(cell)) if isinstance(node, ast.Name)}


def _picklable(names: dict[str, Any]) -> dict[str, Any]:
    """Keep what can travel; the rest is missed by name only if the cell really reads it before setting it."""
    return {name: value for name, value in names.items() if can_travel(value)}


def _execute(code: tuple[str, str], names: dict[str, Any]) -> Shown:
    return execute({"__name__": "__main__", **names}, *code)
