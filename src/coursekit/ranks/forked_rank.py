"""Fork a child; turn a child of the fork server into a rank; and run the rank's function or cells."""

from __future__ import annotations

import ast
import contextlib
import faulthandler
import io
import linecache
import os
import pickle
import signal
import sys
import tempfile
import traceback
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, TypedDict

from coursekit.framework import TORCH, chosen
from coursekit.processes import end_with_parent
from coursekit.ranks.context import RankContext, rank_environ, torch_environ
from coursekit.ranks.protocol import INPUT_VARIABLE, LaunchRequest, Report, RunSpec
from coursekit.ranks.rank_process import (
    ALL_STACKS_SIGNAL,
    STACK_SIGNAL,
    call,
    flush_output,
    prepare,
    report_of,
    run_rank,
)

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


MAX_REASON_LENGTH = 1000  # bytes; a pipe delivers them in one piece


def fork(child: Callable[[], None], output: int | None = None) -> int:
    """Run a function in a forked child, which then ends; return the child's process number.

    With `output`, the child's output goes to that file, and its standard input is empty.
    """
    if pid := os.fork():
        return pid
    status = 1
    try:
        if output is not None:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(output, 1)
            os.dup2(output, 2)
        child()
        status = 0
    except BaseException:  # noqa: BLE001  # no error may return to the caller's code
        traceback.print_exc()
    finally:
        flush_output()
        os._exit(status)  # no exit handlers: they belong to the caller


@contextlib.contextmanager
def ending_with_reason(reasons: int) -> Iterator[None]:
    """If an error occurs in the block, write the reason to the file `reasons`, and end this process."""
    try:
        yield
    except BaseException as error:  # noqa: BLE001  # this process must end after any error: it may not be isolated
        os.write(reasons, f"{str(error) or repr(error)}\n".encode()[:MAX_REASON_LENGTH])
        os._exit(1)


def variables_of(
    request: LaunchRequest, rank: int, rendezvous: tuple[str, int], in_mpi: RankContext | None
) -> dict[str, str]:
    """Return the variables that tell a rank its context; if `in_mpi` is given, the rank joins through MPI."""
    variables = rank_environ(
        rank=rank,
        ranks_on_nodes=request.ranks_on_nodes,
        rendezvous=rendezvous,
        interface=request.interface,
        controller="mpi" if in_mpi else "gloo",
    )
    of_torch = torch_environ(variables) if chosen() == TORCH else {}
    return {**variables, **of_torch, **(in_mpi.environ if in_mpi else {})}


def become_rank(
    request: LaunchRequest, rank: int, files: list[int], variables: Mapping[str, str], reasons: int
) -> None:
    """Turn this forked child into a rank with these variables, and run it until it ends.

    If the request asks for isolation, first isolate the child; if this fails, write the reason to the file `reasons`.
    """
    if request.enter is not None:
        with ending_with_reason(reasons):
            request.enter(rank)
            tempfile.tempdir = os.environ["TMPDIR"]  # which `enter` has set
    os.close(reasons)
    os.setsid()  # in a separate session, Ctrl-C in a terminal does not reach the rank; we end ranks ourselves
    end_with_parent()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    output, reports, stacks, *inputs = files
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # shows output at once
    faulthandler.register(STACK_SIGNAL, file=stacks, all_threads=False)  # even from inside a C call
    faulthandler.register(ALL_STACKS_SIGNAL, file=stacks, all_threads=True)
    os.environ.clear()
    os.environ.update({**request.environ, **variables, "TMPDIR": tempfile.gettempdir()})
    if inputs:
        os.environ[INPUT_VARIABLE] = str(inputs[0])
    if request.spec.persists:
        serve_cells(request.spec, rank, Connection(reports))
    else:
        run_rank(request.spec, rank, Connection(reports, readable=False))


class Shown(TypedDict):
    """What a cell shows besides its output: its last value as text ('' if there is none), and open figures as PNGs."""

    value: str
    figures: list[bytes]


def serve_cells(spec: RunSpec, rank: int, channel: Connection) -> None:
    """Run cell after cell in one namespace, and send a `Report` after each, until the channel is closed.

    The first report says that the rank is ready.
    A cell arrives as a function packed by `pickling.dumps`; the rank passes its namespace as the first argument.
    """
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module  # so that objects that cells define can be pickled by value
    channel.send_bytes(report_of(_begin, spec, rank).dumps())
    with contextlib.suppress(EOFError, OSError):  # the notebook has ended, and perhaps the peers: end quietly
        while True:
            report = report_of(_obey, channel.recv_bytes(), module.__dict__)
            flush_output()
            channel.send_bytes(report.dumps())


def _begin(spec: RunSpec, rank: int) -> Report:
    prepare(spec, rank)
    if spec.seed is None and "tensorflow" in sys.modules:
        # As in any program, a seeded operation, such as `shuffle(8, seed=7)` before a shard, must agree on all ranks.
        sys.modules["tensorflow"].random.set_seed(None)
    os.environ["MPLBACKEND"] = "agg"  # the notebook's backend would show figures here, where nobody sees them
    warnings.filterwarnings("ignore", message=".*is non-interactive, and thus cannot be shown")
    return Report(value=pickle.dumps(None))


def _obey(pickled: bytes, namespace: dict[str, Any]) -> Report:
    """Run one cell; an interrupt reaches the rank only while a cell is running."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return call(pickled, namespace)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def execute(namespace: dict[str, Any], source: str, filename: str) -> Shown:
    """Run a cell in a namespace; return its figures and the value of its last expression, as a notebook shows them."""
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace["get_ipython"] = lambda: _ipython(namespace)
    tree = ast.parse(source, filename)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, filename, "exec"), namespace)  # noqa: S102  # running the student's cell is the purpose
    value = None
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), filename, "eval"), namespace)  # noqa: S307  # as above
        if value is not None:
            namespace["_"] = value
    return {"value": "" if value is None else repr(value), "figures": _figures()}


def _ipython(namespace: dict[str, Any]) -> InteractiveShell:
    """Return the IPython that runs `!command` and `%magic` in this rank's cells; the first call creates it."""
    from IPython.core.interactiveshell import InteractiveShell  # only a few cells need it
    from traitlets.config import Config  # the same

    if not InteractiveShell.initialized():
        # There is no history, because all ranks would write to the same file.
        shell = InteractiveShell.instance(user_ns=namespace, config=Config(HistoryManager={"enabled": False}))
        # Figures are sent to the notebook anyway.
        shell.register_magic_function(str, magic_name="matplotlib")  # type: ignore[call-arg, arg-type]  # as in `magic`
    return InteractiveShell.instance()


def _figures() -> list[bytes]:
    """Return all open figures as PNG files, and close them."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return []
    images = []
    for number in pyplot.get_fignums():
        file = io.BytesIO()
        pyplot.figure(number).savefig(file, format="png", bbox_inches="tight")
        images.append(file.getvalue())
    pyplot.close("all")
    return images
