"""The submission server's side of the shell: start the shell, send requests, enforce deadlines, and check replies."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, NoReturn

from coursekit.corrected_time import TooSlowError, start_up
from coursekit.grading.inside import shell, wire
from coursekit.processes import signal_name
from coursekit.ranks.fork_client import ForkedServer
from coursekit.ranks.forked_rank import fork
from coursekit.ranks.protocol import LENGTH, take_message
from coursekit.ranks.watch import READ_SIZE

MAX_KEPT_OUTPUT = 20_000  # bytes of output that are kept between two requests
LAST_WORDS_S = 2.0  # an ending process gets this long to report its exit status
MAX_OUTPUT = 256 << 20  # bytes of output in all; a process that prints more is killed
NEVER_ENDED = "did not finish in time, or ended their process"


class ShellReply(NamedTuple):
    """The result of a request to the shell: either a value, or an error as a list of the exception's name and text."""

    value: Any = None
    error: list[str] | None = None


def read_reply(data: bytes, number: int) -> ShellReply | None:
    """Return the reply to the request with this number; None if the bytes are anything else.

    Any process of the submission may have sent the bytes.
    """
    with contextlib.suppress(wire.NotPlainError):
        parts = wire.loads(data)
        told = parts.pop("number", None) if isinstance(parts, dict) else None
        is_reply = type(told) is int and told == number
        if is_reply and (parts.keys() == {"value"} or (parts.keys() == {"error"} and is_words(parts["error"]))):
            return ShellReply(**parts)
    return None


def is_words(error: object) -> bool:
    """Return whether a value is a list of two texts, which are an exception's name and text."""
    return isinstance(error, list) and [type(word) for word in error] == [str, str]


class ShellGoneError(Exception):
    """The shell did not answer.

    The message is `timeout`, `output` or `restarts`; if the process died by itself, the message says how.
    """

    def words(self, timeout_s: float) -> list[str]:
        """Return the failure as an exception's name and a sentence for the student; `timeout_s` was the time limit."""
        told = {
            "timeout": ["TimeoutError", f"it ran for longer than {timeout_s:g} s"],
            "restarts": ["TimeoutError", f"not run: too many cells of this notebook {NEVER_ENDED}"],
            "output": ["OutputError", f"it printed more than {MAX_OUTPUT >> 20} MiB"],
        }
        return told.get(str(self), ["ProcessEnded", f"the process ended ({self})"])


class ShellProcess:
    """A process that runs the student's cells; there are limits on everything that this class reads from it."""

    def __init__(self, enter: Callable[[], None], not_for_it: Sequence[Connection | ForkedServer]) -> None:
        ours, theirs = socket.socketpair()
        output, output_end = os.pipe()

        def become_shell() -> None:
            for one in (ours, *not_for_it):
                one.close()
            os.close(output)
            os.close(output_end)
            enter()
            os.chdir(os.environ["TMPDIR"])
            sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # so that output comes at once
            shell.serve(Connection(theirs.detach()))

        self._pid = fork(become_shell, output_end)
        theirs.close()
        os.close(output_end)
        self._channel, self._output = ours, output
        ours.setblocking(False)
        os.set_blocking(output, False)
        self._received = bytearray()
        self._printed = bytearray()
        self._num_printed = 0
        self._number = 0
        self.num_odd = 0  # messages that do not answer a request, or have the wrong form
        self.alive = True
        self.interrupted = False  # during the last request

    def ask(self, op: str, timeout_s: float, grace_s: float = 0.0, **parts: Any) -> ShellReply:
        """Have `shell` call the function named by `op` with the arguments `parts`, and return its reply.

        `timeout_s` is a limit on the corrected time of the process and its descendants. When this time is up, the
        process is interrupted and gets `grace_s` more; if `grace_s` is 0, it is not interrupted. If there is still no
        reply, the process is killed. Then a `ShellGoneError` is raised, or a `TooSlowError` if the machine was so slow
        that a reply might still have come.
        """
        self._number += 1
        self._deadline, self._grace_s, self.interrupted = start_up(timeout_s, self._pid), grace_s, False
        data = wire.dumps({"op": op, "number": self._number, **parts})
        to_send = memoryview(LENGTH.pack(len(data)) + data)
        while (reply := self._next_reply()) is None:
            number = self._channel.fileno()
            ready, can_send, _ = select.select([number, self._output], [number] * bool(to_send), [], self._left_s())
            if self._output in ready:
                self._read_output()
            try:
                if can_send:
                    to_send = to_send[self._channel.send(to_send[:READ_SIZE]) :]
                received = self._channel.recv(READ_SIZE) if number in ready else None
            except BlockingIOError:
                continue
            except OSError:
                received = b""
            if received == b"":
                self._end_of_process()
            self._received += received or b""
        self._read_output()
        return reply

    def take_output(self) -> str:
        """Return the output since the last call, or only its beginning if it was longer than `MAX_KEPT_OUTPUT`."""
        text = bytes(self._printed).decode(errors="replace")
        self._printed.clear()
        return text

    def close(self) -> None:
        """End the process; it is safe to call this method twice."""
        if self.alive:
            self.alive = False
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
            self._channel.close()
            os.close(self._output)

    def _left_s(self) -> float:
        try:
            left_s = self._deadline.left_s()
        except TooSlowError:
            self.close()
            raise
        if not left_s and self._grace_s and not self.interrupted:
            self.interrupted = True
            os.kill(self._pid, signal.SIGINT)  # the processes between this one and the shell pass the signal on
            self._deadline = start_up(self._grace_s, self._pid)
        elif not left_s:
            self._end("timeout")
        return left_s

    def _end(self, kind: str) -> NoReturn:
        self.close()
        raise ShellGoneError(kind)

    def _end_of_process(self) -> NoReturn:
        self._read_output()
        deadline = time.monotonic() + LAST_WORDS_S
        while time.monotonic() < deadline:
            ended = os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended:
                by_itself = ended.si_code == os.CLD_EXITED
                self._end(f"exit status {ended.si_status}" if by_itself else signal_name(ended.si_status))
            time.sleep(0.01)
        self._end("it closed its connection to the grader")

    def _next_reply(self) -> ShellReply | None:
        """Return the reply to the last request, or None if it has not arrived yet; drop all other messages."""
        try:
            while (data := take_message(self._received, wire.MAX_REPLY_BYTES)) is not None:
                if (reply := read_reply(data, self._number)) is not None:
                    return reply
                self.num_odd += 1
        except ValueError:
            self._end("it sent too much data")
        return None

    def _read_output(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self._output, READ_SIZE):
                self._printed += data[: MAX_KEPT_OUTPUT - len(self._printed)]
                self._num_printed += len(data)
                if self._num_printed > MAX_OUTPUT:
                    self._end("output")
                if len(data) < READ_SIZE:
                    return
