"""`ranks.run`: call a function on several Horovod ranks and return what each of them returned."""

from __future__ import annotations

import inspect
import linecache
import math
import os
import pickle
import secrets
import sys
import threading
from typing import TYPE_CHECKING, Any

from coursekit.errors import Interrupted
from coursekit.ranks import allocation, slurm
from coursekit.ranks.environ import HIDE_GPUS, fill_nodes, gpu_environ, refuse_placing, scrubbed
from coursekit.ranks.errors import MachineTooSlowError, RankError, RankTimeoutError
from coursekit.ranks.explain import explain_failure, explain_stop
from coursekit.ranks.forkserver import MAX_NUM_RANKS, close_shared_server, shared_server
from coursekit.ranks.frames import is_cell, last_place
from coursekit.ranks.outcome import INTERRUPTED, TOO_SLOW
from coursekit.ranks.pickling import dumps
from coursekit.ranks.watch import RunWatch
from coursekit.ranks.worker import Task

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from coursekit.ranks.forkserver import ForkServer
    from coursekit.ranks.outcome import RunOutcome
    from coursekit.ranks.running_ranks import RunningRanks

_one_run_at_a_time = threading.Lock()


def run(  # noqa: PLR0913  # settings with good defaults, all but the first by keyword
    function: Callable[..., Any],
    *args: Any,
    num_ranks: int = 2,
    timeout_s: float = 60.0,
    seed: int | None = None,
    num_threads: int = 1,
    bind_cores: bool = False,
    ranks_per_node: int | None = None,
    use_gpus: bool | None = None,
    environ: Mapping[str, str] | None = None,
    show_output: bool | int = True,
    **kwargs: Any,
) -> list[Any]:
    """Call `function(*args, **kwargs)` on `num_ranks` fresh processes that can find each other through Horovod.

    The function calls `hvd.init()` itself. It may be defined in a notebook cell; what it uses travels with it.
    What the ranks print appears live, each line marked with its rank.

    Args:
        function: what every rank calls. Datasets and compiled TensorFlow functions must be made inside it.
        *args: its arguments, the same on every rank.
        num_ranks: the world size.
        timeout_s: seconds after which the run is ended and every rank's place is shown. Time in which a busy machine
            lets the ranks wait for a processor does not count. A certain deadlock is told at once.
        seed: makes random numbers repeatable; every rank still draws its own. By default each run draws new ones.
        num_threads: CPU threads per rank for TensorFlow; 0 leaves TensorFlow's own choice.
        bind_cores: whether each rank keeps to its own share of this node's cores, if there are enough for all. That
            is faster, where nobody else uses them; in a job step, `srun` binds instead.
        ranks_per_node: lets ranks believe that each node holds this many of them, so that the local rank differs
            from the rank. By default all are on one node.
        use_gpus: whether ranks see the GPUs of their node. By default they do when there is one for each rank.
        environ: environment variables for the ranks on top of this process's own, for example `HOROVOD_TIMELINE` or
            `HOROVOD_CYCLE_TIME`; Horovod's variables reach ranks in no other way. What TensorFlow reads while it is
            imported (`TF_CPP_MIN_LOG_LEVEL`, `OMP_NUM_THREADS`, `MALLOC_…`) comes too late.
        show_output: whether to show what ranks print, or how many bytes of each.
        **kwargs: keyword arguments of the function; those named above are kept for `run`.

    Returns:
        The results in rank order.

    Raises:
        RankError: a rank raised an exception or died. The others were ended; its traceback is in the message.
        RankTimeoutError: the deadline passed, or nobody can go on. The message says who waits in which collective.
        MachineTooSlowError: the machine was so busy that nothing is known.
        Interrupted: the stop button or Ctrl-C; the message says where every rank stood.
    """
    try:
        _check_function(function)
        check_numbers(num_ranks, timeout_s, ranks_per_node)
        extra = dict(environ or {})
        refuse_placing(extra)
        in_step = ranks_per_node is None and allocation.has_tasks_for(num_ranks)
        task = Task(
            call=dumps((function, args, kwargs)),
            num_ranks=num_ranks,
            entropy=secrets.randbits(64) if seed is None else seed,
            num_threads=num_threads,
            bind_cores=bind_cores and not in_step,
            folder=os.getcwd(),  # noqa: PTH109  # a plain string travels
            search_path=tuple(sys.path),
            sources=cell_sources(),
        )
        with _one_run_at_a_time:
            running = None
            try:
                server = slurm.shared_step(num_ranks) if in_step else shared_server()
                running = start_ranks(server, task, extra, ranks_per_node or num_ranks, use_gpus=use_gpus)
                outcome = RunWatch(running, timeout_s=timeout_s, show=show_output).run()
            finally:
                _stop(running, slurm.close_shared_step if in_step else close_shared_server)
    except KeyboardInterrupt:
        raise Interrupted("you stopped this cell before its ranks had started, or after they had ended") from None
    if outcome.server_died:
        raise RankError(f"{running.server} was killed, and with it all ranks: run the cell again")
    return results_of(outcome, num_ranks, timeout_s, lambda _, value: pickle.loads(value))  # noqa: S301  # of our ranks


