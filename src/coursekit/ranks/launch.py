"""`ranks.run`: call a function on several Horovod ranks, and return all their results."""

from __future__ import annotations

import inspect
import linecache
import math
import pickle
import threading
from collections.abc import Callable, Mapping
from typing import Any

from coursekit.environ import scrubbed
from coursekit.errors import Cause, Interrupted
from coursekit.ranks import explain, fork_client, job_step
from coursekit.ranks.allocation import has_tasks_for
from coursekit.ranks.explain import MachineTooSlowError, RankError, RankTimeoutError, explain_failure
from coursekit.ranks.explain_stop import explain_stop
from coursekit.ranks.pickling import dumps
from coursekit.ranks.protocol import MAX_NUM_RANKS, Report, RunSpec
from coursekit.ranks.rank_process import PLAIN
from coursekit.ranks.server_handle import SharedServer
from coursekit.ranks.watch import RunWatch
from coursekit.tracebacks import is_cell, last_place, short_cause, text_of

OUTSIDE = Cause("you stopped this cell before its ranks started or after they finished", "cell.interrupted")
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
    """Call `function(*args, **kwargs)` on fresh ranks, which can join each other; return the results in rank order.

    The function itself calls `hvd.init()` or, with PyTorch, `dist.init_process_group()`.
    It may be defined in a notebook cell; the objects that it uses are sent with it.
    The ranks' output appears as it is printed, and each line is marked with its rank.

    Args:
        function: the function that every rank calls. Create datasets and compiled TensorFlow functions inside it.
        *args: its arguments, which are the same on every rank.
        num_ranks: the world size.
        timeout_s: seconds after which the run is ended and every rank's position is shown. Time that the ranks spend
            waiting for a processor on a busy machine does not count. A definite deadlock ends the run at once.
        seed: makes random numbers reproducible, but different on each rank. By default, they differ from run to run.
        num_threads: the number of CPU threads that TensorFlow uses on each rank; 0 leaves the choice to TensorFlow.
        bind_cores: whether each rank is bound to its own share of this node's cores, if there are enough for all.
        ranks_per_node: simulates nodes that have this many ranks each. By default, all ranks are on one node.
            If it is given, ranks start on this machine, even inside a job (see `server_for`).
        use_gpus: whether ranks see their node's GPUs. By default, they do if there is a GPU for each rank.
        environ: environment variables for the ranks in addition to those of this process, such as `HOROVOD_TIMELINE`.
            You can set Horovod's variables only here. Variables that TensorFlow reads on import have no effect.
        show_output: whether to show what the ranks print, or the number of bytes to show from each rank.
        **kwargs: keyword arguments for the function; they cannot have the names above.

    Raises:
        RankError: a rank died or raised an exception, whose traceback is in the message. The other ranks were ended.
        RankTimeoutError: the deadline passed, or no rank could continue. The message says where each rank waits.
        MachineTooSlowError: the machine was so busy that the outcome is unknown.
        Interrupted: the stop button or Ctrl-C ended the run; the message says where every rank was.
    """
    try:
        _check_function(function)
        check_numbers(num_ranks, timeout_s, ranks_per_node)
        extra = checked_environ(environ)
        shared = server_for(num_ranks, ranks_per_node)
        spec = RunSpec(
            call=dumps((function, args, kwargs)),
            num_ranks=num_ranks,
            seed=seed,
            num_threads=num_threads,
            bind_cores=bind_cores,
            # Notebook cells are not in files; from these entries, ranks can quote their source.
            sources={name: entry for name, entry in linecache.cache.items() if is_cell(name)},
        )
        with _one_run_at_a_time:
            all_gone = False
            try:
                server, environ = shared.get(), {**scrubbed(), **extra}
                running = server.start(spec, environ, ranks_per_node or num_ranks, use_gpus=use_gpus)
                try:
                    outcome = RunWatch(running, timeout_s=timeout_s, show=show_output).run()
                finally:
                    all_gone = running.stop()
            finally:
                if not all_gone:
                    shared.close()  # this also ends the ranks
    except KeyboardInterrupt:
        raise Interrupted(str(OUTSIDE)) from None
    return results_of(outcome, num_ranks, timeout_s, value_of)


# The names of arguments of `run`, which the function's own arguments must not have.
RESERVED = {name for name, one in inspect.signature(run).parameters.items() if one.kind is one.KEYWORD_ONLY}


