"""Watch a run or a cell on persistent ranks: show output, collect reports, notice deaths, and enforce the deadline."""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Collection
from contextlib import suppress
from multiprocessing.connection import Connection

from coursekit.corrected_time import TICK_S, longest_wall_s
from coursekit.ranks.deadlock import DeadlockWatch, State
from coursekit.ranks.explain import DEADLINE, DEADLOCK, INTERRUPTED, TOO_SLOW, RunOutcome, lost_a_peer
from coursekit.ranks.line_printer import LinePrinter
from coursekit.ranks.protocol import (
    Activity,
    Ended,
    Gone,
    Interrupt,
    NotStarted,
    Report,
    Sample,
    SendSamples,
    WriteStacks,
    take_message,
)
from coursekit.ranks.server_handle import RunningRanks
from coursekit.ranks.stacks import parse_stacks

# All times but one are corrected time.
# A rank that loses a peer also fails, and its report often arrives first: wait this long for the report of the cause.
GRACE_S = 0.5
# How long ranks may take to write their stacks. Stacks from other nodes come through their servers, which may queue for
# a processor while the ranks only wait, and corrected time passes. The wait ends when all stacks are complete.
STACKS_S = 5.0
PATIENCE_S = 2.0  # the same in wall-clock time after the stop button was pressed
# How long persistent ranks may take to finish their cell after another rank has failed; then they are interrupted.
ALONE_S = 2.0
# How long a rank may take to return after an interrupt. A rank that waits in Horovod never returns.
INTERRUPT_S = 2.0
READ_SIZE, MAX_NUM_READS = 1 << 16, 64


class RunWatch:
    """The loop over all messages from a run's ranks and servers, for at most `timeout_s` of corrected time.

    `show` says whether to show what the ranks print, or how many bytes to show from each rank.
    """

    def __init__(
        self, running: RunningRanks, *, timeout_s: float, show: bool | int, max_report_bytes: int | None = None
    ) -> None:
        self.running = running
        self.timeout_s = timeout_s
        self.max_report_bytes = max_report_bytes
        self.outcome = RunOutcome()
        self._began_s: float | None = None  # the ranks' corrected time at the first sample
        self._corrected_s = 0.0  # since that sample
        self._wall_end_s = time.monotonic() + longest_wall_s(timeout_s)
        self._grace_end_s: float | None = None
        self._samples: dict[Connection, Sample] = {}  # the last sample from each server
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
        """Watch until all ranks have ended, one has failed, none can continue, time is up, or Ctrl-C is pressed."""
        with self._selector:
            self.running.send(SendSamples(True))
            try:
                self._watch()
            except KeyboardInterrupt:
                self.outcome.stopped = INTERRUPTED
                self._wall_end_s = time.monotonic() + PATIENCE_S
            if self.outcome.stopped:
                ranks = [pair for sample in self._samples.values() for pair in sample.ranks.items()]
                self.outcome.busy_s = {
                    # A persistent rank may have started computing before this cell began.
                    rank: min(one.for_s, self._corrected_s)
                    for rank, one in ranks
                    if one.activity is Activity.COMPUTES
                }
                self._collect_stacks()
            self._drain_output()
        return self.outcome

    def _watch(self) -> None:
        while not (self.outcome.server_died or not self.running.alive or self.outcome.stopped or self._is_over()):
            if self._grace_end_s is None:
                self._grace_end_s = self._grace_end()
            if self._grace_end_s is not None and self._corrected_s >= self._grace_end_s:
                break
            for key, _ in self._selector.select(TICK_S):
                key.data()
            self.outcome.stopped = self.outcome.stopped or self._time_is_up()

    def _is_over(self) -> bool:
        """Return whether to stop watching although ranks are alive; in a run, never, because all its ranks end."""
        return False

    def _time_is_up(self) -> str:
        """Return why the run must be stopped now, or ''; after a failure, the grace period replaces the deadline."""
        if self._grace_end_s is None and self._corrected_s >= self.timeout_s:
            return DEADLINE
        return TOO_SLOW if time.monotonic() > self._wall_end_s else ""

    def _collect_stacks(self) -> None:
        """Make every rank write its stack, and collect the stacks; after a deadlock, they have already been written."""
        if self.outcome.stopped in {DEADLINE, INTERRUPTED}:
            self.running.ask_for_stacks(WriteStacks())
        end_s = self._corrected_s + STACKS_S
        while self._corrected_s < end_s and time.monotonic() < self._wall_end_s:
            self.outcome.stacks = self.running.new_stacks()
            ended = {*self.outcome.exit_codes, *self._returned()}
            if all(rank in ended or parse_stacks(dump) for rank, dump in enumerate(self.outcome.stacks)):
                return
            for key, _ in self._selector.select(0.05):
                key.data()
        self.outcome.stacks = self.running.new_stacks()

    def _grace_end(self) -> float | None:
        """Return the corrected time until which to wait after a failure, or None while no rank has failed."""
        failed = self.outcome.failed_ranks()
        if failed and not lost_a_peer(self.outcome.reports[failed[0]]):
            return self._corrected_s
        return self._corrected_s + GRACE_S if failed or self.outcome.lost_ranks() else None

    def _read_control(self, control: Connection) -> None:
        try:
            message = self.running.receive(control)
        except (EOFError, OSError):
            self.outcome.server_died = self.running.server
            return
        match message:
            case Ended(rank, exit_code):
                if rank not in self.outcome.reports:
                    self._read_report(rank)  # its report may still be in the pipe
                self.outcome.exit_codes[rank] = exit_code
            case NotStarted(reason):
                self.outcome.not_started = reason
            case Gone():
                self._samples.pop(control, None)
            case Sample():
                self._samples[control] = message
                self._take_over_samples()

    def _take_over_samples(self) -> None:
        """Combine the last samples from all servers; the run's time is the shortest corrected time among them."""
        if len(self._samples) < len(self.running.alive):
            return
        corrected_s = min(sample.corrected_s for sample in self._samples.values())
        if self._began_s is None:
            self._began_s = corrected_s
        self._corrected_s = max(self._corrected_s, corrected_s - self._began_s)
        if self._grace_end_s is None and not self.outcome.stopped:
            ranks = {rank: one for sample in self._samples.values() for rank, one in sample.ranks.items()}
            if self._deadlock.step(Sample(self._corrected_s, ranks), self._returned()) is State.CERTAIN:
                self.outcome.stopped = DEADLOCK

    def _returned(self) -> Collection[int]:
        """Return the ranks that will not enter any more collectives."""
        return self.outcome.reports

    def _read_report(self, rank: int) -> None:
        connection: Connection = self.running.reports[rank]
        if connection.closed or connection not in self._selector.get_map():
            return
        with suppress(OSError, ValueError):
            message, data = None, b"unread"
            while data and message is None:
                # Never wait for the rest of a message: a rank that has sent only half of it must not stop the clock.
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
        """Show the output that was written before the end, but do not wait for more."""
        for rank, output in enumerate(self.running.outputs):
            os.set_blocking(output, False)
            with suppress(BlockingIOError):
                for _ in range(MAX_NUM_READS):
                    self._printers[rank].feed(os.read(output, READ_SIZE))
            self._printers[rank].feed(b"")


