"""The plainest drivers, and what stands for an answer that is not here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Remote:
    """A function of another process, to which it travels as its name there."""

    name: str


def call(answer: Callable[..., Any], *args: Any) -> Any:
    """Call the answer."""
    return answer(*args)


def with_horovod(function: Callable[..., Any], *args: Any) -> Any:
    """Call the answer, or a driver with it, on a rank on which Horovod is initialised already."""
    import horovod.tensorflow as hvd  # noqa: PLC0415  # only ranks import it

    hvd.init()
    return function(*args)
