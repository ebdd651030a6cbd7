"""Persistent ranks: they run cell after cell, and each rank keeps its variables.

They are meant for exploring; `ranks.run` and `%%ranks 4` start fresh processes each time.
"""

from __future__ import annotations

import atexit
import math
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Any, cast

from coursekit.environ import scrubbed
from coursekit.errors import Cause, Interrupted
from coursekit.ranks.explain import INTERRUPTED, RankError, explain_failure
from coursekit.ranks.launch import check_numbers, checked_environ, error_of, server_for, value_of
from coursekit.ranks.pickling import dumps
from coursekit.ranks.protocol import RunSpec
from coursekit.ranks.server_handle import RunningRanks
from coursekit.ranks.watch import CellWatch

LOST = Cause(
    "The persistent ranks were stopped, and their variables are lost; `%ranks restart` starts new ones.",
    "persistent-ranks.lost",
)
KEPT = "the ranks keep running, with their variables"
START_TIMEOUT_S = 60.0


class PersistentRanks(AbstractContextManager["PersistentRanks"]):
    """Persistent ranks; they run until `stop`, the end of a `with` block, or the end of this process.

    The settings are the same as for `ranks.run`. If ranks cannot be started, a `RankError` says why.
    """

    def __init__(  # noqa: PLR0913  # settings with good defaults, all but the first by keyword
        self,
        num_ranks: int = 2,
        *,
        seed: int | None = None,
        num_threads: int = 1,
        ranks_per_node: int | None = None,
        use_gpus: bool | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        check_numbers(num_ranks, START_TIMEOUT_S, ranks_per_node)
        self.num_ranks = num_ranks
        self._extra = checked_environ(environ)
        self._shared = server_for(num_ranks, ranks_per_node)
        self._ranks_per_node, self._use_gpus = ranks_per_node or num_ranks, use_gpus
        self._seed, self._num_threads = seed, num_threads
        self._owner = os.getpid()
        self._running: RunningRanks | None = None
        self.restart()

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def are_there(self) -> bool:
        """Whether the ranks are waiting for cells; False if they were stopped, or were ended because a cell failed."""
        return self._running is not None

    def restart(self) -> None:
        """Stop the ranks and start new ones, which have no variables."""
        self.stop()
        spec = RunSpec(b"", self.num_ranks, self._seed, self._num_threads, persists=True)
        self._server, environ = self._shared.take(), {**scrubbed(), **self._extra}
        try:
            self._running = self._server.start(spec, environ, self._ranks_per_node, use_gpus=self._use_gpus)
            self._wait(range(self.num_ranks), START_TIMEOUT_S)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End all processes of the ranks; this may be called twice."""
        running, self._running = self._running, None
        if running is None:
            return
        if self._owner == os.getpid() and running.stop():
            self._shared.give_back(self._server)
        else:
            self._server.close()

    def cell(
        self,
        function: Callable[..., Any],
        *args: Any,
        ranks: Sequence[int] | None = None,
        timeout_s: float = math.inf,
    ) -> list[Any]:
        """Call `function(namespace, *args)` on all ranks, or only on `ranks`; return the results in the same order.

        Errors are raised as in `ranks.run`; the message says whether the ranks keep running or were ended.
        """
        if self._running is None:
            raise RankError(*LOST)
        wanted = list(range(self.num_ranks)) if ranks is None else list(ranks)
        wrong = [rank for rank in wanted if not 0 <= rank < self.num_ranks]
        if wrong or not wanted:
            named = ", ".join(map(str, wrong)) or "none"
            raise ValueError(f"expected ranks from 0 to {self.num_ranks - 1}, got {named}")
        call = dumps((function, args, {}))
        for rank in wanted:
            with suppress(OSError):  # the rank has ended; its server will report this
                self._running.reports[rank].send_bytes(call)
        return self._wait(wanted, timeout_s)

    def _wait(self, wanted: Sequence[int], timeout_s: float) -> list[Any]:
        running = cast("RunningRanks", self._running)
        watch = CellWatch(running, wanted, timeout_s=timeout_s)
        all_back = False
        try:
            outcome = watch.run()
            all_back = not outcome.server_died and outcome.reports.keys() >= {*wanted}
        finally:
            if not all_back:
                self.stop()
        if not all_back:
            if watch.was_interrupted and outcome.stopped:
                outcome.stopped = INTERRUPTED  # ranks that wait for an interrupted rank may look deadlocked
            elif outcome.failed_ranks():
                outcome.stopped = ""  # the other ranks were interrupted because of this failure
            raise error_of(outcome, timeout_s, f"\n\n{LOST}")
        if watch.was_interrupted:
            raise Interrupted(str(Cause(f"you stopped this cell; {KEPT}", "cell.interrupted")))
        if outcome.failed_ranks():
            message, rank = explain_failure(outcome, KEPT)
            raise RankError(message, rank=rank)
        values = [outcome.reports[rank].value for rank in wanted]
        return [None if value is None else value_of(rank, value) for rank, value in zip(wanted, values)]


NO_RANKS = Cause(
    "no persistent ranks are running: start some with `%ranks start -n 2`, or in Python with `ranks.start(2)`",
    "persistent-ranks.none",
)
_current: list[PersistentRanks] = []


def start(num_ranks: int = 2, **settings: Any) -> PersistentRanks:
    """Start persistent ranks, which replace any earlier ones; the settings are those of `PersistentRanks`."""
    stop()
    _current.append(PersistentRanks(num_ranks, **settings))
    return _current[-1]


def started() -> PersistentRanks | None:
    """Return the ranks that were started last, or None if they were stopped; they may have ended after a failure."""
    return _current[-1] if _current else None


def required() -> PersistentRanks:
    """Return the persistent ranks; raise a `RankError` if there are none."""
    if not _current:
        raise RankError(*NO_RANKS)
    return _current[-1]


def push(**values: Any) -> None:
    """Set variables with these names on the persistent ranks; values are plain data, arrays or functions."""
    required().cell(dict.update, values)


def pull(name: str) -> list[Any]:
    """Return the values of a variable on all persistent ranks."""
    return required().cell(_get, name)


def stop() -> None:
    """End the persistent ranks, if there are any."""
    while _current:
        _current.pop().stop()


def _get(namespace: dict[str, Any], name: str) -> Any:
    if name not in namespace:
        raise NameError(f"name {name!r} is not defined on this rank")
    return namespace[name]


atexit.register(stop)
# A forked child closes its copies of the sockets; otherwise the server would not notice when the parent ends.
os.register_at_fork(after_in_child=stop)
