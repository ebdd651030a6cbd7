"""The words of ipyparallel and ipcmagic, for notebooks of other courses: `%ipcluster`, `%%px`, `%px`, `%pxresult`.

After `%load_ext coursekit.ranks.px` such a notebook runs as it is, on persistent ranks.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import types
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from coursekit.errors import CourseKitError
from coursekit.ranks import magic, persistent
from coursekit.ranks.forked_rank import Shown

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

PX_USAGE = "%%px [--target 0,2] [--local]"
IPCLUSTER_USAGE = "%ipcluster start -n NUM_RANKS, or %ipcluster stop"
REPLACED = ("ipcmagic", "ipyparallel")  # what such notebooks import, and need no more
NO_WAIT = "%%px --noblock is not there: a cell ends when all its ranks have answered; leave --noblock out"


class Px:
    """What the magics share: the last results, and the notebook they are in."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._last: tuple[Sequence[int], list[Shown]] = ((), [])

    def cluster(self, line: str) -> None:
        """Start persistent ranks, `%ipcluster start -n 4`, unless they are there, or end them, `%ipcluster stop`."""
        parser = magic.Parser(prog="%ipcluster", usage=IPCLUSTER_USAGE, add_help=False)
        parser.add_argument("command", nargs="?", choices=["start", "stop"])
        parser.add_argument("-h", "--help", "-v", "--version", action="store_true")
        parser.add_argument("-n", "--num_engines", "--n", dest="num_ranks", type=int, default=2)
        # How engines would be started: ours are processes of this machine, or of the Slurm job around this notebook.
        parser.add_argument("--mpi", action="store_true")
        parser.add_argument("-m", "--launcher", "--engines", "--profile", "--type")
        options = parser.read(line)
        if options.command is None:
            print(f"coursekit has ranks for engines; write {IPCLUSTER_USAGE}")
        elif options.command == "stop":
            persistent.stop()
        else:
            there = persistent.started()
            if there is None or not there.are_there or there.num_ranks != options.num_ranks:
                there = persistent.start(options.num_ranks)
            print(f"{there.num_ranks} ranks are ready: %%px runs cells on them")

    def cell(self, line: str, cell: str) -> None:
        """Run this cell on all persistent ranks, or on some: `%%px --target 0`; with `--local` here, too."""
        options = self._parse(line)
        if options.local:
            self._shell.run_cell(cell).raise_error()  # type: ignore[no-untyped-call]
        self._run(magic.compile_cell(cell, self._shell), options)

    def line(self, line: str) -> None:
        """Run one line on all persistent ranks: `%px mine = rank`."""
        self._run(magic.compile_cell(line, self._shell), self._parse(""))

    def result(self, line: str) -> None:
        """Show once more what the last cell left."""
        del line
        magic.show(*self._last)

    def _parse(self, line: str) -> argparse.Namespace:
        parser = magic.Parser(prog="%%px", usage=PX_USAGE, add_help=False)
        parser.add_argument("-t", "--target", "--targets", type=_targets)
        parser.add_argument("--local", action="store_true")
        parser.add_argument("--block", action="store_true")
        parser.add_argument("--noblock", "-a", action="store_true")
        parser.add_argument("-g", "--group-outputs")  # output comes at once, each line with its rank
        options = parser.read(line)
        if options.noblock:
            raise CourseKitError(NO_WAIT)
        return options

    def _run(self, code: tuple[str, str], options: argparse.Namespace) -> None:
        there = persistent.required()
        ranks = range(there.num_ranks)[options.target] if isinstance(options.target, slice) else options.target
        self._last = magic.run_on_persistent(code, ranks)


def _targets(text: str) -> slice | list[int] | None:
    """Read "all", "0", "0,2", "0:2" or "::2", as ipyparallel does."""
    if text == "all":
        return None
    if ":" in text:
        return slice(*(int(part) if part else None for part in text.split(":")))
    return [int(part) for part in text.split(",")]


class _Replaced(types.ModuleType):
    """A module that such notebooks import and need no more; its use raises an error that says what to write."""

    def load_ipython_extension(self, shell: InteractiveShell) -> None:
        """Do nothing: the magics are there."""

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise CourseKitError(
            f"{self.__name__}.{name} is not there: %ipcluster start -n 2 starts ranks, %%px runs cells on them, and "
            "`ranks.push` and `ranks.pull` of coursekit move variables (docs/ranks.md has a table)"
        )


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Provide the magics, and what `import ipcmagic` and `import ipyparallel` find where these are not installed."""
    px = Px(shell)
    line_magics: dict[str, Any] = {"ipcluster": px.cluster, "px": px.line, "pxresult": px.result}
    for name, function in line_magics.items():
        shell.register_magic_function(function, magic_kind="line", magic_name=name)  # type: ignore[call-arg]
    shell.register_magic_function(px.cell, magic_kind="cell", magic_name="px")  # type: ignore[arg-type, call-arg]
    for name in REPLACED:
        if name not in sys.modules and importlib.util.find_spec(name) is None:
            sys.modules[name] = _Replaced(name)