def check_numbers(num_ranks: int, timeout_s: float, ranks_per_node: int | None) -> None:
    """Raise a `ValueError` unless these are valid numbers of ranks, seconds, and ranks per node."""
    if not isinstance(num_ranks, int) or isinstance(num_ranks, bool) or not 1 <= num_ranks <= MAX_NUM_RANKS:
        raise ValueError(f"num_ranks must be a whole number from 1 to {MAX_NUM_RANKS}, not {num_ranks!r}")
    if not 0 < timeout_s < math.inf:
        raise ValueError(f"timeout_s must be a positive number of seconds, not {timeout_s!r}")
    if ranks_per_node is not None and not 1 <= ranks_per_node <= num_ranks:
        raise ValueError(f"ranks_per_node must be from 1 to num_ranks ({num_ranks}), not {ranks_per_node!r}")


def checked_environ(environ: Mapping[str, str] | None) -> dict[str, str]:
    """Return a copy of `environ`; raise a `TypeError` if a value is not text, as in {"HOROVOD_CYCLE_TIME": 5}."""
    for name, value in (environ or {}).items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise TypeError(f"environ holds {name!r}: {value!r}, but both must be text, as in {{'{name}': '{value}'}}")
    return dict(environ or {})


def _check_function(function: Callable[..., Any]) -> None:
    if not callable(function):
        raise TypeError(f"ranks.run needs a function to call, not {function!r}: write run(train, …), not run(train(…))")
    try:
        names = inspect.signature(function).parameters
    except (TypeError, ValueError):  # some built-in functions lack a signature
        return
    if clash := sorted(RESERVED & set(names)):
        raise TypeError(f"the function's argument {clash[0]!r} is also an argument of ranks.run: rename it")


def server_for(num_ranks: int, ranks_per_node: int | None) -> SharedServer:
    """Return the server that starts these ranks: a step of the surrounding Slurm job, or a fork server on this machine.

    The step is used if the job has enough tasks and `ranks_per_node` is None; otherwise, `fork_server` is used.
    """
    return job_step.shared if ranks_per_node is None and has_tasks_for(num_ranks) else fork_client.shared


def results_of(
    outcome: explain.RunOutcome, num_ranks: int, timeout_s: float, read: Callable[[int, bytes], Any]
) -> list[Any]:
    """Return the results in rank order, or raise the error of a failed run, as `run` does.

    `read` gets a rank and the bytes that it sent back, and returns the rank's result or raises a `RankError`.
    """
    values: dict[int, Any] = {}
    unread = None
    for rank, report in outcome.reports.items():
        if report.value is not None:
            try:
                values[rank] = read(rank, report.value)
            except RankError as error:  # the cause may be on another rank
                unread = error
    has_ended_well = not (outcome.server_died or outcome.not_started or outcome.stopped)
    if has_ended_well and len(values) == num_ranks:
        return [values[rank] for rank in range(num_ranks)]
    if has_ended_well and unread and not (outcome.failed_ranks() or outcome.lost_ranks()):
        raise unread
    raise error_of(outcome, timeout_s)


def error_of(outcome: explain.RunOutcome, timeout_s: float, then: str = "") -> BaseException:
    """Return the exception for a failed run; its message ends with `then`, which says what happened to the ranks."""
    if outcome.server_died:
        advice = "" if then else ": run the cell again"
        killed = Cause(f"{outcome.server_died} was killed, and with it all ranks{advice}", "server.killed")
        return RankError(f"{killed}{then}")
    if outcome.not_started:
        return RankError(outcome.not_started)
    if outcome.stopped == explain.TOO_SLOW:
        return MachineTooSlowError(
            f"the machine was too slow to tell whether the ranks would end within {timeout_s:g} s, not counting waits "
            "for a processor: run the cell again when the machine is less busy",
            "machine.too-slow",
        )
    if outcome.stopped:
        kind = Interrupted if outcome.stopped == explain.INTERRUPTED else RankTimeoutError
        return kind(explain_stop(outcome, timeout_s) + then)
    message, failed = explain_failure(outcome)
    cause = outcome.reports.get(failed, Report())
    return RankError(
        message + then,
        rank=failed,
        error_type=cause.error_type,
        error_text=cause.error_text,
        place=last_place(cause.traceback),
    )


def value_of(rank: int, data: bytes) -> Any:
    """Return a rank's result; raise a `RankError` if the rank could pickle it but this process cannot unpickle it."""
    try:
        return pickle.loads(data)  # noqa: S301  # from our own ranks
    except (Exception, SystemExit) as error:  # noqa: BLE001  # unpickling can fail in any way
        cause = f"{type(error).__name__}: {short_cause(text_of(error))}"
        raise RankError(
            f"the result of rank {rank} cannot be read here ({cause}): {PLAIN}", "result.not-readable", rank=rank
        ) from None
