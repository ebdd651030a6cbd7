"""What happens when one rank has a batch more than the other: with deck 04's hands-on, and when the other is busy.

And what Horovod's own watch for ranks that do not come says of the busy one, where Gloo or MPI joins the ranks.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

DECK = Path(__file__).parents[1] / "04-horovod.md"
DEADLINE_S = 15
BUSY_S = 60
LIMIT_S = 180  # of mpirun, on a busy machine
STALL_CHECK_S = 2  # Horovod's own: 60
STALL_SHUTDOWN_S = 4  # Horovod's own: none
WATCH = {
    "HOROVOD_STALL_CHECK_TIME_SECONDS": str(STALL_CHECK_S),
    "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS": str(STALL_SHUTDOWN_S),
}
WARNED, ENDED = "waiting for remainder of ranks", "Will shutdown."  # words of its stall inspector


def train(num_values: int, busy_s: float) -> None:
    """Average twice on rank 0, once on rank 1, which then has something else to do."""
    import time  # noqa: PLC0415  # the function travels to the ranks

    import horovod.tensorflow as hvd  # noqa: PLC0415
    import numpy as np  # noqa: PLC0415

    hvd.init()
    for batch in range(2 - hvd.rank()):
        hvd.allreduce(np.ones(num_values, np.float32), name=f"batch-{batch}")
    time.sleep(busy_s)


def hands_on() -> str:
    """Run the code of the deck's hands-on, and return the first line of the message."""
    from coursekit import ranks  # noqa: PLC0415  # ranks of mpirun do without

    code = next(block for block in re.findall(r"```python\n(.*?)```", DECK.read_text(), re.DOTALL) if "Fails" in block)
    try:
        exec(code, {"__name__": "hands_on"})  # noqa: S102  # the deck's own
    except ranks.RankError as error:
        return str(error).splitlines()[0]
    raise AssertionError(code)


def stopped(timeout_s: float, **environ: str) -> tuple[str, str]:
    """Run the busy rank from here, over Gloo; return how the run ended, and what the ranks said."""
    from coursekit import ranks  # noqa: PLC0415

    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        try:
            ranks.run(train, 4, BUSY_S, num_ranks=2, timeout_s=timeout_s, environ=environ)
        except ranks.RankError as error:
            return str(error), said.getvalue()
    raise AssertionError(said.getvalue())


def over_mpi() -> str:
    """Run the same by mpirun, as this script; return what the ranks said."""
    from workshop.mpirun import run_by_mpirun  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        return run_by_mpirun([sys.executable, __file__], 2, Path(folder), environ=WATCH, timeout_s=LIMIT_S)


def record() -> dict[str, Any]:
    """Run all, and keep what the kit and Horovod's watch say."""
    finished = hands_on()
    message, _ = stopped(DEADLINE_S)
    said = {"gloo": stopped(BUSY_S, **WATCH)[1], "mpi": over_mpi()}
    return {
        "finished": finished,
        "deadline_s": DEADLINE_S,
        "stall_check_s": STALL_CHECK_S,
        "stall_shutdown_s": STALL_SHUTDOWN_S,
        "horovod_warned": {way: WARNED in words for way, words in said.items()},
        "horovod_ended": {way: ENDED in words for way, words in said.items()},
        "lines": [re.sub(r" \(.*\)$", "", line) for line in message.splitlines()[:4]],
    }


if __name__ == "__main__":
    train(4, BUSY_S)
