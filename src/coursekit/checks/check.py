"""The frame around every check: its name, its section, what it says, and what has been checked so far."""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager, redirect_stderr
from typing import TYPE_CHECKING

from coursekit.checks.on_ranks import AnswerError
from coursekit.errors import ShownAsMessage
from coursekit.ranks import MachineTooSlowError, RankError

if TYPE_CHECKING:
    from collections.abc import Iterator


class CheckError(ShownAsMessage, AssertionError):
    """An answer lacks a property; the message names it and the section that explains it."""


_results: dict[str, str | None] = {}  # of each check in this notebook, what it said last; None where it passed


@contextmanager
def check(name: str, section: str) -> Iterator[None]:
    """Run checks under a name that every message carries.

    Args:
        name: the property, as the lab calls it, for example ``shards``.
        section: the number of the lab's section that explains it.

    Raises:
        CheckError: on leaving, when a property does not hold or the answer raised an exception.
        MachineTooSlowError: as it came, since it says nothing about the answer.
    """
    try:
        # nbgrader takes any text on stderr for a failure, so warnings of right answers go to standard output.
        with warnings.catch_warnings(), redirect_stderr(sys.stdout):
            yield
    except MachineTooSlowError as error:
        _results[name] = str(error)
        raise
    except Exception as error:  # noqa: BLE001  # an answer can raise anything
        message = _results[name] = describe(error)
        raise CheckError(f"{name}: {message} → section {section}") from None
    _results[name] = None
    print(f"✓ {name}")


def describe(error: Exception) -> str:
    """Return one line on an exception that an answer raised, here or on a rank, or what a check says of it."""
    if isinstance(error, CheckError):
        return str(error)
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
    for name, message in _results.items():
        print(f"✓ {name}" if message is None else f"✗ {name}{': ' if message else ''}{message}")
    num_passed = sum(message is None for message in _results.values())
    print(f"\n{num_passed} of {len(_results)} checks passed.")
