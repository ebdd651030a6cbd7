"""Tables of what Slurm and programs say, and of what it means."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """One line of such a table.

    Attributes:
        pattern: what is said.
        words: what it means, and what to do; parts in braces are filled in.
    """

    pattern: str
    words: str
