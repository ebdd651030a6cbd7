"""How checks reach answers in a sandbox: each call and each launch becomes a request in plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coursekit.checks.on_ranks import AnswerError, RemoteAnswer
from coursekit.checks.random_inputs import fresh_rng
from coursekit.grading.inside import wire
from coursekit.grading.inside.messages import DriverLaunch
from coursekit.grading.judge.running import Fault
from coursekit.ranks import RankError
from coursekit.ranks.launch import results_of
from coursekit.ranks.outcome import TOO_SLOW, RunOutcome
from coursekit.ranks.worker import Report

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coursekit.checks.on_ranks import Left
    from coursekit.grading.judge.conversation import Live, Recorded


class Sandboxed:
    """Answers at the other end of a conversation; an `Elsewhere` for `coursekit.checks`."""

    def __init__(self, conversation: Live | Recorded) -> None:
        self.conversation = conversation

    def call(self, driver: Callable[..., Any], args: tuple[Any, ...], *, timeout_s: float) -> Any:
        """Call a driver in the process that holds the student's cells.

        Raises:
            AnswerError: the answer raised an exception, or did not return in time.
        """
        request = {"op": "call", "call": wire.dumps([driver, args]), "timeout_s": timeout_s}
        reply = self.conversation.ask(request, timeout_s)
        if "error" in reply:
            raise AnswerError(*reply["error"])
        return reply["value"]

    def run(  # noqa: PLR0913  # the settings of a launch
        self,
        driver: Callable[..., Any],
        args: tuple[Any, ...],
        *,
        num_ranks: int,
        ranks_per_node: int,
        timeout_s: float,
        private: Sequence[Any] | None,
        look: bool,
    ) -> tuple[list[Any], list[Left]]:
        """Call a driver on ranks, each with a seed and a private value of its own.

        Raises:
            RankError: as `ranks.run`.
            Fault: the machine was too slow.
            TypeError: an answer cannot be sent to ranks, as with `ranks.run`.
            AnswerError: an answer is not there, or the launch did not come about in time.
        """
        seeds = fresh_rng().integers(2**32, size=num_ranks).tolist()
        own = [None] * num_ranks if private is None else private
        launch = DriverLaunch(
            call=wire.dumps([driver, args]),
            names=[arg.name for arg in args if isinstance(arg, RemoteAnswer)],
            num_ranks=num_ranks,
            ranks_per_node=ranks_per_node,
            timeout_s=timeout_s,
            look=look,
            inputs=[wire.dumps([seed, value]) for seed, value in zip(seeds, own)],
        )
        reply = self.conversation.ask({"op": "launch", **vars(launch)}, 2 * timeout_s)
        if "error" in reply:
            kind, text = reply["error"]
            raise TypeError(text) if kind == "TypeError" else AnswerError(kind, text)
        reports = {rank: Report(*words) for rank, *words in reply["reports"]}
        outcome = RunOutcome(reports, dict(reply["exit_codes"]), reply["stopped"], reply["stacks"])
        if outcome.stopped == TOO_SLOW:
            raise Fault("the machine was too slow to tell whether the ranks would end: it needs another run")
        return results_of(outcome, num_ranks, timeout_s, _value), reply["left"]


def _value(rank: int, data: bytes) -> Any:
    try:
        return wire.loads(data)
    except wire.NotPlainError as error:
        raise RankError(f"rank {rank} returned {error}", rank=rank) from None
