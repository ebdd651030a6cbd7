"""Watch a run, or a cell on persistent ranks: pass output on, collect reports, notice deaths, keep the deadline."""

from __future__ import annotations

import os
import selectors
import struct
import time
from collections.abc import Collection
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import cast

from coursekit.corrected_time import TICK_S, longest_wall_s
from coursekit.ranks.deadlock import DeadlockWatch, Pulse
from coursekit.ranks.explain import DEADLINE, DEADLOCK, INTERRUPTED, TOO_SLOW, RunOutcome, lost_a_peer
from coursekit.ranks.line_printer import LinePrinter
from coursekit.ranks.request import RunningRanks
from coursekit.ranks.stacks import parse_stacks
from coursekit.ranks.worker import Report

# A rank that loses its peer fails too, often first to be heard: wait this long (in own time) for the cause to come in.
GRACE_S = 0.5
# Of own time that ranks get to write their stacks. Those of other nodes come through their servers, which queue for the
# processor while the ranks, and so their time, stand still; a rank that has written is not waited for.
STACKS_S = 5.0
PATIENCE_S = 2.0  # wall-clock time for the same, of those who pressed the stop button
# Of own time in which persistent ranks may finish their cell after another one failed; then they are interrupted.
ALONE_S = 2.0
# The same in which a rank must come back from an interrupt. One that waits in Horovod never does.
INTERRUPT_S = 2.0
READ_SIZE, MAX_NUM_READS = 1 << 16, 64
LENGTH = struct.Struct("!i")  # before a message of a `Connection`


class RunWatch:
    """The loop over everything that the ranks of a run can say, for at most `timeout_s` of own time (see `own_time`).

    `show` says whether to show what ranks print, or how many bytes of each.
    """

    def __init__(
        self, running: RunningRanks, *, timeout_s: float, show: bool | int, max_report_bytes: int | None = None
    ) -> None:
        self.running = running
        self.timeout_s = timeout_s
        self.max_report_bytes = max_report_bytes
        self.outcome = RunOutcome()
        self._began_s: float | None = None  # the ranks' own time at the first pulse
        self._own_s = 0.0  # own time since then
        self._busy_since_s: dict[int, float] = {}  # own time, by rank, while it is not quiet
        self._wall_end_s = time.monotonic() + longest_wall_s(timeout_s)
        self._grace_end_s: float | None = None
        self._pulses: dict[Connection, Pulse] = {}
        self._deadlock = DeadlockWatch(running)
        self._received = [bytearray() for _ in running.reports]
        self._printers = [LinePrinter(rank, show=show) for rank in range(len(running.outputs))]
        self._selector = selectors.DefaultSelector()
        for control in running.alive:
            self._selector.register(control, selectors.EVENT_READ, lambda control=control: self._read_control(control))
        for rank, (output, reports) in enumerate(zip(running.outputs, running.reports)):
            self._selector.register(output, selectors.EVENT_READ, lambda rank=rank: self._read_output(rank))
            self._selector.register(reports, selectors.EVENT_READ, lambda rank=rank: self._read_report(rank))

    def run(self) -> RunOutcome:
        """Watch until all have ended, one has failed, no rank can continue, the deadline has passed, or on Ctrl-C."""
        with self._selector:
            self.running.tell("watch")
            try:
                self._watch()
            except KeyboardInterrupt:
                self.outcome.stopped = INTERRUPTED
                self._wall_end_s = time.monotonic() + PATIENCE_S
            if self.outcome.stopped:
                self.outcome.busy_s = {rank: self._own_s - since_s for rank, since_s in self._busy_since_s.items()}
                self._collect_stacks()
            self._drain_output()
        return self.outcome

    def _watch(self) -> None:
        while not (self.outcome.server_died or not self.running.alive or self.outcome.stopped or self._is_over()):
            if self._grace_end_s is None:
                self._grace_end_s = self._grace_end()
            if self._grace_end_s is not None and self._own_s >= self._grace_end_s:
                break
            for key, _ in self._selector.select(TICK_S):
                key.data()
            self.outcome.stopped = self.outcome.stopped or self._time_is_up()

    def _is_over(self) -> bool:
        """Whether there is nothing more to wait for, although the ranks are there: those that end are waited for."""
        return False

    def _time_is_up(self) -> str:
        """Return why the run has to be stopped now, or ''; after a failure, its cause is waited for."""
        if self._grace_end_s is None and self._own_s >= self.timeout_s:
            return DEADLINE
        return TOO_SLOW if time.monotonic() > self._wall_end_s else ""

    def _collect_stacks(self) -> None:
        """Let every rank write where it stands; on a deadlock they have done so already."""
        if self.outcome.stopped in {DEADLINE, INTERRUPTED}:
            self.running.ask_for_stacks()
        end_s = self._own_s + STACKS_S
        while self._own_s < end_s and time.monotonic() < self._wall_end_s:
            self.outcome.stacks = self.running.new_stacks()
            ended = {*self.outcome.exit_codes, *self._returned()}
            if all(rank in ended or parse_stacks(dump) for rank, dump in enumerate(self.outcome.stacks)):
                return
            for key, _ in self._selector.select(0.05):
                key.data()
        self.outcome.stacks = self.running.new_stacks()

    def _grace_end(self) -> float | None:
        """Return until when to wait after a failure, in own time, or None while no rank has failed."""
        failed = self.outcome.failed_ranks()
        if failed and not lost_a_peer(self.outcome.reports[failed[0]]):
            return self._own_s
        return self._own_s + GRACE_S if failed or self.outcome.lost_ranks() else None

    def _read_control(self, control: Connection) -> None:
        try:
            kind, content = self.running.receive(control)
        except (EOFError, OSError):
            self.outcome.server_died = True
            return
        if kind == "ended":
            rank, exit_code = cast("tuple[int, int]", content)
            if rank not in self.outcome.reports:
                self._read_report(rank)  # the last words may still lie in the pipe
            self.outcome.exit_codes[rank] = exit_code
        elif kind == "not started":
            self.outcome.not_started = str(content)
        elif kind == "gone":
            self._pulses.pop(control, None)
        elif kind == "pulse":
            self._pulses[control] = cast("Pulse", content)
            self._feel_pulses()

    def _feel_pulses(self) -> None:
        """Take over what all servers have told of their ranks: the time of the run is that of the most hindered."""
        if len(self._pulses) < len(self.running.alive):
            return
        own_s = min(pulse.own_s for pulse in self._pulses.values())
        if self._began_s is None:
            self._began_s = own_s
        self._own_s = max(self._own_s, own_s - self._began_s)
        marks = {rank: mark for pulse in self._pulses.values() for rank, mark in pulse.marks.items()}
        busy = [rank for rank, mark in marks.items() if not mark.is_quiet]
        self._busy_since_s = {rank: self._busy_since_s.get(rank, self._own_s) for rank in busy}
        is_open = self._grace_end_s is None and not self.outcome.stopped
        if is_open and self._deadlock.is_certain(self._own_s, marks, self._returned()):
            self.outcome.stopped = DEADLOCK

    def _returned(self) -> Collection[int]:
        """Return the ranks that will enter no collective any more."""
        return self.outcome.reports

    def _read_report(self, rank: int) -> None:
        connection: Connection = self.running.reports[rank]
        if connection.closed or connection not in self._selector.get_map():
            return
        with suppress(OSError, ValueError):
            message, data = None, b"unread"
            while data and message is None:
                # Never wait for the rest of a message: a rank that sends half of one must not stop the clock.
                if not connection.poll():
                    return
                self._received[rank] += (data := os.read(connection.fileno(), READ_SIZE))
                message = take_message(self._received[rank], self.max_report_bytes)
            if message is not None:
                self.outcome.reports[rank] = Report.loads(message)
        self._selector.unregister(connection)

    def _read_output(self, rank: int) -> None:
        data = os.read(self.running.outputs[rank], READ_SIZE)
        self._printers[rank].feed(data)
        if not data:
            self._selector.unregister(self.running.outputs[rank])

    def _drain_output(self) -> None:
        """Show what had been written before the end, without waiting for more."""
        for rank, output in enumerate(self.running.outputs):
            os.set_blocking(output, False)
            with suppress(BlockingIOError):
                for _ in range(MAX_NUM_READS):
                    self._printers[rank].feed(os.read(output, READ_SIZE))
            self._printers[rank].feed(b"")


