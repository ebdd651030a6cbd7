"""The frame around every check: its name, its section, what it says, and what has been checked so far."""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, suppress
from pathlib import Path

from coursekit.checks.on_ranks import AnswerError
from coursekit.drivers.calls import UNUSABLE, WrongReturnError
from coursekit.errors import STUB, Interrupted, ShownAsMessage
from coursekit.ranks import MachineTooSlowError, RankError
from coursekit.ranks.frames import cause_in, in_notebook, place_below, short_cause, text_of
from coursekit.text import counted
from coursekit.way_out import is_taken

NOT_ANSWERED = "not answered yet"
TAKEN = "this piece is taken from the solution, so it earns no points: replace that line with your own code"
OWN_FRAMES = 2  # of a traceback that `check` sees: its own, and the cell that checks


class CheckError(ShownAsMessage, AssertionError):
    """An answer lacks a property; the message names it and the section that explains it."""


class NoResultError(CheckError):
    """There is nothing in which to look for a property: a run of the answer failed."""


_results: dict[str, str | None] = {}  # of each check in this notebook, what it said last; None where it passed
_told_by: dict[str, str] = {}  # by what an answer raised, the check that says it in full
_taken: set[str] = set()  # checks of pieces that the hand-in which is judged takes from the solution


def start_over(taken: Collection[str] = ()) -> None:
    """Forget all checks: another notebook begins, in which these look at pieces that are taken from the solution."""
    _results.clear()
    _told_by.clear()
    _taken.clear()
    _taken.update(taken)


@contextmanager
def check(name: str, section: str) -> Iterator[None]:
    """Run checks under a name that every message carries.

    Args:
        name: the property, as the lab calls it, for example ``shards``.
        section: the number of the lab's section that explains it.

    Raises:
        CheckError: on leaving, when a property does not hold or the answer raised an exception.
        MachineTooSlowError: as it came, since it says nothing about the answer.
        Interrupted: the stop button or Ctrl-C; the message says where.
    """
    for cause in [cause for cause, teller in _told_by.items() if teller == name]:
        del _told_by[cause]
    try:
        require(not (name in _taken or is_taken(name)), TAKEN)
        # nbgrader takes any text on stderr for a failure, so warnings of right answers go to standard output.
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
        message = _results[name] = _told_once(name, error)
        raise CheckError(f"{name}: {message} → section {section}") from None
    _results[name] = None
    print(f"✓ {name}")


@contextmanager
def _kept_environment() -> Iterator[None]:
    """Take back what an answer does to this process's environment, and say so: later cells, and ranks, would see it."""
    before = dict(os.environ)
    try:
        yield
    finally:
        changed = [name for name in sorted({*before, *os.environ}) if before.get(name) != os.environ.get(name)]
        for name in changed:
            os.environ.pop(name, None)
            os.environ.update({name: before[name]} if name in before else {})
        if changed:
            told = f"The answer changed {', '.join(changed)} in os.environ"
            print(f"{told}: later cells would see that, so it was taken back.")


def _told_once(name: str, error: Exception) -> str:
    """Return what a check says of an exception on one line; what was told under another check is not told again."""
    lines = describe(error, place_below(error, OWN_FRAMES)).splitlines()
    message = " ".join(line.strip() for line in lines)
    is_finding = isinstance(error, CheckError) and not isinstance(error, NoResultError)
    if is_finding or message.startswith(NOT_ANSWERED):
        return message
    teller = _told_by.setdefault(message, name)
    num_parts = 2 if isinstance(error, NoResultError) else 1  # of which the last names the cause
    parts = message.split(": ")
    told = parts[:num_parts] if len(parts) > num_parts else parts[:-1] or parts
    return message if teller == name else f"{': '.join(told)}: see “{teller}”"


def describe(error: Exception, place: str = "") -> str:
    """Return in few words what an answer raised, here in the line `place` or on a rank, or what a check says of it.

    Without a line of the student's, the answer has not raised it: the check failed at what it was given.
    """
    if isinstance(error, CheckError):
        return text_of(error)
    kind = error.error_type if isinstance(error, (RankError, AnswerError)) else type(error).__name__
    place = error.place if isinstance(error, RankError) else place
    text = error.error_text if isinstance(error, RankError) else text_of(error)
    missing = _what_is_missing(error, kind, text, place)
    if missing:
        return missing
    cause = short_cause(text)
    if kind == WrongReturnError.__name__:
        return f"on rank {error.rank} {cause}" if isinstance(error, RankError) else cause
    raised = ": ".join(filter(None, (kind, cause)))
    if isinstance(error, RankError):
        return _describe_rank(error, raised)
    if isinstance(error, AnswerError) and kind == TimeoutError.__name__:
        return f"the answer did not finish in time: {error}"
    who = "the answer raised" if place or isinstance(error, AnswerError) else f"{UNUSABLE}:"
    return f"{who} {raised}{f' ({place})' if place else ''}"


