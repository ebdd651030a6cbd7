"""Processes that wait for another: they pass signals on, and end as it ended."""

from __future__ import annotations

import os
import signal
import struct
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterable

# SIGUSR1 asks for stack traces; the others ask to end.
PASSED_ON = (signal.SIGUSR1, signal.SIGTERM, signal.SIGINT)
_HEARD = {signal.SIGCHLD, *PASSED_ON}
_STATUS = struct.Struct("i")


class HeldSignals:
    """Signals that are kept back from a process and its coming children, until each says what it does with them."""

    def __init__(self) -> None:
        # A child that ends before its parent waits must be remembered, whatever the caller does with its children.
        self._on_child = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())

    def release(self) -> None:
        """Let them come, and be handled as they were."""
        signal.signal(signal.SIGCHLD, signal.SIG_DFL if self._on_child is None else self._on_child)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)

    def forget_handlers(self) -> None:
        """Keep them back for ever, for `wait_for`: no handler of the caller's runs in this process."""
        signal.set_wakeup_fd(-1)
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            with suppress(OSError):  # those that the C library keeps for itself
                signal.signal(number, signal.SIG_DFL)


def wait_for(pid: int) -> int:
    """Return the wait status of a child, after burying it and every orphan; pass signals on meanwhile."""
    while True:
        # Look before listening: `forget_handlers` has dropped what the kernel told of children that ended before.
        for ended, status in _ended_children():
            if ended == pid:
                return status
        heard = signal.sigwait(_HEARD)
        if heard != signal.SIGCHLD:
            with suppress(ProcessLookupError):
                os.kill(pid, heard)


def _ended_children() -> Iterable[tuple[int, int]]:
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            yield pid, status


def end_as(status: int) -> NoReturn:
    """End this process, which handles no signal, the way a wait status tells."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        os.kill(os.getpid(), number)
        os._exit(128 + number)
    os._exit(os.WEXITSTATUS(status))


def tell_status(channel: int, status: int) -> None:
    """Write a wait status into a pipe."""
    with suppress(BrokenPipeError):
        os.write(channel, _STATUS.pack(status))


def told_status(channel: int, otherwise: int) -> int:
    """Read what `tell_status` wrote, or return `otherwise` where nothing was."""
    told = os.read(channel, _STATUS.size)
    return int(_STATUS.unpack(told)[0]) if len(told) == _STATUS.size else otherwise


def close_all_but(keep: Iterable[int]) -> None:
    """Close every open file of this process that is not named."""
    kept = set(keep)
    for number in map(int, os.listdir("/proc/self/fd")):  # noqa: PTH208  # numbers, no paths
        if number not in kept:
            with suppress(OSError):  # the listing's own is closed already
                os.close(number)
