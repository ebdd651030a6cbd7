"""What one check of the doctor found, and running the programs that checks ask."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from coursekit.ranks.environ import scrubbed

if TYPE_CHECKING:
    from collections.abc import Sequence

State = Literal["good", "missing", "wrong"]


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's table.

    Attributes:
        name: What was looked at.
        state: "good", "missing" (not there) or "wrong" (there, but not as the labs need it).
        text: What was found.
        remedy: What to do about it; empty when good.
        needed: Whether the labs cannot do without it.
    """

    name: str
    state: State
    text: str
    remedy: str = ""
    needed: bool = True

    @property
    def hinders(self) -> bool:
        """Whether the labs cannot run before this is fixed."""
        return self.needed and self.state != "good"


@dataclass(frozen=True)
class ProgramAnswer:
    """What a program said.

    Attributes:
        status: Its exit status; None when it could not be started or was stopped at the limit.
        output: Its standard output, stripped.
        complaint: The last line of its standard error, or why there is no exit status.
    """

    status: int | None
    output: str
    complaint: str


def ask(command: Sequence[str], limit_s: float) -> ProgramAnswer:
    """Run a program with a clean environment and a time limit; never raises, and leaves no process behind."""
    try:
        process = subprocess.Popen(
            command,
            env={**scrubbed(), "TF_CPP_MIN_LOG_LEVEL": "3"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    except OSError as error:
        return ProgramAnswer(None, "", str(error))
    with process:
        try:
            output, complaints = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            return ProgramAnswer(None, "", f"no answer within {limit_s:g} s")
        finally:
            # Its own session: whatever it started and left running ends with it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return ProgramAnswer(process.returncode, output.strip(), last_words(process.returncode, complaints))


def last_words(status: int, complaints: str) -> str:
    """Return the last line of a program's standard error; without one, how it ended."""
    if status < 0:
        return f"ended by {signal.Signals(-status).name}"
    lines = complaints.strip().splitlines()
    return lines[-1].strip() if lines else f"exit status {status}"
