"""The frame around every check: its name, its section, what it says, and what has been checked so far."""

from __future__ import annotations

import contextlib
import sys
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coursekit.ranks import RankError

if TYPE_CHECKING:
    from collections.abc import Iterator


class CheckError(AssertionError):
    """An answer lacks a property; the message names it and the section that explains it."""


@dataclass(frozen=True)
class Result:
    """The last result of one check in this notebook."""

    passed: bool
    message: str


_results: dict[str, Result] = {}


@contextlib.contextmanager
def check(name: str, section: str) -> Iterator[None]:
    """Run the checks in the `with` block under a name that every message carries.

    Args:
        name: the property, as the lab calls it, for example ``shards``.
        section: the number of the lab's section that explains it.

    Raises:
        CheckError: a property does not hold, or the answer raised an exception.
    """
    __tracebackhide__ = True
    try:
        # nbgrader takes any text on stderr for a failure, so warnings of right answers go to standard output.
        with warnings.catch_warnings(), contextlib.redirect_stderr(sys.stdout):
            yield
    except CheckError as error:
        message = str(error)
    except Exception as error:  # noqa: BLE001  # whatever the answer raises becomes one message
        message = describe(error)
    else:
        _results[name] = Result(passed=True, message="")
        print(f"✓ {name}")
        return
    _results[name] = Result(passed=False, message=message)
    raise CheckError(f"{name}: {message} → section {section}") from None


def describe(error: Exception) -> str:
    """Return one line on an exception that an answer raised, here or on a rank."""
    kind = error.error_type if isinstance(error, RankError) else type(error).__name__
    if kind == NotImplementedError.__name__:
        return "not answered yet"
    if not isinstance(error, RankError):
        return f"the answer raised {kind}: {error}"
    head = " ".join(line.strip() for line in str(error).split("\n\n", maxsplit=1)[0].splitlines())
    return f"{head} ({kind}: {error.error_text})" if kind else head


def require(condition: bool, message: str) -> None:
    """Raise a `CheckError` with this message unless the condition holds."""
    __tracebackhide__ = True
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
