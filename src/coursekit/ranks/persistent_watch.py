"""Watch one cell on persistent ranks: it is over when those it was for have answered, and not when they end."""

from __future__ import annotations

import sys
from collections.abc import Collection

from coursekit.ranks.explain import INTERRUPTED
from coursekit.ranks.request import RunningRanks
from coursekit.ranks.watch import GRACE_S, RunWatch

# After a failure the other ranks may wait for the one that failed: when all of them do nothing for so long, of own
# time, they are interrupted.
ALONE_S = 2.0
# Of own time in which a rank must come back from an interrupt. One that waits in Horovod never does.
INTERRUPT_S = 2.0


class PersistentWatch(RunWatch):
    """The loop over what ranks say while a cell runs on some of them.

    Args:
        running: all the persistent ranks.
        ranks: those that the cell is for.
        timeout_s: seconds of own time after which the ranks are ended.
        grouped: whether to show what they print when all have answered, rank by rank, and not at once.
    """

    def __init__(self, running: RunningRanks, ranks: Collection[int], *, timeout_s: float, grouped: bool) -> None:
        super().__init__(running, timeout_s=timeout_s, show=True)
        self.ranks = ranks
        self.was_interrupted = False
        self._began_s: float | None = None
        self._busy_s = 0.0  # own time when a rank that has not answered was last seen doing something
        self._give_up_s: float | None = None  # own time when those that do not come back are given up
        self._texts: list[list[str]] = [[] for _ in self._printers]
        if grouped:
            for printer, texts in zip(self._printers, self._texts):
                printer.write = texts.append

    def _watch(self) -> None:
        for control in self.running.controls:
            while not self.outcome.server_died and control.poll():
                self._read_control(control)
        self._pulses.clear()  # those of the cell before
        try:
            self.running.tell("watch")
            try:
                super()._watch()
            except KeyboardInterrupt:
                self._interrupt()
                self.was_interrupted = True
                super()._watch()
            self.running.tell("rest")
        except OSError:
            self.outcome.server_died = True

    def _drain_output(self) -> None:
        super()._drain_output()
        for texts in self._texts:
            sys.stdout.writelines(texts)

    def _interrupt(self) -> None:
        self.running.tell("interrupt")
        self._give_up_s = self._own_s + INTERRUPT_S

    def _is_over(self) -> bool:
        return all(rank in self.outcome.reports for rank in self.ranks)

    def _time_is_up(self) -> str:
        if self._give_up_s is not None and self._own_s >= self._give_up_s:
            return INTERRUPTED
        return super()._time_is_up()

    def _grace_end(self) -> float | None:
        return self._own_s + GRACE_S if self.outcome.lost_ranks() else None

    def _since_start(self, own_s: float) -> float:
        if self._began_s is None:
            self._began_s = own_s
        return own_s - self._began_s

    def _returned(self) -> Collection[int]:
        others = {*range(len(self.running.reports))} - {*self.ranks}
        return others | self.outcome.reports.keys()

    def _feel_pulses(self) -> None:
        super()._feel_pulses()
        returned = self._returned()
        marks = [mark for pulse in self._pulses.values() for rank, mark in pulse.marks.items() if rank not in returned]
        if not self.outcome.failed_ranks() or not all(mark.is_quiet for mark in marks):
            self._busy_s = self._own_s
        elif self._give_up_s is None and self._own_s >= self._busy_s + ALONE_S:
            self._interrupt()
