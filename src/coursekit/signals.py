"""Stop a run in good order: on Ctrl-C, on `kill`, and when the terminal is closed."""

from __future__ import annotations

import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Ending a kernel and its ranks takes a few seconds; an impatient second Ctrl-C must not cut that short.
TIDYING_S = 20.0


class StopSignals:
    """Raise KeyboardInterrupt in the main thread for each signal that asks this process to stop.

    Attributes:
        received: The first such signal; None as long as there was none.
    """

    def __init__(self) -> None:
        self.received: int | None = None
        self._last_s = float("-inf")

    @contextmanager
    def handled(self) -> Iterator[None]:
        """Raise during a `with` block, and leave signals as they were before."""
        # A signal that nohup or a batch system switched off stays off.
        awake = [number for number in STOPPING if signal.getsignal(number) is not signal.SIG_IGN]
        before = [(number, signal.signal(number, self._on_signal)) for number in awake]
        try:
            yield
        finally:
            for number, handler in before:
                signal.signal(number, handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        del frame
        self.received = self.received or number
        if time.monotonic() - self._last_s < TIDYING_S:
            return
        self._last_s = time.monotonic()
        raise KeyboardInterrupt
