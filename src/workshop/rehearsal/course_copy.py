"""Make a course folder like a student's on a login node, with all answers filled in, in which job scripts run."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from coursekit.grading.submission.program import DRAWING
from coursekit.labs.build.build import build_sources, to_bytes
from coursekit.labs.build.script import SCRIPT
from coursekit.labs.cells import is_solution
from coursekit.labs.lab import find_labs
from workshop.affected_tests import LabCells, together

COPIED = ("labs", "slurm", "solutions", "students", "pyproject.toml")
STARTS_RANKS = re.compile(r"\branks\.run\(|^%%?ranks\b", re.MULTILINE)


def make_course(root: Path, folder: Path, cut: str = "tests") -> Path:
    """Make a course folder whose notebooks in `labs/` hold the solutions' answers.

    Args:
        root: the checkout; only its `build/source` changes, which is rebuilt.
        folder: where to make it; it must not exist yet.
        cut: what is left out of notebooks: a key of `CUTS`.
    """
    folder.mkdir(parents=True)
    for name in COPIED:
        if (root / name).is_dir():
            shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        else:
            shutil.copy2(root / name, folder / name)
    for name in (".venv", ".venv-torch"):  # the second one is for sites that have modules for PyTorch
        (folder / name).symlink_to(sys.prefix)
    for name, source in build_sources(root, find_labs(root)).items():
        notebook = nbformat.read(source, as_version=4)
        notebook.cells = CUTS[cut](notebook.cells)
        # Another process may be building, too: its unfinished files are hidden.
        shutil.copytree(source.parent, folder / "labs" / name, ignore=shutil.ignore_patterns(".*"), dirs_exist_ok=True)
        (folder / "labs" / name / source.name).write_bytes(to_bytes(notebook))
    return folder


def without_tests(cells: list[NotebookNode]) -> list[NotebookNode]:
    """Return a notebook's cells without its tests and without cells that only tests need; all answers stay."""
    lab = LabCells(cells)

    def only_tests_need(i: int, dropped: set[int]) -> bool:
        others = (names for j, names in enumerate(lab.names) if j not in dropped and j != i)
        bound = lab.names[i].bound
        stays = is_solution(lab.cells[i]) or SCRIPT in lab.cells[i].metadata.get("tags", [])
        is_needed = bool(bound & together(others).used) or stays
        return bool(bound & together(lab.names[j] for j in dropped).used) and not is_needed

    return _without(cells, lab, lab.tests, only_tests_need)


def until_ranks_have_run(cells: list[NotebookNode]) -> list[NotebookNode]:
    """Return a notebook's cells without tests, pictures, and all but the first cell that starts ranks; answers stay.

    The first cell that starts ranks may be a picture.
    """
    cells = without_tests(cells)
    lab = LabCells(cells)
    starting = [i for i, cell in enumerate(lab.cells) if STARTS_RANKS.search(cell.source) and not is_solution(cell)]
    drawing = {i for i, cell in enumerate(lab.cells) if DRAWING in cell.metadata.get("tags", [])}

    def lacks_a_name(i: int, dropped: set[int]) -> bool:
        left = together(names for j, names in enumerate(lab.names) if j not in dropped)
        missing = together(lab.names[j] for j in dropped).bound - left.bound
        return bool(lab.names[i].used & missing) and not is_solution(lab.cells[i])

    return _without(cells, lab, {*starting[1:], *drawing.difference(starting[:1])}, lacks_a_name)


def _without(
    cells: list[NotebookNode], lab: LabCells, first: Iterable[int], goes_too: Callable[[int, set[int]], bool]
) -> list[NotebookNode]:
    """Return the cells without the first ones to drop and, step by step, those that must go with dropped cells."""
    dropped = set(first)
    while more := {i for i in range(len(lab.cells)) if i not in dropped and goes_too(i, dropped)}:
        dropped |= more
    gone = {id(lab.cells[i]) for i in dropped}
    return [cell for cell in cells if id(cell) not in gone]


CUTS: dict[str, Callable[[list[NotebookNode]], list[NotebookNode]]] = {
    "none": list,
    "tests": without_tests,
    "quick": until_ranks_have_run,
}
