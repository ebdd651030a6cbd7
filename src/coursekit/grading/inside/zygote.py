"""The process that imports everything once and then forks a server for each submission.

The process itself runs no submission.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import sys
import tempfile
from multiprocessing.connection import Connection
from pathlib import Path

from coursekit.grading.inside import submission_server, wire
from coursekit.processes import adopt_orphans, kill_descendants
from coursekit.ranks.forked_rank import fork
from coursekit.ranks.preload import preload

MORE = ("IPython.core.interactiveshell", "cloudpickle", "matplotlib.pyplot", "PIL.Image", "coursekit.pictures")


def main() -> None:
    """Serve the judge on the socket whose number is the program's argument, until the judge closes the socket."""
    channel = Connection(int(sys.argv[1]))
    adopt_orphans()
    own = frozenset(Path(tempfile.gettempdir()).iterdir())  # empty, unless the kit itself is in /tmp
    failure = preload(*MORE)
    channel.send_bytes(wire.dumps({"failure": failure}))
    with contextlib.suppress(EOFError, OSError):
        while True:
            settings = wire.loads(channel.recv_bytes())
            if "op" in settings:  # for a server that has ended, of which the judge has already been told
                continue
            pid = fork(functools.partial(submission_server.serve, channel, settings))
            _, status = os.waitpid(pid, 0)
            kill_descendants()  # so that none of the submission's processes remain
            is_clean = _clean(own) and not submission_server.lacks_ports()
            channel.send_bytes(wire.dumps({"gone": os.waitstatus_to_exitcode(status), "is_clean": is_clean}))


def _clean(own: frozenset[Path]) -> bool:
    """Remove everything from /tmp except `own`, and return whether that worked.

    It may fail because a submission can lock folders or nest them too deeply.
    """
    folder = Path(tempfile.gettempdir())
    for path in {*folder.iterdir()} - own:
        with contextlib.suppress(OSError, RecursionError):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    return {*folder.iterdir()} <= own


if __name__ == "__main__":
    main()
