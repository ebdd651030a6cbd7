"""What the README promises of every exercise."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

from coursekit.labs.lab import find_labs

ROOT = Path(__file__).parents[2]
LABS = sorted(path.name for path in (ROOT / "solutions").glob("[0-9]*"))


def role(cell):
    """Return whether nbgrader takes the cell for an answer."""
    return cell.metadata.get("nbgrader", {}).get("solution", False)


@pytest.mark.parametrize("lab", LABS)
def test_every_exercise_has_its_points_its_size_and_a_hint(lab):
    """Between one answer and the next a text states the points and holds a hint to unfold; the stub states its size."""
    cells = nbformat.read(ROOT / "labs" / lab / f"{lab}.ipynb", as_version=4).cells
    incomplete, text = [], ""
    for cell in cells:
        if cell.cell_type == "markdown":
            text += cell.source
        if role(cell):
            wanted = ("**Exercise (", "<summary>Hint", "# about ")
            incomplete += [(cell.id, words) for words in wanted if words not in text + cell.source]
            text = ""

    assert incomplete == []


@pytest.mark.parametrize("lab", LABS)
def test_points_in_the_text_are_those_of_the_tests(lab):
    """The points that the exercises name add up to those that the tests give, 20 per lab."""
    cells = nbformat.read(ROOT / "labs" / lab / f"{lab}.ipynb", as_version=4).cells
    given = sum(cell.metadata.get("nbgrader", {}).get("points", 0) for cell in cells)
    named = [text.split(" ", 1)[0] for cell in cells for text in cell.source.split("**Exercise (")[1:]]

    assert (given, sum(map(int, named))) == (20, 20)


@pytest.mark.parametrize("lab", find_labs(ROOT), ids=lambda lab: lab.name)
def test_minutes_in_the_text_are_those_of_the_lab(lab):
    """The first cell states the minutes of lab.toml; those at the sections add up to them."""
    cells = nbformat.read(ROOT / "labs" / lab.name / f"{lab.name}.ipynb", as_version=4).cells
    at_sections = [int(found) for cell in cells for found in re.findall(r"(?m)^## .*\((\d+) minutes\)$", cell.source)]

    assert f"**{lab.minutes} minutes, " in cells[0].source
    assert sum(at_sections) == lab.minutes
