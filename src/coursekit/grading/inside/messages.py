"""What a judge asks of a launcher and a launcher of a shell; each travels as a dictionary of plain data (`wire`)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from coursekit.grading.inside import wire


class TimedCell(NamedTuple):
    """A cell of a student's notebook, which should end within `timeout_s` of the shell's own time.

    With `definitions_only` the rest of it is not run.
    """

    name: str
    source: str
    timeout_s: float
    definitions_only: bool = False


@dataclass(frozen=True)
class DriverLaunch:
    """A driver to be called on ranks.

    Attributes:
        call: the driver and its arguments, as `wire` writes them.
        names: of the answers among the arguments.
        look: whether to return what each rank has left in its own folder.
        inputs: for each rank its seed and what it alone may know, as `wire` writes them.
    """

    call: bytes
    names: list[str]
    num_ranks: int
    ranks_per_node: int
    timeout_s: float
    look: bool
    inputs: list[bytes]


class ShellReply(NamedTuple):
    """What came of a request to the shell: a value, or else the name of an exception and its text."""

    value: Any = None
    error: list[str] | None = None


def read_reply(data: bytes, number: int) -> ShellReply | None:
    """Return the reply to the request of this number; None for all other bytes, which may come from anybody."""
    with suppress(wire.NotPlainError):
        parts = wire.loads(data)
        told = parts.pop("number", None) if isinstance(parts, dict) else None
        is_reply = type(told) is int and told == number
        if is_reply and (parts.keys() == {"value"} or (parts.keys() == {"error"} and is_words(parts["error"]))):
            return ShellReply(**parts)
    return None


def is_words(error: object) -> bool:
    """Whether this is the name of an exception and its text."""
    return isinstance(error, list) and [type(word) for word in error] == [str, str]
