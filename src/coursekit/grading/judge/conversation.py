"""What the judge asked and what came back: first from a sandbox, then, when all of it is dead, from the record."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coursekit.grading.inside import wire
from coursekit.grading.judge.running import Fault, Running

if TYPE_CHECKING:
    from collections.abc import Sequence

Reply = dict[str, Any]


@dataclass
class Exchange:
    """One request, by its digest, and its reply, as `wire` writes it."""

    digest: str
    reply: bytes


MAX_RECORD_BYTES = 256 << 20  # of all replies to the judge, which are kept in its memory


@dataclass
class Live:
    """A conversation with a sandbox, written down."""

    run: Running
    limit_s: float
    num_bytes_left: int = MAX_RECORD_BYTES
    exchanges: list[Exchange] = field(default_factory=list)

    def ask(self, request: Reply, timeout_s: float) -> Reply:
        """Ask the sandbox, unless the time for the submission is used up."""
        if self.run.own_s >= self.limit_s:
            words = f"not tried, since the {self.limit_s:g} s for the whole notebook were used up"
            reply: Reply = {"error": ["TimeoutError", words]}
        elif self.num_bytes_left < 0:
            reply = {"error": ["OutputError", "not tried, since too much was returned before"]}
        else:
            reply = self.run.ask(request, timeout_s)
        data = wire.dumps(reply)
        self.num_bytes_left -= len(data)
        self.exchanges.append(Exchange(_digest(request), data))
        return reply


class Recorded:
    """The same conversation once more, from its record; it can stand wherever `Live` can."""

    def __init__(self, exchanges: Sequence[Exchange]) -> None:
        self._left = list(exchanges)

    def ask(self, request: Reply, timeout_s: float) -> Reply:
        """Return the reply that was written down.

        Raises:
            Fault: the judge asks something else than the first time.
        """
        del timeout_s
        exchange = self._left.pop(0) if self._left else Exchange("", b"")
        if exchange.digest != _digest(request):
            raise Fault("the judgement could not be repeated from its record")
        reply: Reply = wire.loads(exchange.reply)
        return reply


def _digest(request: Reply) -> str:
    return hashlib.sha256(wire.dumps(request)).hexdigest()
