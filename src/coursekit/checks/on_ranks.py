"""How checks run an answer: on real ranks, quietly, on this machine's CPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coursekit import ranks

if TYPE_CHECKING:
    from collections.abc import Callable

TIMEOUT_S = 20.0


def run_here(
    function: Callable[..., Any],
    *args: Any,
    num_ranks: int,
    ranks_per_node: int | None = None,
    timeout_s: float = TIMEOUT_S,
) -> list[Any]:
    """Run quietly on CPUs of this machine, also inside an allocation.

    The properties are the same there, and a check must not wait for job steps or need a GPU for each of its ranks.
    """
    return ranks.run(
        function,
        *args,
        num_ranks=num_ranks,
        ranks_per_node=ranks_per_node or num_ranks,
        timeout_s=timeout_s,
        use_gpus=False,
        show_output=False,
    )


def with_horovod(function: Callable[..., Any], *args: Any) -> Any:
    """Call the answer on a rank on which Horovod is initialised already."""
    import horovod.tensorflow as hvd  # noqa: PLC0415  # only ranks import it

    hvd.init()
    return function(*args)
