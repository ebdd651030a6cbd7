"""Links within a generated page lead to its headings; `tests/test_readme.py` follows those to files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from workshop.cli.pages import PAGE as COMMANDS
from workshop.pages.troubleshooting import PAGE as TROUBLESHOOTING

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", [COMMANDS, TROUBLESHOOTING])
def test_a_link_leads_to_a_heading(name):
    """Each has exactly one, in the form that GitHub and the book give to headings."""
    text = (ROOT / name).read_text(encoding="utf-8")
    titles = re.findall("^#+ (.*)", text, re.MULTILINE)
    headings = [re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles]
    links = re.findall(r"\]\(#(.*?)\)", text)

    assert links
    assert [headings.count(link) for link in links] == [1] * len(links)
