"""The plainest drivers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def call(answer: Callable[..., Any], *args: Any) -> Any:
    """Call the answer."""
    return answer(*args)


def with_horovod(function: Callable[..., Any], *args: Any) -> Any:
    """Call the answer, or a driver with it, on a rank on which Horovod is initialised already."""
    import horovod.tensorflow as hvd  # noqa: PLC0415  # only ranks import it

    hvd.init()
    return function(*args)
