"""The judge's connection to one submission in a sandbox, and the flags that this submission raises."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, cast

import psutil

from coursekit import processes
from coursekit.corrected_time import Deadline, TooSlowError
from coursekit.grading.inside import wire
from coursekit.grading.isolation.watcher import Watcher
from coursekit.grading.verdict import Flag
from coursekit.text import CONTROL

Reply = dict[str, Any]

PATIENCE_S = 10.0  # added to twice a request's time; after that, the run is killed from outside
LONG_TEXT = 10_000  # characters of an exception's text
# Errors that show what a process did instead of returning plain data, each with the kind of its flag.
ODD_ERRORS = {
    "NotPlainError": "odd result",
    "OutputError": "OutputError",
    "ProcessEnded": "ProcessEnded",
    "TimeoutError": "TimeoutError",
    "SystemExit": "process",
    "MemoryError": "memory",
    "ResourceExhaustedError": "memory",  # TensorFlow's
    # CPython raises this when its own state is broken, for example after endless recursion without a recursion limit.
    "SystemError": "broken interpreter",
    "OddReply": "odd reply",
}
NAMED_IN_CELLS = {"SystemExit", "MemoryError", "SystemError"}  # other errors of cells become flags by their own names
# The texts of these errors say that the kernel has run out of a resource, for the student or for everyone.
SHORT_OF = ("EAGAIN", "ENOMEM", "ENOSPC", "EDQUOT", "EMFILE", "ENFILE", "ENOBUFS")
SHORTAGE = re.compile("|".join([os.strerror(getattr(errno, name)) for name in SHORT_OF] + ["can't start new thread"]))
UNASKED = "sent the judge messages that it did not ask for"


class Fault(BaseException):  # not an `Exception`, so that no check takes it for a mistake in the answer
    """The machine failed, not the student: the submission has to be run again."""


class Running:
    """One submission in a slot, which answers requests until it has used up `limit_s` of corrected time."""

    def __init__(self, channel: Connection, pid: int, watch: Watcher, limit_s: float) -> None:
        self._channel = channel
        self._pid = pid
        self._limit_s = limit_s
        self._gone = False
        self._is_clean = True
        self._odd: dict[str, list[str]] = {}  # for each kind of flag, the texts of the odd replies
        self.watch = watch
        self.kill_reason = ""

    def send(self, message: Reply) -> None:
        """Send plain data to the sandbox."""
        with suppress(OSError):  # waiting for the reply will report why
            self._channel.send_bytes(wire.dumps(message))

    def ask(self, request: Reply, timeout_s: float) -> Reply:
        """Send plain data as a request, and return the reply.

        If the submission does not answer within `timeout_s` of corrected time, it is killed from outside, and this
        counts as its own fault. If the sandbox breaks down, a `Fault` is raised.
        """
        reply = self._ask(request, timeout_s)
        for kind, text in odd_signs(reply):
            self._odd.setdefault(kind, []).append(text)
        return reply

    def _ask(self, request: Reply, timeout_s: float) -> Reply:
        if self.watch.own_s >= self._limit_s:
            words = f"not run: the whole notebook has used up its {self._limit_s:g} s"
            return {"error": ["TimeoutError", words]}
        ended: Reply = {"error": ["ProcessEnded", "the grader had to stop the run"]}
        if self._gone:
            return ended
        self.send(request)
        message = self._receive(2 * timeout_s + PATIENCE_S)
        if message is None:
            self.kill_reason = "it ignored its time limit"
            if zygote := find_zygote(self._pid):  # it survives, and reports that the rest has ended
                processes.kill_below(zygote)
            message = self._receive(PATIENCE_S)
        if message is None:
            raise Fault("the sandbox did not answer")
        if self._tells_end(message):
            return ended
        reply: Reply = message["reply"]
        if "fault" in reply:
            raise Fault(str(reply["fault"]))
        return reply

    def end(self) -> bool:
        """End the submission; return whether none of its processes and files remain, so that the slot can be reused."""
        with suppress(Fault):
            if not self._gone:
                self.send({"op": "end"})
            deadline_s = self.watch.own_s + PATIENCE_S
            while not self._gone and self.watch.own_s < deadline_s:
                message = self._receive(PATIENCE_S)
                if message is None:
                    return False
                self._tells_end(message)
        return self._gone and self._is_clean

    def _tells_end(self, message: Reply) -> bool:
        """Return whether a message says that the submission has ended; also note whether it left the sandbox clean."""
        self._gone = "gone" in message
        self._is_clean = bool(message.get("is_clean", True))
        by_grader = self.watch.excess or self.watch.fault or self.kill_reason
        if message.get("gone") and not by_grader:  # the server runs no student code, so the machine failed
            raise Fault(f"the submission's server in the sandbox ended with status {message['gone']}")
        return self._gone

    def _receive(self, timeout_s: float) -> Reply | None:
        """Return the next message from the sandbox; None if none arrives in time.

        `timeout_s` is measured in the submission's corrected time.
        """
        try:
            return receive(self._channel, Deadline(timeout_s, lambda: self.watch.own_s))
        except TooSlowError as error:
            raise Fault(str(error)) from None
        except (EOFError, OSError, wire.NotPlainError) as error:
            raise Fault(f"the sandbox broke down ({type(error).__name__})") from None

    def flags(self) -> tuple[Flag, ...]:
        """Return the flags that the run raised; they are hints for the instructor, and never change points."""
        first = {kind: ascii(texts[0])[1:-1][:300] for kind, texts in self._odd.items()}
        odd = [Flag(kind, f"{len(self._odd[kind])} times in the run, first: {text}.") for kind, text in first.items()]
        reasons = filter(None, (self.watch.excess, self.kill_reason))
        return (*odd, *(Flag("limit", f"The grader stopped the run: {why}.") for why in reasons))


def receive(channel: Connection, deadline: Deadline) -> Reply | None:
    """Return the next message from the sandbox; None if none arrives before the deadline.

    If the sandbox has ended or broken down, an EOFError, an OSError or a NotPlainError is raised.
    """
    while not channel.poll(left_s := deadline.left_s()):
        if not left_s:
            return None
    return cast("Reply", wire.loads(channel.recv_bytes()))


def odd_signs(reply: Reply) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of each odd thing in a reply.

    Odd things are data that is not plain, processes that ended, a shortage of resources, and texts that are too long or
    contain odd characters.
    """
    for error, text in _errors(reply):
        if error in ODD_ERRORS:
            yield ODD_ERRORS[error], text
        elif SHORTAGE.search(text):
            yield "shortage", text
        if len(text) >= LONG_TEXT or CONTROL.search(text) or "\N{REPLACEMENT CHARACTER}" in text:
            yield "odd text", error


def _errors(reply: Reply) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each error in a reply of the submission's server."""
    if "error" in reply:
        yield tuple(reply["error"])
    if reply.get("num_odd"):
        yield "OddReply", f"the process {UNASKED}"
    for cell in reply.get("cells", ()):
        if cell.get("num_odd"):
            yield "OddReply", f"cell {cell['name']} {UNASKED}"
        if cell["error"] and (cell["error"][0] in NAMED_IN_CELLS or SHORTAGE.search(cell["error"][1])):
            yield tuple(cell["error"])
    reports = {rank: (kind, text) for rank, _, kind, text, _ in reply.get("reports", ())}
    yield from reports.values()
    for rank, code in dict(reply.get("exit_codes", {})).items():
        if rank not in reports:
            yield "ProcessEnded", f"rank {rank} ended with exit code {code}"


def find_zygote(pid: int) -> int | None:
    """Return the id of the zygote below a slot's outermost process; the submission's processes are its descendants."""
    for process in processes.below(pid):
        with suppress(psutil.Error):
            is_named = "coursekit.grading.inside.zygote" in " ".join(process.cmdline())
            if is_named and process.name() != "bwrap":
                return int(process.pid)
    return None
