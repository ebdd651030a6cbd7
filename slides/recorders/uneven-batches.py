"""What happens when one rank has a batch more than the other: with deck 04's hands-on, and when the other is busy."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

from coursekit import ranks

DECK = Path(__file__).parents[1] / "04-horovod.md"
DEADLINE_S = 15
STALL_CHECK_S = 2  # Horovod's own: 60
STALL_SHUTDOWN_S = 4  # Horovod's own: none


def train(num_values: int) -> None:
    """Average twice on rank 0, once on rank 1, which then has something else to do."""
    import time  # noqa: PLC0415  # the function travels to the ranks

    import horovod.tensorflow as hvd  # noqa: PLC0415
    import numpy as np  # noqa: PLC0415

    hvd.init()
    for batch in range(2 - hvd.rank()):
        hvd.allreduce(np.ones(num_values, np.float32), name=f"batch-{batch}")
    time.sleep(60)


def hands_on() -> str:
    """Run the code of the deck's hands-on, and return the first line of the message."""
    code = next(block for block in re.findall(r"```python\n(.*?)```", DECK.read_text(), re.DOTALL) if "Fails" in block)
    try:
        exec(code, {"__name__": "hands_on"})  # noqa: S102  # the deck's own
    except ranks.RankError as error:
        return str(error).splitlines()[0]
    raise AssertionError(code)


def record() -> dict[str, Any]:
    """Run both, the second with Horovod's own watch set to a few seconds, and keep what the kit says."""
    finished = hands_on()
    environ = {
        "HOROVOD_STALL_CHECK_TIME_SECONDS": str(STALL_CHECK_S),
        "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS": str(STALL_SHUTDOWN_S),
        "HOROVOD_LOG_LEVEL": "info",
    }
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        try:
            ranks.run(train, 4, num_ranks=2, timeout_s=DEADLINE_S, environ=environ)
        except ranks.RankTimeoutError as error:
            message = str(error)
    if "Horovod initialized" not in said.getvalue():
        raise AssertionError(said.getvalue())  # nothing of what Horovod says has arrived
    return {
        "finished": finished,
        "deadline_s": DEADLINE_S,
        "stall_check_s": STALL_CHECK_S,
        "stall_shutdown_s": STALL_SHUTDOWN_S,
        "horovod_warned": "waiting for remainder of ranks" in said.getvalue(),  # words of its stall inspector
        "lines": [re.sub(r" \(.*\)$", "", line) for line in message.splitlines()[:4]],
    }
