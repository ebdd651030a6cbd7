"""Run one submission inside the sandbox: a shell for its cells, and ranks when the judge asks for them.

This process runs no student code. Each process that runs student code has separate namespaces, so that it cannot reach
this process, which knows each rank's private value.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import tempfile
from collections.abc import Callable
from dataclasses import astuple, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import cloudpickle

from coursekit.corrected_time import TooSlowError
from coursekit.drivers.places import Place, left_in, settle
from coursekit.environ import HIDE_GPUS
from coursekit.grading.inside import wire
from coursekit.grading.inside.shell_process import ShellGoneError, ShellProcess, ShellReply, is_words
from coursekit.grading.inside.wire import TimedCell
from coursekit.grading.isolation.namespaces import OWN, Allowance, enter
from coursekit.grading.isolation.sandbox import HIDDEN, SHARED
from coursekit.ranks.context import fill_nodes
from coursekit.ranks.explain import TOO_SLOW
from coursekit.ranks.fork_client import ForkedServer
from coursekit.ranks.protocol import INPUT_VARIABLE, RunSpec
from coursekit.ranks.rank_process import seed_all
from coursekit.ranks.server_handle import RunningRanks
from coursekit.ranks.watch import RunWatch

MAX_NUM_RESTARTS = 3  # of the shell, after cells or calls that never ended
# Corrected time. A cell that has used up its time is interrupted, so that the shell and the names in it stay. If the
# cell does not end within this grace period, the shell is killed.
GRACE_S = 3.0
MAX_NUM_PORTS = 8000  # ports in use in the slot, of about 28,000; each launch keeps a few dozen for a minute
NO_SHELL = "the process for the student's cells did not start"
HELLO_TIMEOUT_S = 60.0  # corrected time, before any student code runs


class IsolationError(Exception):
    """The kit could not start or isolate a process; this is not the student's fault."""


def serve(channel: Connection, settings: dict[str, Any]) -> None:
    """Answer the judge's requests until the judge ends the submission; `settings` are the arguments of `Allowance`."""
    submission = _Submission(channel, settings)
    answers: dict[str, Any] = {"cells": submission.run_cells, "call": submission.call, "launch": submission.launch}
    try:
        while True:
            # This comes before a request is read: the request holds each rank's private value, and a new shell is a
            # fork of this process.
            fault = _told(submission.revive_shell)
            request = wire.loads(channel.recv_bytes())
            op = request.pop("op")
            if op == "end":
                return
            channel.send_bytes(_packed(fault or _told(functools.partial(answers[op], **request))))
            del request
    finally:
        submission.close()


