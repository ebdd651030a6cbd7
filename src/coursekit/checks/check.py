"""The code around every check: it names the check and its section, draws random inputs, and keeps the results."""

import itertools
import os
import re
import sys
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from contextvars import ContextVar

import numpy as np

from coursekit.checks.on_ranks import AnswerError
from coursekit.drivers.calls import UNUSABLE, WrongReturnError
from coursekit.errors import STUB, Cause, Interrupted, ShownAsMessage
from coursekit.ranks import MachineTooSlowError, RankError
from coursekit.solution_snippet import is_taken
from coursekit.text import counted, wrapped
from coursekit.tracebacks import cause_in, fault_in_syntax, place_below, short_cause, text_of

NOT_ANSWERED = "answer.empty"
NOT_RUN = "not run"
OWN_FRAMES = 2  # the outermost frames of a traceback in `check`: the frame of `check` itself, and the calling cell


class CheckError(ShownAsMessage, AssertionError):
    """An answer lacks a property; the message names the property and the section that explains it."""


_results: dict[str, str | None] = {}  # the last message of each check in this notebook; None if it passed
_taken: set[str] = set()  # checks whose pieces the judged hand-in takes from the solution
_source: ContextVar[Iterator[np.random.Generator] | None] = ContextVar("source", default=None)


def start_over(taken: Collection[str] = ()) -> None:
    """Forget all results; `taken` names the checks whose pieces the next notebook takes from the solution."""
    _results.clear()
    _taken.clear()
    _taken.update(taken)


def fresh_rng(seed: int | None = None) -> np.random.Generator:
    """Return a random generator for a check's inputs; it uses the given seed or, by default, a new one.

    The judge ignores the seed, because students can read it in the notebook.
    """
    source = _source.get()
    return np.random.default_rng(seed) if source is None else next(source)


@contextmanager
def repeatable(entropy: int) -> Iterator[None]:
    """Within the context, derive all random inputs from `entropy`, which only the judge knows."""
    token = _source.set(np.random.default_rng([entropy, number]) for number in itertools.count())
    try:
        yield
    finally:
        _source.reset(token)


@contextmanager
def check(name: str, section: str) -> Iterator[None]:
    """Run the code in the `with` block as the check of one property, such as ``shards``.

    The given section of the lab explains this property, and the error's message names the section.
    Raises a `CheckError` at the end if the property does not hold or the answer raised an exception.
    A `MachineTooSlowError` says nothing about the answer, so it is raised unchanged. If the user stops the check, it
    raises an `Interrupted` that says where it was stopped.
    """
    try:
        require(
            not (name in _taken or is_taken(name)),
            "this piece is taken from the solution, so it earns no points: replace the call of take with your own code",
            "answer.taken",
        )
        # nbgrader treats any text on stderr as a failure, so warnings from right answers go to standard output.
        with warnings.catch_warnings(), redirect_stderr(sys.stdout), _kept_environment():
            yield
    except MachineTooSlowError as error:
        _results[name] = str(error)
        raise
    except KeyboardInterrupt as error:
        _results.pop(name, None)
        if isinstance(error, Interrupted):
            raise
        raise Interrupted(f"{name}: stopped in {place_below(error, OWN_FRAMES) or 'the check'}") from None
    except Exception as error:  # noqa: BLE001  # an answer can raise anything
        lines = describe(error, place_below(error, OWN_FRAMES)).splitlines()
        message = _results[name] = " ".join(line.strip() for line in lines)
        raise CheckError(f"{name}: {message} → section {section}") from None
    _results[name] = None
    print(f"✓ {name}")


@contextmanager
def _kept_environment() -> Iterator[None]:
    """Undo and report all changes that an answer makes to os.environ, because later cells and ranks would see them."""
    before = dict(os.environ)
    try:
        yield
    finally:
        changed = sorted({name for name, _ in before.items() ^ os.environ.items()})
        if changed:
            os.environ.clear()
            os.environ.update(before)
            names = ", ".join(changed)
            print(f"The answer changed {names} in os.environ. This was undone, because later cells would see it.")


