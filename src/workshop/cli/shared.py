"""Arguments and options that several of the authors' commands share, and a filter for answers and attacks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import click

from coursekit.errors import CourseKitError
from workshop.answers.answer_bank import BankAnswer
from workshop.attacks.attack import Attack

BANK = click.argument(
    "folder", metavar="[DIR]", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path)
)
TEXT = click.option("-k", "text", metavar="TEXT", default="", help="Only entries with this text in name or title.")

Some = TypeVar("Some", BankAnswer, Attack)


def matching(bank: Sequence[Some], text: str) -> list[Some]:
    """Return the entries of a bank that have a text in their name or title, ignoring case.

    Raises:
        CourseKitError: no entry has this text.
    """
    chosen = [one for one in bank if text.lower() in f"{one.name}\n{one.title}".lower()]
    if not chosen:
        names = ", ".join(one.name for one in bank)
        raise CourseKitError(f"-k: nothing has {text!r} in its name or title; the names are {names}.", "bank.no-match")
    return chosen
