"""docs/ranks.md has every setting of `ranks.run` and of persistent ranks, with its default."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from coursekit import ranks
from coursekit.ranks.persistent import PersistentRanks

PAGE = Path(__file__).parents[2] / "docs" / "ranks.md"


def settings(function):
    """Return what can only be given by keyword, with its default as one writes it."""
    parameters = inspect.signature(function).parameters.values()
    return {one.name: repr(one.default) for one in parameters if one.kind is one.KEYWORD_ONLY}


def test_the_tables_of_settings_are_the_signatures():
    """The first table has the settings of both, the second those of `ranks.run` alone; `num_ranks` is in the text."""
    tables = re.findall(r"^\| setting \|.*\n\|.*\n((?:\|.*\n)+)", PAGE.read_text(), re.MULTILINE)
    both, only_run = (dict(re.findall(r"^\| `(\w+)` \| `(.+?)` \|", table, re.MULTILINE)) for table in tables)

    assert both == settings(PersistentRanks)
    assert {**both, **only_run, "num_ranks": "2"} == settings(ranks.run)
