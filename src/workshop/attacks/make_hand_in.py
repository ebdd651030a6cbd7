"""Make the folder that an attacker hands in."""

from __future__ import annotations

import json
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from coursekit.labs.cells import cell_name
from workshop.attacks.attack import Attack

MARK, COURSE = "@MARK@", "@COURSE@"  # in an attack's text: a word by which its traces are known, the bait course


def write_hand_in(  # noqa: PLR0913  # what there is to fill in
    attack: Attack, released: NotebookNode, honest: dict[str, str], folder: Path, *, mark: str, course: Path
) -> None:
    """Write a hand-in into an empty folder; `mark` and `course` stand for `MARK` and `COURSE`.

    Cells with the role "hand-in" run here and now, with this process's rights.
    Answers that the attack leaves alone are those of `honest`.
    """

    def filled(source: str) -> str:
        return source.replace(MARK, mark).replace(COURSE, str(course))

    notebook = deepcopy(released)
    answers = {**honest, **{cell.name: filled(cell.source) for cell in attack.cells if cell.kind == "answer"}}
    for cell in notebook.cells:
        cell.source = answers.get(cell_name(cell), cell.source)
    for number, cell in enumerate(attack.cells):
        if cell.kind == "extra":
            names = [cell_name(known) for known in notebook.cells]
            place = names.index(cell.name) + 1 if cell.name else 0
            notebook.cells.insert(place, new_code_cell(filled(cell.source), id=f"extra-{number}"))
    path = folder / f"{attack.lab}.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    for cell in attack.cells:
        if cell.kind == "hand-in":
            names_in_cell: dict[str, Any] = {"folder": folder, "notebook": path, "course": course, "mark": mark}
            exec(compile(filled(cell.source), attack.name, "exec"), names_in_cell)  # noqa: S102  # as documented
    sys.stdout.flush()
