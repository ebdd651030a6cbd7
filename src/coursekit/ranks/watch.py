"""Watch a run: pass output on live, collect reports, notice deaths, and keep the deadline."""

from __future__ import annotations

import os
import selectors
import struct
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from coursekit.ranks.worker import Report

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from coursekit.ranks.job import Job

# A rank that loses its peer fails too, often first to be heard: wait this long for the cause to come in.
GRACE_S = 0.5
# What Horovod 0.28 says, with Gloo and with MPI, on a rank whose peer has gone.
PEER_LOST_SIGNS = ("Horovod has been shut down", "Connection closed by peer", "Connection reset by peer", "Read error")
MAX_BYTES_PER_RANK = 1 << 20  # what one rank may print: a notebook with more can hardly be opened again
READ_SIZE = 1 << 16
LENGTH, LONG_LENGTH = struct.Struct("!i"), struct.Struct("!Q")  # before a message of a `Connection`


@dataclass
class Outcome:
    """What is known of a run when watching ends.

    Attributes:
        reports: by rank, what the rank sent back, in the order of arrival.
        exit_codes: by rank, as in `subprocess`: negative when ended by a signal.
        timed_out: whether the deadline passed.
    """

    reports: dict[int, Report] = field(default_factory=dict)
    exit_codes: dict[int, int] = field(default_factory=dict)
    timed_out: bool = False
    server_died: bool = False

    def failed_ranks(self) -> list[int]:
        """Ranks that reported an exception, causes before consequences, else in the order of arrival."""
        failed = [rank for rank, report in self.reports.items() if report.error_type]
        return sorted(failed, key=lambda rank: lost_a_peer(self.reports[rank]))

    def lost_ranks(self) -> list[int]:
        """Ranks that ended without a report."""
        return sorted(rank for rank in self.exit_codes if rank not in self.reports)


def lost_a_peer(report: Report) -> bool:
    """Whether this failure is only the consequence of another rank's end."""
    return any(sign in report.error_text for sign in PEER_LOST_SIGNS)


class LinePrinter:
    """Print what a rank writes, line by line, each marked with the rank."""

    def __init__(self, rank: int, *, show: bool) -> None:
        self.rank = rank
        self.show = show
        self._rest = b""
        self._num_bytes_left = MAX_BYTES_PER_RANK

    def feed(self, data: bytes) -> None:
        """Print the lines that `data` completes; an empty `data` ends the last one."""
        if not self.show or self._num_bytes_left <= 0:
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        if self._rest and (not data or len(self._rest) > self._num_bytes_left):
            lines.append(self._rest)
            self._rest = b""
        for line in lines:
            self._print(line)
        if lines:
            sys.stdout.flush()

    def _print(self, line: bytes) -> None:
        """Print one line to standard output, also for what the rank wrote to its standard error.

        nbgrader takes any text on a notebook's standard error for a failure.
        """
        if self._num_bytes_left <= 0:
            return
        sys.stdout.write(f"[{self.rank}] {line[: self._num_bytes_left].decode(errors='replace')}\n")
        self._num_bytes_left -= len(line) + 1
        if self._num_bytes_left <= 0:
            sys.stdout.write(f"[{self.rank}] … (more than {MAX_BYTES_PER_RANK >> 20} MiB; the rest is not shown)\n")


class Watch:
    """The loop over everything that a job can say."""

    def __init__(self, job: Job, *, timeout_s: float, show: bool, max_report_bytes: int | None = None) -> None:
        self.job = job
        self.max_report_bytes = max_report_bytes
        self.outcome = Outcome()
        self.deadline = time.monotonic() + timeout_s
        self.grace_end: float | None = None
        self._received = [bytearray() for _ in job.reports]
        self._printers = [LinePrinter(rank, show=show) for rank in range(len(job.outputs))]
        self._selector = selectors.DefaultSelector()
        for control in job.controls:
            self._selector.register(control, selectors.EVENT_READ, lambda control=control: self._read_control(control))
        for rank, (output, reports) in enumerate(zip(job.outputs, job.reports)):
            self._selector.register(output, selectors.EVENT_READ, lambda rank=rank: self._read_output(rank))
            self._selector.register(reports, selectors.EVENT_READ, lambda rank=rank: self._read_report(rank))

    def run(self) -> Outcome:
        """Watch until all ranks have ended, one has failed, or the deadline has passed."""
        with self._selector:
            while not self._finished():
                now = time.monotonic()
                limit = self.deadline if self.grace_end is None else min(self.grace_end, self.deadline)
                if now >= limit:
                    self.outcome.timed_out = self.grace_end is None
                    break
                for key, _ in self._selector.select(limit - now):
                    key.data()
                if self.grace_end is None:
                    self.grace_end = self._grace_end()
            self._drain_output()
        return self.outcome

    def _finished(self) -> bool:
        return self.outcome.server_died or self.job.gone

    def _grace_end(self) -> float | None:
        """Return until when to wait after a failure, or None while no rank has failed."""
        failed = self.outcome.failed_ranks()
        if failed and not lost_a_peer(self.outcome.reports[failed[0]]):
            return time.monotonic()
        return time.monotonic() + GRACE_S if failed or self.outcome.lost_ranks() else None

    def _read_control(self, control: Connection) -> None:
        try:
            kind, content = self.job.receive(control)
        except (EOFError, OSError):
            self.outcome.server_died = True
            return
        if kind == "ended":
            rank, exit_code = cast("tuple[int, int]", content)
            if rank not in self.outcome.reports:
                self._read_report(rank)  # the last words may still lie in the pipe
            self.outcome.exit_codes[rank] = exit_code

    def _read_report(self, rank: int) -> None:
        connection: Connection = self.job.reports[rank]
        if connection.closed or connection not in self._selector.get_map():
            return
        is_over = False
        try:
            # Never wait for the rest of a message: a rank that sends half of one must not stop the clock.
            while not is_over and connection.poll():
                data = os.read(connection.fileno(), READ_SIZE)
                self._received[rank] += data
                message = _first_message(self._received[rank], self.max_report_bytes)
                if message is not None:
                    self.outcome.reports[rank] = Report.loads(message)
                is_over = not data or message is not None
        except (OSError, ValueError):
            is_over = True
        if is_over:
            self._selector.unregister(connection)

    def _read_output(self, rank: int) -> None:
        data = os.read(self.job.outputs[rank], READ_SIZE)
        self._printers[rank].feed(data)
        if not data:
            self._selector.unregister(self.job.outputs[rank])

    def _drain_output(self) -> None:
        """Show what had been written before the end, without waiting for more."""
        for rank, output in enumerate(self.job.outputs):
            os.set_blocking(output, False)
            try:
                for _ in range(64):
                    data = os.read(output, READ_SIZE)
                    if not data:
                        break
                    self._printers[rank].feed(data)
            except BlockingIOError:
                pass
            self._printers[rank].feed(b"")


def _first_message(received: bytearray, max_bytes: int | None) -> bytes | None:
    """Return what a `Connection` at the other end sent first, None when not all of it is there yet.

    Raises:
        ValueError: it is longer than allowed.
    """
    if len(received) < LENGTH.size:
        return None
    (length,), start = LENGTH.unpack_from(received), LENGTH.size
    if length == -1:
        if len(received) < LENGTH.size + LONG_LENGTH.size:
            return None
        (length,), start = LONG_LENGTH.unpack_from(received, LENGTH.size), LENGTH.size + LONG_LENGTH.size
    if length < 0 or (max_bytes is not None and length > max_bytes):
        raise ValueError("a report that is too long")
    return bytes(received[start : start + length]) if len(received) >= start + length else None
