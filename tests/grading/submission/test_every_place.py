"""Code that a student adds to a lab runs in grading, wherever it stands."""

import json

import nbformat
import pytest

from coursekit.grading.submission.cells import find_answers
from coursekit.grading.submission.program import cells_to_run, read_program
from coursekit.grading.submission.students_files import parse_notebook
from coursekit.labs.build.build import source_notebook
from coursekit.labs.cells import cell_name, is_test
from coursekit.labs.lab import find_labs
from coursekit.paths import find_root

ROOT = find_root()
LABS = find_labs(ROOT)


@pytest.mark.parametrize("lab", LABS, ids=[lab.name for lab in LABS])
def test_an_added_cell_runs_at_every_place_of_a_lab(lab):
    """One above each cell, text or code, and one at the end: each runs once, between the tests that surround it."""
    released = nbformat.read(ROOT / "labs" / lab.name / f"{lab.name}.ipynb", as_version=4)
    handed_in, expected = [], []
    for number, cell in enumerate([*released.cells, None]):
        added = f"added_{number} = {number}"
        handed_in.append({"cell_type": "code", "id": f"added-{number}", "metadata": {}, "outputs": [], "source": added})
        expected.append(added)
        if cell is not None:
            handed_in.append(json.loads(json.dumps(cell)))
            expected += [cell_name(cell)] if is_test(cell) else []
    found = find_answers(parse_notebook(json.dumps({"cells": handed_in}).encode()), released)
    run = []
    for cells, part in cells_to_run(read_program(lab.name, source_notebook(lab)), found):
        run += [cell.source for cell in cells if cell.source.startswith("added_")]
        run += [part.name] if part and part.points is not None else []

    assert run == expected
