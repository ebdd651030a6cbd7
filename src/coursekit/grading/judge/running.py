"""One submission in a sandbox, as the judge talks to it."""

from __future__ import annotations

import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psutil

from coursekit import processes
from coursekit.grading.inside import wire
from coursekit.grading.verdict import Flag
from coursekit.ranks.deadline import Deadline, TooSlowError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from coursekit.grading.walls.cgroups import Cgroup
    from coursekit.grading.walls.watcher import Watcher

PATIENCE_S = 10.0  # beyond twice a request's time, which the launcher keeps, before all is ended from outside


class Fault(BaseException):  # no `Exception`: nothing in a check may take it for an answer's mistake
    """The machine failed, not the student: the submission needs another run."""


class Running:
    """One submission in a slot."""

    def __init__(self, judge: Connection, pid: int, watch: Watcher, group: Cgroup | None) -> None:
        self._judge = judge
        self._pid = pid
        self._group = group
        self._num_killed_before = group.num_killed_for_memory if group else 0
        self._gone = False
        self._is_clean = True
        self.watch = watch
        self.disobedience = ""
        self.killed_for_memory = False

    @property
    def own_s(self) -> float:
        """The submission's own time so far, in seconds."""
        return self.watch.own_s

    def send(self, message: dict[str, Any]) -> None:
        """Send plain data to the sandbox."""
        with suppress(OSError):  # whoever waits for the reply hears why
            self._judge.send_bytes(wire.dumps(message))

    def ask(self, request: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        """Send plain data as a request and return the reply.

        A submission that does not answer in `timeout_s` of its own time is ended, from outside: the answer's doing.

        Raises:
            Fault: the sandbox broke down.
        """
        if self._gone:
            return {"error": ["ProcessEnded", "the run had to be ended from outside"]}
        self.send(request)
        message = self._receive(2 * timeout_s + PATIENCE_S)
        if message is None:
            self._kill("it did not obey its time limit")
            message = self._receive(PATIENCE_S)
        if message is None:
            raise Fault("the sandbox does not answer")
        if self._tells_end(message):
            return {"error": ["ProcessEnded", "the run had to be ended from outside"]}
        reply: dict[str, Any] = message["reply"]
        if "fault" not in reply:
            return reply
        if self._look_for_kills():  # of the kit's own processes, for memory that the submission took
            return {"error": ["ProcessEnded", "a process was ended for the memory that was used"]}
        raise Fault(str(reply["fault"]))

    def end(self) -> bool:
        """End the submission; return whether nothing of it is left and the slot can be used again."""
        with suppress(Fault):
            if not self._gone:
                self.send({"op": "end"})
            deadline_s = self.own_s + PATIENCE_S
            while not self._gone and self.own_s < deadline_s:
                message = self._receive(PATIENCE_S)
                if message is None:
                    return False
                self._tells_end(message)
        self._look_for_kills()
        return self._gone and self._is_clean

    def _tells_end(self, message: dict[str, Any]) -> bool:
        """Whether this says that the submission has ended; remember whether it left files in the sandbox.

        Raises:
            Fault: it ended by an error of the launcher's, which runs nothing of the student's.
        """
        self._gone = "gone" in message
        self._is_clean = bool(message.get("is_clean", True))
        if message.get("gone", 0) > 0:
            raise Fault(f"the launcher in the sandbox ended with status {message['gone']}")
        return self._gone

    def _receive(self, timeout_s: float) -> dict[str, Any] | None:
        """Return a message; None if none came within that much of the submission's own time."""
        deadline = Deadline(timeout_s, lambda: self.own_s)
        try:
            while not self._judge.poll(left_s := deadline.left_s()):
                if not left_s:
                    return None
            message: dict[str, Any] = wire.loads(self._judge.recv_bytes())
        except TooSlowError as error:
            raise Fault(str(error)) from None
        except (EOFError, OSError, wire.NotPlainError) as error:
            if not self._look_for_kills():
                raise Fault(f"the sandbox broke down ({type(error).__name__})") from None
            return {"gone": -signal.SIGKILL, "is_clean": False}  # the zygote, for memory that the submission took
        return message

    def _look_for_kills(self) -> bool:
        """Whether the kernel has ended a process for the memory that the submission used; remember it."""
        if self._group and self._group.num_killed_for_memory > self._num_killed_before:
            self.killed_for_memory = True
        return self.killed_for_memory

    def _kill(self, why: str) -> None:
        """Kill the launcher and all below it; the zygote lives on and tells."""
        self.disobedience = why
        if zygote := find_zygote(self._pid):
            processes.kill_below(zygote)

    def flags(self) -> tuple[Flag, ...]:
        """Return what the run showed, for the instructor."""
        found = (
            ("limit", self.watch.excess and f"The run was ended: {self.watch.excess}."),
            ("limit", self.disobedience and f"The run was ended from outside: {self.disobedience}."),
            ("memory", self.killed_for_memory and "The kernel ended a process for the memory that was used."),
        )
        return tuple(Flag(kind, text) for kind, text in found if text)


def find_zygote(pid: int) -> int | None:
    """Return the process whose descendants are the submission, in the slot whose outermost process has this id."""
    for process in processes.below(pid):
        with suppress(psutil.Error):
            is_named = "coursekit.grading.inside.zygote" in " ".join(process.cmdline())
            if is_named and process.name() not in {"bwrap", "sh"}:
                return int(process.pid)
    return None
