"""The trial of an answer: it runs once on real ranks of this machine, and all checks read its results."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from coursekit.checks.check import NOT_ANSWERED, CheckError, describe, require
from coursekit.checks.on_ranks import Left, run_and_look
from coursekit.checks.private_data import PrivateInputs, check_sent
from coursekit.checks.steps import Steps, steps_of
from coursekit.drivers.probe_model import Array
from coursekit.errors import codes_in
from coursekit.ranks import RankError

RANKS_PER_NODE = 2  # so three ranks are on two nodes, where rank and local rank differ
TIMEOUT_S = 45.0  # nine times as long as an idle machine with two cores takes
SAMPLES_PER_FILE = (5, 3, 6, 4, 5, 4, 3)  # unequal, as in ImageNet; no world size in a trial divides the files evenly


@dataclass(frozen=True, eq=False)
class Trial:
    """The results of one launch on real ranks; each trial is equal only to itself."""

    num_ranks: int
    results: Sequence[Any] = ()  # what each rank returned, in rank order
    error: str = ""  # why the launch failed
    private: PrivateInputs = ()  # for each rank, the values that no other rank knew
    left: Sequence[Left] = ()  # the files in each rank's own folder, read from outside, if the launch asked for them
    on: "Callable[[int], Trial] | None" = None  # returns the answer's trial on another number of ranks, run once
    changed: Callable[[], str] = str  # returns the name of an answer that the notebook has redefined, else ''

    def of_ranks(self, part: str = "") -> list[Any]:
        """Return the results in rank order, or the entry `part` of each; a failed launch may have only some entries.

        Raises a `CheckError` if results are missing because of the answer, or if it has changed since its trial.
        """
        are_there = len(self.results) == self.num_ranks and (not part or all(part in one for one in self.results))
        changed, error = self.changed(), "" if are_there else self.error
        message = f"{changed} has changed since its trial: run the trial's cell again, then this one"
        require(not changed, message, "trial.outdated")
        what = f"the run ({part})" if self.results else "the run"  # if there are some results, only `part` is missing
        require(not error, error if NOT_ANSWERED in codes_in(error) else f"{what} failed: {error}")
        return [result[part] if part else result for result in self.results]

    def steps(self, part: str = "records", num_samples: int = 0) -> Steps:
        """Return the recorded training steps, which must use the samples that were sent to the ranks (`check_sent`)."""
        steps = steps_of(self.of_ranks(part))
        check_sent(steps.samples, self.private, num_samples)
        return steps


def try_on_ranks(
    driver: Callable[..., Any], *args: Any, num_ranks: int, private: PrivateInputs, **launch: Any
) -> Trial:
    """Run a driver on real ranks, as `run_and_look` does; an error becomes `Trial.error`, which every check reports."""
    changed = remember(*args)
    launch = {"ranks_per_node": min(num_ranks, RANKS_PER_NODE), "timeout_s": TIMEOUT_S, "look": False, **launch}
    try:
        found, left = run_and_look(driver, *args, num_ranks=num_ranks, private=private, **launch)
        return Trial(num_ranks, found, private=private, left=left, changed=changed)
    except (RankError, CheckError) as error:
        return Trial(num_ranks, error=describe(error), private=private, changed=changed)


def order_in(batches: Sequence[tuple[Array, Array]]) -> Array:
    """Return all samples of the batches, in order, as one array; each batch is a pair of samples and labels."""
    return np.concatenate([numbers for numbers, _ in batches] or [np.zeros(0)])


def samples_read(trial: Trial, way: str) -> list[Array]:
    """Return, for each rank, the samples that it read in this way (for example "training"), in order."""
    return [order_in(result[way]) for result in trial.of_ranks()]


def remember(*answers: Any) -> Callable[[], str]:
    """Return a function that later returns the name of an answer that has been redefined since, or '' if none has.

    An answer counts as redefined if its code has changed, or the code of a notebook function that it calls.
    """
    then = {answer: _codes(answer) for answer in map(inspect.unwrap, answers) if isinstance(answer, FunctionType)}

    def changed() -> str:
        now = {answer: answer.__globals__.get(answer.__name__, answer) for answer in then}
        return next((answer.__name__ for answer, codes in then.items() if _codes(now[answer]) != codes), "")

    return changed


def _codes(answer: Any) -> list[CodeType]:
    function = inspect.unwrap(answer)
    used = [function.__globals__.get(name) for name in function.__code__.co_names]
    return [inspect.unwrap(one).__code__ for one in (function, *used) if isinstance(one, FunctionType)]