def describe(error: Exception, place: str = "") -> str:
    """Return a short description of an error: what the answer raised and where, or what a check reports.

    `place` is the line that raised the error; an error raised on a rank names its own line.
    If no line of the student's code is involved, the answer did not raise the error; instead, the check could not use
    the value that the answer returned.
    """
    is_elsewhere, on_rank = isinstance(error, AnswerError), isinstance(error, RankError)
    kind = error.error_type if isinstance(error, (RankError, AnswerError)) else type(error).__name__
    place, text = (error.place, error.error_text) if isinstance(error, RankError) else (place, text_of(error))
    cause, where = short_cause(text), f" ({place})" if place else ""
    raised = ": ".join(filter(None, (kind, cause)))
    rank = f"rank {error.rank}" if isinstance(error, RankError) else ""
    launch = _describe_launch(error, raised) if isinstance(error, RankError) else ""
    # TensorFlow also raises the stub's exception type, but with a different text.
    is_stub = kind == NotImplementedError.__name__ and cause_in(text).strip() in {STUB, ""}
    stub = re.search(r" line \d+ in (\w+)", place)  # not always the function that is checked
    # If no line of the answer is involved, the checking cell itself uses a name that is not defined.
    name = error.name or "" if isinstance(error, NameError) and not place else ""
    fault = fault_in_syntax(name, _cells_run()) if name else ""
    is_wrong_return, is_late = kind == WrongReturnError.__name__, is_elsewhere and kind == TimeoutError.__name__
    # The first cause that holds is reported. A cause that only quotes a message keeps that message's code.
    causes: tuple[tuple[object, Cause | str], ...] = (
        (isinstance(error, CheckError), text),
        (is_stub, Cause(f"not answered yet ({stub[1]})" if stub else "not answered yet", NOT_ANSWERED)),
        (fault, Cause(f"{name} is not defined: {fault}", "name.not-compiled")),
        (name, Cause(f"{name} is not defined: first run the cell above that defines it", "name.not-defined")),
        (is_wrong_return, f"on {rank} {cause}" if on_rank else cause),
        (launch, launch),
        (on_rank and place, Cause(f"{rank} raised {raised}{where}", "answer.raised")),
        (on_rank, Cause(f"on {rank} {UNUSABLE}: {raised}", "answer.unusable")),
        (is_late, Cause(f"the answer did not finish in time: {text}", "answer.too-slow")),
        (place or is_elsewhere, Cause(f"the answer raised {raised}{where}", "answer.raised")),
        (True, Cause(f"{UNUSABLE}: {raised}", "answer.unusable")),
    )
    return str(next(sentence for holds, sentence in causes if holds))


def _describe_launch(error: RankError, raised: str) -> str:
    """Return what a launch reports about its ranks, or '' if it only repeats what a rank raised."""
    head = str(error).split("\n\n", maxsplit=1)[0]
    if raised and head.startswith(f"rank {error.rank} raised "):
        return ""
    details = "; ".join(filter(None, (raised, error.place)))
    code = f" [{error.code}]" if error.code and error.code not in head else ""
    return f"{head} ({details}){code}" if details else f"{head}{code}"


def _cells_run() -> dict[str, str]:
    """Return the cells that IPython has run or tried to run, in order; outside a notebook, there are none."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return {f"Cell In[{number}]": text for number, text in enumerate(shell.user_ns.get("In", ()) if shell else ())}


def require(condition: object, message: str, code: str = "") -> None:
    """Raise a `CheckError` with this message and code if the condition, a Python or NumPy truth value, is false."""
    if not condition:
        raise CheckError(message, code)


def hand_in_report(points: Mapping[str, float], texts: Mapping[str, float] | None = None) -> None:
    """Print which checks passed in this notebook and which did not run, for a last look before handing in.

    `points` maps each check of the lab to its points, in the order of printing; `texts` does the same for texts that
    no check can judge.
    """
    passed = [name for name in points if _results.get(name, NOT_RUN) is None]
    for name, worth in points.items():
        fault = _results.get(name, NOT_RUN)
        sign = "✓" if name in passed else "·" if fault == NOT_RUN else "✗"
        print(wrapped(f"{sign} {name} ({counted(worth, 'point')}){f': {fault}' if fault else ''}"))
    for name, worth in (texts or {}).items():
        print(f"· {name} ({counted(worth, 'point')}): a text, which your instructor grades")
    print(f"\n{len(passed)} of {len(points)} checks passed.")
    earned, total = sum(points[name] for name in passed), sum(points.values())
    print(f"That is {earned:g} of {total:g} points in this notebook; grading tests further cases.")
