"""The exceptions of `ranks.run`."""

from __future__ import annotations

from coursekit.errors import ShownAsMessage


class RankError(ShownAsMessage, RuntimeError):
    """A rank failed; the others were stopped.

    Attributes:
        rank: the rank that failed first, or None when no single rank is to blame.
        error_type: the name of the exception's type on that rank, for example ``ValueError``.
        error_text: what that exception says.
        place: the student's line in which it was raised, in words, or ''.
    """

    def __init__(  # what is known, by keyword
        self,
        message: str,
        *,
        rank: int | None = None,
        error_type: str = "",
        error_text: str = "",
        place: str = "",
    ) -> None:
        super().__init__(message)
        self.rank = rank
        self.error_type = error_type
        self.error_text = error_text
        self.place = place


class RankTimeoutError(RankError):
    """The deadline passed, or no rank can continue; the message shows where each rank was, and what it waits for."""


class MachineTooSlowError(ShownAsMessage, RuntimeError):
    """The machine was too busy for a verdict: this is no rank's fault, so it is no `RankError`; run the cell again."""
