"""How checks run an answer: in this process, on real ranks of this machine, or where the judge keeps it.

Everything that touches an answer goes through `call_answer` and `run_on_ranks`, with a driver from `coursekit.drivers`.
So each check is written only once. In a notebook the answer is a function; in grading it is a `RemoteAnswer`, which
stands for a function in a sandbox. Only plain data is sent to the sandbox, and only plain data comes back.
"""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursekit import ranks
from coursekit.drivers.calls import Remote, call, with_horovod
from coursekit.drivers.places import OWN, left_in, settle_and_call

Left = dict[str, "bytes | None"]  # by path, the content of each file in a rank's own folder; None for a long file

TIMEOUT_S = 20.0
NUM_NODES = 2  # on which the ranks believe they run: with one node, rank and local rank would be equal
MAX_SHOWN_BYTES = 4 << 10  # of an answer's output on each rank, because a trial calls the answer many times


@dataclass(frozen=True)
class RemoteAnswer(Remote):
    """A student's function in another process, known by its name in the notebook; calls are sent to that process."""

    name: str
    elsewhere: Any  # where it lives: the judge's `Sandboxed`, with its methods `call` and `run`

    def __call__(self, *args: Any) -> Any:
        """Call the function where it lives."""
        return call_answer(call, self, *args)


class AnswerError(Exception):
    """An exception that an answer raised in another process; `error_type` is the name of its type."""

    def __init__(self, error_type: str, text: str) -> None:
        super().__init__(text)
        self.error_type = error_type


def call_answer(driver: Callable[..., Any], *args: Any, timeout_s: float = TIMEOUT_S) -> Any:
    """Call `driver(*args)`, a function of `coursekit.drivers`, in the process that holds the answers among `args`.

    The arguments are answers, drivers and plain data: numbers, text, NumPy arrays, and lists, tuples or dictionaries
    of these. The judge limits the call to `timeout_s`; in a notebook, the cell's own time limit applies.
    """
    elsewhere = _elsewhere(args)
    return elsewhere.call(driver, args, timeout_s=timeout_s) if elsewhere else driver(*args)


def run_on_ranks(driver: Callable[..., Any], *args: Any, **launch: Any) -> list[Any]:
    """Call `driver(*args)` on ranks, and return the results in rank order; for the settings, see `run_and_look`."""
    return run_and_look(driver, *args, look=False, **launch)[0]


def run_and_look(  # noqa: PLR0913  # the settings of a launch
    driver: Callable[..., Any],
    *args: Any,
    num_ranks: int,
    wrapper: Callable[..., Any] = with_horovod,  # `call` if the answer initialises Horovod itself or does not use it
    ranks_per_node: int | None = None,  # how many ranks believe that they share a node; by default there are two nodes
    timeout_s: float = TIMEOUT_S,  # for the whole launch
    private: Sequence[Any] | None = None,  # for each rank, a value that the judge shows only to that rank
    look: bool = True,  # whether to return the files that each rank left in its own folder when all had ended
) -> tuple[list[Any], list[Left]]:
    """Call `driver(*args)` on ranks that use this machine's CPUs, even inside an allocation.

    Returns the results and the files left behind, both in rank order. The module `places` describes what a rank finds.

    A notebook shows what an answer prints, each line marked with its rank, but nothing from stderr.
    CPUs show the same properties as GPUs, and a check must not wait for job steps or need a GPU for each rank.
    """
    per_node = ranks_per_node or -(-num_ranks // NUM_NODES)
    launch: dict[str, Any] = {"num_ranks": num_ranks, "ranks_per_node": per_node, "timeout_s": timeout_s}
    elsewhere = _elsewhere((driver, *args))
    if elsewhere:
        found: tuple[list[Any], list[Left]] = elsewhere.run(wrapper, (driver, *args), private, look=look, **launch)
        return found
    with tempfile.TemporaryDirectory(prefix="check-") as parent:
        launch |= {"use_gpus": False, "show_output": MAX_SHOWN_BYTES}
        results = ranks.run(settle_and_call, parent, private, wrapper, driver, *args, **launch)
        return results, [left_in(Path(parent, OWN.format(rank))) for rank in range(num_ranks)] if look else []


def _elsewhere(args: tuple[Any, ...]) -> Any:
    return next((arg.elsewhere for arg in args if isinstance(arg, RemoteAnswer)), None)