class CellWatch(RunWatch):
    """The same loop over a cell on some persistent ranks: it is over when these have answered, and all stay."""

    def __init__(self, running: RunningRanks, ranks: Collection[int], *, timeout_s: float) -> None:
        super().__init__(running, timeout_s=timeout_s, show=True)
        self.ranks = ranks
        self.was_interrupted = False  # whether somebody has stopped the cell
        self._alone_end_s: float | None = None  # own time when those that go on after a failure are interrupted
        self._give_up_s: float | None = None  # own time when those that do not come back are given up
        for control in [*running.alive]:  # pulses of the cell before, or the end of a rank meanwhile
            while not self.outcome.server_died and control.poll():
                self._read_control(control)
        self._pulses.clear()
        self._began_s = None

    def run(self) -> RunOutcome:
        """Watch until all have answered, or as a run if they come to an end."""
        outcome = super().run()
        self.running.tell("rest")
        return outcome

    def _watch(self) -> None:
        try:
            super()._watch()
        except KeyboardInterrupt:
            self.was_interrupted = True
            self._interrupt()
            super()._watch()

    def _interrupt(self) -> None:
        self.running.tell("interrupt")
        self._give_up_s = self._own_s + INTERRUPT_S

    def _is_over(self) -> bool:
        return all(rank in self.outcome.reports for rank in self.ranks)

    def _time_is_up(self) -> str:
        if self.outcome.failed_ranks() and self._alone_end_s is None:
            self._alone_end_s = self._own_s + ALONE_S
        if self._give_up_s is not None and self._own_s >= self._give_up_s:
            return INTERRUPTED
        if self._give_up_s is None and self._alone_end_s is not None and self._own_s >= self._alone_end_s:
            self._interrupt()
        return super()._time_is_up()

    def _grace_end(self) -> float | None:
        return self._own_s + GRACE_S if self.outcome.lost_ranks() else None

    def _returned(self) -> Collection[int]:
        others = {*range(len(self.running.reports))} - {*self.ranks}
        return others | self.outcome.reports.keys()


def take_message(received: bytearray, max_bytes: int | None) -> bytes | None:
    """Take what a `Connection` at the other end sent first out of these bytes; None while part of it is missing."""
    if len(received) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack_from(received)
    if length < 0 or (max_bytes is not None and length > max_bytes):
        raise ValueError("a message that is too long")
    end = LENGTH.size + length
    if len(received) < end:
        return None
    message = bytes(received[LENGTH.size : end])
    del received[:end]
    return message