def _told(answer: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the result of `answer` for the judge or, if the machine failed, a reply that says why."""
    try:
        return answer()
    except (IsolationError, TooSlowError) as error:
        return {"fault": str(error)}


def lacks_ports() -> bool:
    """Return whether too many ports of the slot's loopback are in use.

    Closed connections also count, as long as they still hold a port.
    """
    told = Path("/proc/net/sockstat").read_text()
    return sum(map(int, re.findall(r"^TCP: inuse (\d+) .*tw (\d+)", told, re.MULTILINE)[0])) > MAX_NUM_PORTS


def _packed(reply: dict[str, Any]) -> bytes:
    """Return a reply as a message for the judge; a reply that answers have made too large is replaced by an error."""
    with contextlib.suppress(wire.NotPlainError):
        return wire.checked(wire.dumps({"reply": reply}), wire.MAX_NUM_BYTES)
    return wire.dumps({"reply": {"error": ["OutputError", "the returned data is too large"]}})


class _Submission:
    def __init__(self, channel: Connection, settings: dict[str, Any]) -> None:
        self.allowance = Allowance(**settings)
        self.folder = Path(tempfile.mkdtemp(prefix="submission-"))
        self.server = ForkedServer()
        self.channel = channel
        self.cells: list[TimedCell] = []  # the cells run so far, which a new shell runs again
        self.shell: ShellProcess | None = None
        self.num_starts = 0
        self.num_launches = 0

    def close(self) -> None:
        """End the shell and the ranks."""
        if self.shell:
            self.shell.close()
        self.server.close()

    def run_cells(self, cells: list[list[Any]]) -> dict[str, Any]:
        """Run cells in order, and return the error and the output of each."""
        return {"cells": [self._run_cell(TimedCell(*parts)) for parts in cells]}

    def _run_cell(self, cell: TimedCell) -> dict[str, Any]:
        try:
            shell = self._running_shell()
            value, error = shell.ask("cell", grace_s=GRACE_S, **cell._asdict())
        except ShellGoneError as gone:
            self.cells.append(cell._replace(definitions_only=True))
            output = self.shell.take_output() if self.shell else ""
            return {"name": cell.name, "error": gone.words(cell.timeout_s), "output": output}
        self.cells.append(cell._replace(definitions_only=cell.definitions_only or shell.interrupted))
        told = value if error is None else error
        if shell.interrupted:
            told = ShellGoneError("timeout").words(cell.timeout_s)
        if told is not None and not is_words(told):
            told = ["OddReply", "the process sent a reply in the wrong form"]
        return {"name": cell.name, "error": told, "output": shell.take_output(), "num_odd": shell.num_odd}

    def revive_shell(self) -> dict[str, Any]:
        """If the shell has ended, start a new one; do nothing if no shell was started yet."""
        if self.shell:
            with contextlib.suppress(ShellGoneError):
                self._running_shell()
        return {}

    def _running_shell(self) -> ShellProcess:
        """Return a shell in which the cells have been run; start a new one if there is none or it has ended.

        Only `revive_shell` and `run_cells` may call this method.
        """
        while self.shell is None or not self.shell.alive:
            if self.num_starts > MAX_NUM_RESTARTS:
                raise ShellGoneError("restarts")
            self.num_starts += 1
            self.shell = self._start_shell()
            self._replay(self.shell)
        return self.shell

    def _start_shell(self) -> ShellProcess:
        try:
            shell = ShellProcess(functools.partial(enter, self.allowance), [self.channel, self.server])
        except OSError as error:
            raise IsolationError(f"{NO_SHELL} ({error})") from None
        try:
            shell.ask("hello", HELLO_TIMEOUT_S)
        except ShellGoneError as error:  # no student code has run in it yet
            raise IsolationError(f"{NO_SHELL} ({error}): {shell.take_output()[-1000:]}") from None
        return shell

    def _replay(self, shell: ShellProcess) -> None:
        """Run all earlier cells again in a new shell.

        If a cell ends the shell, only the cell's definitions will be run next time. If these end the shell too, the
        cell is dropped.
        """
        num_run = 0
        try:
            for cell in self.cells:
                shell.ask("cell", grace_s=GRACE_S, **cell._asdict())
                num_run += 1
        except ShellGoneError:
            cell = self.cells[num_run]
            rest = [] if cell.definitions_only else [cell._replace(definitions_only=True)]
            self.cells[num_run : num_run + 1] = rest

    def _ask(self, op: str, timeout_s: float, **parts: Any) -> ShellReply:
        if self.shell is None or not self.shell.alive:
            return ShellReply(error=ShellGoneError("restarts").words(timeout_s))
        try:
            return self.shell.ask(op, timeout_s, **parts)
        except ShellGoneError as error:
            return ShellReply(error=error.words(timeout_s))

    def call(self, call: bytes, timeout_s: float) -> dict[str, Any]:
        """Call a driver in the shell; return its value or its error, and the number of odd messages so far."""
        value, error = self._ask("call", timeout_s, call=call)
        told = {"value": value} if error is None else {"error": error}
        return {**told, "num_odd": self.shell.num_odd if self.shell else 0}

    def launch(  # noqa: PLR0913, PLR0917  # the settings of a launch
        self,
        call: bytes,
        names: list[str],
        num_ranks: int,
        ranks_per_node: int,
        timeout_s: float,
        look: bool,
        inputs: list[bytes],
    ) -> dict[str, Any]:
        """Call a driver on ranks; return how they ended, with the fields of `coursekit.ranks.explain.RunOutcome`.

        `call` holds the driver and its arguments, `names` are the names of the answers among these arguments, and
        `inputs` holds each rank's seed and private value. If `look` is true, the reply also lists the files that each
        rank left in its own folder.
        """
        packed, error = self._ask("pack", timeout_s, names=names)
        if error is None and not isinstance(packed, bytes):
            error = ["TypeError", "the answers cannot be sent to the ranks, because they cannot be pickled"]
        if error is None and lacks_ports():
            error = ["OSError", f"no ranks were started: more than {MAX_NUM_PORTS} connections are open"]
        if error is not None:
            return {"error": error}
        self.num_launches += 1
        folder = self.folder / f"launch-{self.num_launches}"
        shared, *own = (folder / name for name in ("shared", *map(str, range(num_ranks))))
        for path in (shared, *own):
            path.mkdir(parents=True)
        spec = RunSpec(
            call=cloudpickle.dumps((drive, (call, packed), {})),
            num_ranks=num_ranks,
            seed=0,  # each rank gets its own seed, see `drive`
            folder=HIDDEN[0],  # private to each rank
            returns_bytes=True,
        )
        nodes, environ = fill_nodes(num_ranks, ranks_per_node), {**os.environ, **HIDE_GPUS}
        isolate = functools.partial(_isolate_rank, replace(self.allowance, shared=shared), own)
        reply = self._watch(self.server.launch(spec, environ, nodes, inputs, isolate), num_ranks, timeout_s)
        # Look into the folders only now that all ranks have ended: what a rank itself reports about its files proves
        # nothing.
        return {**reply, "left": [left_in(path) for path in own] if look else []}

    def _watch(self, running: RunningRanks, num_ranks: int, timeout_s: float) -> dict[str, Any]:
        max_bytes = wire.MAX_REPLY_BYTES // num_ranks
        try:
            outcome = RunWatch(running, timeout_s=timeout_s, show=False, max_report_bytes=max_bytes).run()
        finally:
            if not running.stop():
                self.server.close()
                self.server = ForkedServer()
        if outcome.not_started or outcome.server_died:
            raise IsolationError(outcome.not_started or "the server that starts ranks has died")
        if outcome.stopped == TOO_SLOW:
            raise TooSlowError("the machine was too slow to tell whether the ranks would end", "machine.too-slow")
        reports = [[rank, *astuple(report)] for rank, report in outcome.reports.items()]
        kept = {"exit_codes": outcome.exit_codes, "stopped": outcome.stopped, "stacks": outcome.stacks}
        return {"reports": reports, **kept}


def _isolate_rank(allowance: Allowance, own: list[Path], rank: int | None) -> None:
    """Start a new, isolated process and return in it; the process sees only this rank's own folder.

    A launcher, for which `rank` is None, sees no rank's folder.
    """
    enter(allowance if rank is None else replace(allowance, own=own[rank]))


def drive(call: bytes, packed: bytes) -> bytes:
    """Call the driver in `call` on a rank, with the answers in `packed`; return its result, encoded by `wire`."""
    # The seed and the private value come in a file that only this rank gets.
    with os.fdopen(int(os.environ.pop(INPUT_VARIABLE)), "rb") as own_input:
        seed, private = wire.loads(own_input.read())
    seed_all(seed)
    settle(Place(private, Path(OWN), Path(SHARED)))
    driver, args = wire.loads(call, cloudpickle.loads(packed))
    return wire.dumps(driver(*args))