def _what_is_missing(error: Exception, kind: str, text: str, place: str) -> str:
    """Return which answer, or which cell before, an exception of this kind and text says is missing, or ''."""
    # TensorFlow raises the stub's type as well, with words of its own.
    if kind == NotImplementedError.__name__ and cause_in(text).strip() in {STUB, ""}:
        function = re.search(r" line \d+ in (\w+)", place)  # it may be another one than that which is checked
        return f"{NOT_ANSWERED} ({function[1]})" if function else NOT_ANSWERED
    if kind != NameError.__name__ or not (found := re.search(r"name '(\w+)' is not defined", text)):
        return ""
    name = found[1]
    if isinstance(error, NameError) and not place:  # it is the cell that checks which uses the name
        return f"{name} is not defined: first run the cell {_cell_that_defines(name) or 'that defines it'}, above"
    # An answer's name is one of the notebook's, or misspelt. A judge tells nothing of the notebooks beside it.
    cell = _cell_that_defines(name) if in_notebook() else ""
    return f"{name} is not defined ({place}): first run the cell {cell}, above" if cell else ""


def _describe_rank(error: RankError, told: str) -> str:
    """Return what is said of a failed rank; `told` is what it raised, or ''."""
    head = str(error).split("\n\n", maxsplit=1)[0]
    if told and head.startswith(f"rank {error.rank} raised "):
        return (
            f"rank {error.rank} raised {told} ({error.place})"
            if error.place
            else f"on rank {error.rank} {UNUSABLE}: {told}"
        )
    details = "; ".join(filter(None, (told, error.place)))
    return f"{head} ({details})" if details else head


def _cell_that_defines(name: str) -> str:
    """Return the line by which a cell of the notebook, in the kernel's working folder, binds a name, or ''."""
    binds = re.compile(
        rf"^(?:(?:async )?(?:def|class) {name}\b.*|(?:import|from) .*\b{name}\b.*|{name}\b[^=(]*=[^=].*)", re.MULTILINE
    )
    for notebook in sorted(Path.cwd().glob("*.ipynb")):
        with suppress(OSError, ValueError, KeyError, TypeError):  # it is not the kit's, or half written
            for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
                if cell["cell_type"] == "code" and (found := binds.search("".join(cell["source"]))):
                    return f"with `{found[0].strip()}`"
    return ""


def require(condition: object, message: str) -> None:
    """Raise a `CheckError` with this message unless the condition, a truth value of Python or NumPy, holds."""
    if not condition:
        raise CheckError(message)


def require_result(error: str, what: str, changed: str = "") -> None:
    """Raise a `NoResultError` where `what` failed with `error`, or was of an answer that has `changed`."""
    if changed:
        raise NoResultError(f"{changed} has changed since its trial: run the cell of the trial again, then this one")
    if error:
        raise NoResultError(error if error.startswith(NOT_ANSWERED) else f"{what} failed: {error}")


def hand_in_report(points: Mapping[str, float] | None = None, texts: Mapping[str, float] | None = None) -> None:
    """Print for a last look before handing in which checks passed in this notebook, and which did not run.

    Args:
        points: of each check of the lab, in the order to print them; without it, those that have run are printed.
        texts: points of each text that no check can judge, by the name of its cell.
    """
    if not (points or _results):
        print("No check has run yet: run all cells from the top (menu Run, Run All Cells).")
        return
    names = list(points or _results)
    for name in names:
        print(_line(name, f" ({counted(points[name], 'point')})" if points else ""))
    for name, worth in (texts or {}).items():
        print(f"· {name} ({counted(worth, 'point')}): a text, which your instructor grades")
    passed = [name for name in names if name in _results and _results[name] is None]
    print(f"\n{len(passed)} of {len(names)} checks passed.")
    if points:
        earned, total = sum(points[name] for name in passed), sum(points.values())
        print(f"That is {earned:g} of {total:g} points in this notebook; grading tests further cases.")


def _line(name: str, worth: str) -> str:
    if name not in _results:
        return f"· {name}{worth}: not run"
    fault = _results[name]
    return f"✓ {name}{worth}" if fault is None else f"✗ {name}{worth}{': ' if fault else ''}{fault}"