class CellWatch(RunWatch):
    """The same loop for a cell on some persistent ranks; it ends when they have answered, and keeps all ranks alive."""

    def __init__(self, running: RunningRanks, ranks: Collection[int], *, timeout_s: float) -> None:
        super().__init__(running, timeout_s=timeout_s, show=True)
        self.ranks = ranks
        self.was_interrupted = False  # whether the user has stopped the cell
        self._alone_end_s: float | None = None  # corrected time at which ranks are interrupted after another's failure
        self._give_up_s: float | None = None  # corrected time at which interrupted ranks are given up
        for control in [*running.alive]:  # read samples from the last cell, and whether a rank has ended since then
            while not self.outcome.server_died and control.poll():
                self._read_control(control)
        self._samples.clear()
        self._began_s = None

    def run(self) -> RunOutcome:
        """Watch until all ranks of the cell have answered; if a rank ends, react as in a run."""
        outcome = super().run()
        self.running.send(SendSamples(False))
        return outcome

    def _watch(self) -> None:
        try:
            super()._watch()
        except KeyboardInterrupt:
            self.was_interrupted = True
            self._interrupt()
            super()._watch()

    def _interrupt(self) -> None:
        self.running.send(Interrupt())
        self._give_up_s = self._corrected_s + INTERRUPT_S

    def _is_over(self) -> bool:
        return all(rank in self.outcome.reports for rank in self.ranks)

    def _time_is_up(self) -> str:
        if self.outcome.failed_ranks() and self._alone_end_s is None:
            self._alone_end_s = self._corrected_s + ALONE_S
        if self._give_up_s is not None and self._corrected_s >= self._give_up_s:
            return INTERRUPTED
        if self._give_up_s is None and self._alone_end_s is not None and self._corrected_s >= self._alone_end_s:
            self._interrupt()
        return super()._time_is_up()

    def _grace_end(self) -> float | None:
        return self._corrected_s + GRACE_S if self.outcome.lost_ranks() else None

    def _returned(self) -> Collection[int]:
        others = {*range(len(self.running.reports))} - {*self.ranks}
        return others | self.outcome.reports.keys()
