"""How checks run an answer: in this process or on real ranks of this machine, or where a judge keeps it.

Everything that touches an answer goes through `call_answer` and `run_on_ranks`, with a driver of `coursekit.drivers`.
So a check is written once: in a notebook the answer is a function, in grading a `RemoteAnswer` that stands for a
function in a sandbox, to which only plain data travels and from which only plain data comes back.
"""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursekit import ranks
from coursekit.drivers.calls import Remote, call, with_horovod
from coursekit.drivers.places import OWN, left_in, settle_and_call

Left = dict[str, "bytes | None"]  # by path, what a rank left in its own folder; None for what is too long

TIMEOUT_S = 20.0
NUM_NODES = 2  # on which ranks believe to be: with one, ranks and local ranks would be the same
MAX_SHOWN_BYTES = 4 << 10  # of what an answer prints on each rank: a trial calls it many times


@dataclass(frozen=True)
class RemoteAnswer(Remote):
    """A function of a student's, by its name in the notebook, that lives elsewhere; calling it calls that one."""

    name: str
    elsewhere: Any  # where it lives: `Sandboxed` of the judge, with its methods `call` and `run`

    def __call__(self, *args: Any) -> Any:
        """Call the function where it lives."""
        return call_answer(call, self, *args)


class AnswerError(Exception):
    """What an answer that lives elsewhere raised; `error_type` is the name of its exception."""

    def __init__(self, error_type: str, text: str) -> None:
        super().__init__(text)
        self.error_type = error_type


def call_answer(driver: Callable[..., Any], *args: Any, timeout_s: float = TIMEOUT_S) -> Any:
    """Call `driver(*args)`, a function of `coursekit.drivers`, in the process that holds the answers among `args`.

    These are answers, drivers and plain data: numbers, text, NumPy arrays, and lists, tuples, dictionaries of them.
    A judge gives it `timeout_s`; in a notebook the cell's own limit holds.
    """
    elsewhere = _elsewhere(args)
    return elsewhere.call(driver, args, timeout_s=timeout_s) if elsewhere else driver(*args)


def run_on_ranks(driver: Callable[..., Any], *args: Any, **launch: Any) -> list[Any]:
    """Call `driver(*args)` on ranks; return what it returned, in rank order. Settings are those of `run_and_look`."""
    return run_and_look(driver, *args, look=False, **launch)[0]


def run_and_look(  # noqa: PLR0913  # the settings of a launch
    driver: Callable[..., Any],
    *args: Any,
    num_ranks: int,
    wrapper: Callable[..., Any] = with_horovod,  # `call` where the answer initialises Horovod itself, or does without
    ranks_per_node: int | None = None,  # so many believe to be on one node; by default all are on two nodes
    timeout_s: float = TIMEOUT_S,  # for the whole launch
    private: Sequence[Any] | None = None,  # for each rank a value that a judge shows to this rank alone
    look: bool = True,  # whether to return what each rank leaves in its own folder, seen when all are gone
) -> tuple[list[Any], list[Left]]:
    """Call `driver(*args)` on ranks, on CPUs of this machine, also inside an allocation; `places` says what it finds.

    Returns what the driver returned, and what was left, in rank order.

    In a notebook, what an answer prints is shown, each line marked with its rank, and nothing of what goes to stderr.
    The properties are the same there, and a check must not wait for job steps or need a GPU for each of its ranks.
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
