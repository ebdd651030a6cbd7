"""The process that imports once what notebooks use, and forks a kernel for each.

It executes no TensorFlow operation and starts no thread: a fork after either can hang the child.
It adopts what kernels leave behind, so that it can be ended, and ends with the process that started it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import runpy
import signal
import sys
from dataclasses import dataclass
from multiprocessing.connection import Connection

from coursekit.ranks.forked import ForkedServer
from coursekit.ranks.forkserver import adopt_shared_server
from coursekit.ranks.lifetime import adopt_orphans, kill_descendants
from coursekit.ranks.server import preload

# Not the kernel's application itself: it reads its parent's number while it is imported.
MORE = ("ipykernel.ipkernel", "IPython.core.shellapp", "cloudpickle", "matplotlib.pyplot", "coursekit.pictures")
LAUNCHER = "ipykernel_launcher"


@dataclass(frozen=True)
class Start:
    """A request: become a kernel.

    Attributes:
        words: its command line after the launcher's name.
        log: the file for what it writes outside its cells.
    """

    words: list[str]
    environ: dict[str, str]
    folder: str
    log: str


def main() -> None:
    """Serve on the socket whose number is the first argument; each fork leaves here to become a kernel."""
    start = _serve(Connection(int(sys.argv[1])))
    if start:
        _become_kernel(start)


def _serve(control: Connection) -> Start | None:
    """Answer requests until the channel is closed: `Start` with the kernel's number, None when all is gone.

    Returns:
        In each kernel to be its request, in the server None.
    """
    adopt_orphans()
    environ = dict(os.environ)
    with contextlib.suppress(EOFError, OSError):
        control.send(preload(*MORE))
        # Fresh kernels have these as well, once they have imported.
        added = {name: value for name, value in os.environ.items() if name not in environ}
        signal.signal(signal.SIGCHLD, _bury)
        while True:
            start: Start | None = control.recv()
            if start is None:
                _end_all()
                control.send(None)
                continue
            pid = os.fork()
            if pid == 0:
                control.close()
                os.environ.clear()
                os.environ.update({**added, **start.environ, "JPY_PARENT_PID": str(os.getppid())})
                return start
            control.send(pid)
    _end_all()
    return None


def _bury(*_: object) -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _end_all() -> None:
    """Kill every kernel and whatever it has left behind."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # else children are buried that the next line waits for
    kill_descendants()
    signal.signal(signal.SIGCHLD, _bury)


def _become_kernel(start: Start) -> None:
    """Do what `python -m ipykernel_launcher` would do in a new process."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    log = os.open(start.log, os.O_WRONLY | os.O_APPEND)
    for number in (1, 2):
        os.dup2(log, number)
    os.close(log)
    os.chdir(start.folder)
    # For cells that start ranks; while this process is still clean.
    adopt_shared_server(ForkedServer())
    _forget_imports()
    sys.argv[1:] = start.words
    runpy.run_module(LAUNCHER, run_name="__main__", alter_sys=True)


def _forget_imports() -> None:
    """Undo what importing did before the notebook came, or did for several notebooks."""
    import numpy as np  # noqa: PLC0415  # imported by the server

    np.random.seed()  # noqa: NPY002  # the generator that students may use: every fork would draw the same
    with contextlib.suppress(ImportError, AttributeError):
        from tensorflow.python.platform import tf_logging  # noqa: PLC0415  # no public interface: see `spare_horovod`

        # Made again at the next message, when it finds itself in a notebook: then it shows more, on standard output.
        tf_logging._logger = None  # noqa: SLF001
        logging.getLogger("tensorflow").handlers.clear()
