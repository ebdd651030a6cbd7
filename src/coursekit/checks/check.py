"""The frame around every check: its name, its section, what it says, and what has been checked so far."""

from __future__ import annotations

import sys
import warnings
from contextlib import AbstractContextManager, ExitStack, redirect_stderr
from dataclasses import dataclass

from coursekit.checks.on_ranks import AnswerError
from coursekit.errors import ShownAsMessage
from coursekit.ranks import MachineTooSlowError, RankError


class CheckError(ShownAsMessage, AssertionError):
    """An answer lacks a property; the message names it and the section that explains it."""


@dataclass(frozen=True)
class Result:
    """The last result of one check in this notebook."""

    passed: bool
    message: str


_results: dict[str, Result] = {}


def check(name: str, section: str) -> AbstractContextManager[None]:
    """Return a context in which checks run under a name that every message carries.

    Args:
        name: the property, as the lab calls it, for example ``shards``.
        section: the number of the lab's section that explains it.

    Raises:
        CheckError: on leaving, when a property does not hold or the answer raised an exception.
        MachineTooSlowError: as it came, since it says nothing about the answer.
    """
    return _Check(name, section)


class _Check(AbstractContextManager[None]):
    """What `check` returns."""

    def __init__(self, name: str, section: str) -> None:
        self.name = name
        self.section = section
        self._settings = ExitStack()

    def __enter__(self) -> None:
        self._settings.enter_context(warnings.catch_warnings())
        # nbgrader takes any text on stderr for a failure, so warnings of right answers go to standard output.
        self._settings.enter_context(redirect_stderr(sys.stdout))

    def __exit__(self, kind: object, error: BaseException | None, frames: object) -> None:
        self._settings.close()
        if error is None:
            _results[self.name] = Result(passed=True, message="")
            print(f"✓ {self.name}")
        elif isinstance(error, MachineTooSlowError):  # no word on the answer
            _results[self.name] = Result(passed=False, message=str(error))
        elif isinstance(error, Exception):
            message = str(error) if isinstance(error, CheckError) else describe(error)
            _results[self.name] = Result(passed=False, message=message)
            raise CheckError(f"{self.name}: {message} → section {self.section}") from None


def describe(error: Exception) -> str:
    """Return one line on an exception that an answer raised, here or on a rank."""
    kind = error.error_type if isinstance(error, (RankError, AnswerError)) else type(error).__name__
    if kind == NotImplementedError.__name__:
        return "not answered yet"
    if isinstance(error, AnswerError) and kind == TimeoutError.__name__:
        return f"the answer did not end in time: {error}"
    if not isinstance(error, RankError):
        return f"the answer raised {kind}: {error}"
    head = " ".join(line.strip() for line in str(error).split("\n\n", maxsplit=1)[0].splitlines())
    return f"{head} ({kind}: {_cause(error.error_text)})" if kind else head


def _cause(text: str) -> str:
    """Return an exception's text; of the page that TensorFlow writes on a failed graph only what went wrong in it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines or not lines[0].startswith("Graph execution error"):
        return text
    frames = [number for number, line in enumerate(lines) if line.startswith(("File ", "Detected at node"))]
    told = [line for line in lines[max(frames, default=0) + 1 :] if not line.startswith("[[")]
    return " ".join(told) or lines[0]


def require(condition: bool, message: str) -> None:
    """Raise a `CheckError` with this message unless the condition holds."""
    if not condition:
        raise CheckError(message)


def hand_in_report() -> None:
    """Print which checks passed in this notebook so far, for a last look before handing in."""
    if not _results:
        print("No check has run yet: run all cells from the top (menu Run, Run All Cells).")
        return
    for name, result in _results.items():
        print(f"{'✓' if result.passed else '✗'} {name}{': ' if result.message else ''}{result.message}")
    num_passed = sum(result.passed for result in _results.values())
    print(f"\n{num_passed} of {len(_results)} checks passed.")