# Arguments of `run` that a function to call cannot have.
RESERVED = {name for name, one in inspect.signature(run).parameters.items() if one.kind is one.KEYWORD_ONLY}


def check_numbers(num_ranks: int, timeout_s: float, ranks_per_node: int | None) -> None:
    """Refuse what is not a number of ranks, of seconds, or of ranks on a node."""
    if not isinstance(num_ranks, int) or isinstance(num_ranks, bool) or not 1 <= num_ranks <= MAX_NUM_RANKS:
        raise ValueError(f"num_ranks must be a whole number from 1 to {MAX_NUM_RANKS}, not {num_ranks!r}")
    if not 0 < timeout_s < math.inf:
        raise ValueError(f"timeout_s must be a positive number of seconds, not {timeout_s!r}")
    if ranks_per_node is not None and not 1 <= ranks_per_node <= num_ranks:
        raise ValueError(f"ranks_per_node must be from 1 to num_ranks ({num_ranks}), not {ranks_per_node!r}")


def _check_function(function: Callable[..., Any]) -> None:
    if not callable(function):
        raise TypeError(f"ranks.run needs a function to call, not {function!r}: write run(train, …), not run(train(…))")
    try:
        names = inspect.signature(function).parameters
    except (TypeError, ValueError):  # some built-in functions have no signature
        return
    clash = sorted(RESERVED & set(names))
    if clash:
        raise TypeError(f"the function's argument {clash[0]!r} has a name that ranks.run keeps for itself: rename it")


def cell_sources() -> dict[str, Any]:
    """Return the source lines of notebook cells, which exist in no file, so that ranks can quote them."""
    return {name: entry for name, entry in linecache.cache.items() if is_cell(name)}


def start_ranks(
    server: ForkServer | slurm.JobStep,
    task: Task,
    extra: Mapping[str, str],
    ranks_per_node: int,
    *,
    use_gpus: bool | None,
) -> RunningRanks:
    """Start ranks on this machine, or in a job step, where Slurm has spread tasks over nodes and given them GPUs."""
    environ = {**scrubbed(), **extra}
    if isinstance(server, slurm.JobStep):
        return server.launch(task, {**environ, **(HIDE_GPUS if use_gpus is False else {})})
    ranks_on_nodes = fill_nodes(task.num_ranks, ranks_per_node)
    return server.launch(task, gpu_environ(environ, ranks_per_node, use_gpus=use_gpus), ranks_on_nodes)


def _stop(running: RunningRanks | None, close_server: Callable[[], None]) -> None:
    """End the run's processes; when that fails or is interrupted, end their server, which takes them along."""
    all_gone = False
    try:
        all_gone = running is not None and running.stop()
    finally:
        if not all_gone:
            close_server()


def results_of(outcome: RunOutcome, num_ranks: int, timeout_s: float, read: Callable[[int, bytes], Any]) -> list[Any]:
    """Return the results in rank order, or raise what went wrong in a run whose server has not died.

    `read` turns what a rank sent back into what it returned, given the rank and the bytes.

    Raises:
        RankError: a rank failed.
        RankTimeoutError: the deadline passed, or nobody could go on.
        MachineTooSlowError: the ranks had too little time for either.
        Interrupted: somebody stopped it.
    """
    values = {rank: read(rank, report.value) for rank, report in outcome.reports.items() if report.value is not None}
    if outcome.stopped == TOO_SLOW:
        raise MachineTooSlowError(
            f"the machine was too slow to tell whether the ranks would end (within {timeout_s:g} s of their own time): "
            "run the cell again when it is less busy"
        )
    if outcome.stopped == INTERRUPTED:
        raise Interrupted(explain_stop(outcome, timeout_s))
    if outcome.stopped:
        raise RankTimeoutError(explain_stop(outcome, timeout_s), partial=values)
    if len(values) == num_ranks:
        return [values[rank] for rank in range(num_ranks)]
    message, rank = explain_failure(outcome)
    report = outcome.reports.get(rank) if rank is not None else None
    raise RankError(
        message,
        rank=rank,
        error_type=report.error_type if report else "",
        error_text=report.error_text if report else "",
        place=last_place(report.traceback) if report else "",
        partial=values,
    )
