"""The cell magic `%%ranks N`: run one notebook cell on N ranks, for a first look."""

from __future__ import annotations

import argparse
import ast
import shlex
from typing import TYPE_CHECKING, Any, NoReturn

import cloudpickle

from coursekit.errors import CourseKitError
from coursekit.ranks.launch import run

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

USAGE = "%%ranks [NUM_RANKS] [--timeout SECONDS] [--seed SEED]"


def register(shell: InteractiveShell) -> None:
    """Make `%%ranks` known to this notebook."""

    def ranks(line: str, cell: str) -> None:
        """Run this cell on several ranks: `%%ranks 4`. The value of its last line is printed by every rank."""
        options = _parse(line)
        code = compile_cell(cell, shell)
        names = _picklable({name: shell.user_ns[name] for name in _names_in(cell) if name in shell.user_ns})
        run(_execute, code, names, num_ranks=options.num_ranks, timeout_s=options.timeout, seed=options.seed)

    # Traitlets' decorators hide the method's true signature from mypy.
    shell.register_magic_function(ranks, magic_kind="cell", magic_name="ranks")  # type: ignore[arg-type, call-arg]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def _parse(line: str) -> argparse.Namespace:
    parser = _Parser(prog="%%ranks", usage=USAGE, add_help=False)
    parser.add_argument("num_ranks", nargs="?", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=60.0)
    parser.add_argument("--seed", type=int)
    try:
        return parser.parse_args(shlex.split(line))
    except ValueError:
        message = f"%%ranks cannot read {line!r}; write {USAGE}, for example %%ranks 4 --timeout 20"
        raise CourseKitError(message) from None


def compile_cell(cell: str, shell: InteractiveShell) -> tuple[str, str]:
    """Return the cell's source and the file name under which tracebacks find it; refuse broken code here."""
    filename = shell.compile.cache(cell, shell.execution_count)
    compile(cell, filename, "exec")
    return cell, filename


def _names_in(cell: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(cell)) if isinstance(node, ast.Name)}


def _picklable(names: dict[str, Any]) -> dict[str, Any]:
    """Keep what can travel; the rest is missed by name only if the cell really reads it before setting it."""
    kept = {}
    for name, value in names.items():
        try:
            cloudpickle.dumps(value)
        except Exception:  # noqa: BLE001, S112  # objects refuse pickling in their own ways
            continue
        kept[name] = value
    return kept


def _execute(code: tuple[str, str], names: dict[str, Any]) -> None:
    """Run the cell on this rank, and print the value of its last line as a notebook would."""
    source, filename = code
    tree = ast.parse(source, filename)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    namespace = {"__name__": "__main__", **names}
    exec(compile(tree, filename, "exec"), namespace)  # noqa: S102  # running the student's cell is the purpose
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), filename, "eval"), namespace)  # noqa: S307  # as above
        if value is not None:
            print(repr(value))
