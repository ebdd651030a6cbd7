"""The steps that turn a text notebook into nbgrader's source notebook; each changes the notebook or refuses it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import nbformat
from nbformat import NotebookNode

from coursekit.errors import Cause
from coursekit.labs.build.additions import ask_quizzes, list_checks
from coursekit.labs.build.regions import HIDDEN_TESTS, SOLUTION, Region, RegionError, find_regions
from coursekit.labs.build.script import SCRIPT, ScriptError, check_script, is_script
from coursekit.labs.build.text_notebook import LINE, CellError
from coursekit.labs.cells import QUIZ

ATTRIBUTES = ("tags", "role", "id", "points")
# jupytext's notes, which are useless to a reader.
NOTES = (LINE, "lines_to_next_cell", "cell_marker")
# nbformat's rule for cell ids.
CELL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
SIZE_HINT = re.compile(r"\s*#.*\babout (\d+) lines?\b.*", re.IGNORECASE)


class Role(NamedTuple):
    """How nbgrader treats a cell, and which kind of region it may contain."""

    cell_types: tuple[str, ...]
    grade: bool = False  # whether it earns points
    solution: bool = False  # whether students edit it; nbgrader restores all other cells
    may_hold: str | None = None
    must_hold: bool = False


ROLES = {
    "readonly": Role(("markdown", "code")),
    "answer": Role(("code",), solution=True, may_hold=SOLUTION, must_hold=True),
    "tests": Role(("code",), grade=True, may_hold=HIDDEN_TESTS),
    # Without a region, the whole cell is the answer.
    "manual": Role(("markdown", "code"), grade=True, solution=True, may_hold=SOLUTION),
    QUIZ: Role(("markdown",)),  # until `ask_quizzes` replaces it
}


def check_attributes(notebook: NotebookNode) -> None:
    """Refuse misspelt, malformed or misplaced attributes in a cell's marker."""
    for cell in notebook.cells:
        written = {name: value for name, value in cell.metadata.items() if name not in NOTES}
        if cause := _attribute_fault(cell.cell_type, written):
            raise CellError(notebook, cell, *cause)


def check_ids(notebook: NotebookNode) -> None:
    """Refuse ids that nbformat does not accept, or that two cells share (nbformat would give one a random id)."""
    seen: dict[str, int] = {}
    for cell in notebook.cells:
        name = cell.metadata.get("id")
        if name is None:
            continue
        if not (isinstance(name, str) and CELL_ID.fullmatch(name)):
            raise CellError(notebook, cell, f"the id {name!r} is not 1 to 64 letters, digits, `-` or `_`", "cell.id")
        if name in seen:
            raise CellError(
                notebook,
                cell,
                f"the cell at line {seen[name]} already has the id {name!r}: choose another",
                "cell.id-twice",
            )
        seen[name] = cell.metadata[LINE]


def check_regions(notebook: NotebookNode) -> None:
    """Refuse malformed, misplaced and missing regions, and hints that give the wrong number of lines."""
    for cell in notebook.cells:
        name = cell.metadata.get("role")
        role = ROLES.get(name)
        try:
            regions = find_regions(cell.source)
        except RegionError as error:
            raise CellError(notebook, cell, str(error)) from None
        for region in regions:
            if role is None or region.name != role.may_hold:
                where = f"a cell with the role {name}" if role else "a cell without a role"
                raise CellError(notebook, cell, f"BEGIN {region.name} is not allowed in {where}", "region.not-allowed")
        if role and role.must_hold and not regions:
            raise CellError(notebook, cell, f"a cell with the role {name} needs a solution region", "region.missing")
        if cause := _hint_fault(cell.source.splitlines(), regions):
            raise CellError(notebook, cell, *cause)


def _hint_fault(lines: list[str], regions: tuple[Region, ...]) -> Cause | None:
    """Return a fault if a hint such as `# about 2 lines` is wrong by more than one line.

    Each hint refers to the region that follows it.
    """
    for region, after in zip(regions, (0, *(region.end for region in regions))):
        size = sum(1 for code in region.lines if code.strip() and not code.strip().startswith("#"))
        for hint in filter(None, map(SIZE_HINT.fullmatch, lines[after : region.begin])):
            if abs(size - int(hint[1])) > 1:
                return Cause(f"correct the hint: it says {hint[1]} lines, the solution has {size}", "hint.size")
    return None


def check_script_cells(notebook: NotebookNode) -> None:
    """Refuse text cells with the tag `script` and script cells that form no program; record the script's parameters."""
    for cell in notebook.cells:
        if SCRIPT in cell.metadata.get("tags", ()) and cell.cell_type != "code":
            raise CellError(notebook, cell, f"the tag {SCRIPT} is for code cells, not for a text", "script.text-cell")
    if any(is_script(cell) for cell in notebook.cells):
        try:
            notebook.metadata.coursekit.script_parameters = check_script(notebook)
        except ScriptError as error:
            raise CellError(notebook, error.cell, str(error)) from None


def expand_roles(notebook: NotebookNode) -> None:
    """Replace each role with nbgrader's metadata for it, in schema version 3."""
    for cell in notebook.cells:
        role = ROLES.get(cell.metadata.pop("role", None))
        points = cell.metadata.pop("points", None)
        if role:
            cell.metadata.nbgrader = {
                "grade": role.grade,
                "grade_id": cell.metadata.id,
                "locked": not role.solution,
                "schema_version": 3,
                "solution": role.solution,
                "task": False,
                **({"points": points} if role.grade else {}),
            }


def name_cells(notebook: NotebookNode) -> None:
    """Give each cell the id that its author chose, or an id built from the lab's name and the cell's position.

    In this way, every build gives the same ids.
    """
    lab_name = notebook.metadata.coursekit.generated_from.split("/")[-2]
    for position, cell in enumerate(notebook.cells, 1):
        cell.id = cell.metadata.pop("id", None) or f"{lab_name}-{position}"
        for note in NOTES:
            cell.metadata.pop(note, None)


def describe_notebook(notebook: NotebookNode) -> None:
    """Write the notebook's metadata, which does not depend on the machine or the time."""
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata.kernelspec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook.metadata.language_info = {"name": "python"}
    nbformat.validate(notebook)


# Checks come first, because later steps drop the line numbers of cells.
STEPS: tuple[Callable[[NotebookNode], None], ...] = (
    check_attributes,
    ask_quizzes,
    check_ids,
    check_regions,
    check_script_cells,
    list_checks,
    expand_roles,
    name_cells,
    describe_notebook,
)


def _attribute_fault(cell_type: str, written: dict[str, object]) -> Cause | None:
    if "incorrectly_encoded_metadata" in written:
        return Cause(
            f'this marker cannot be read; write it as `# %% role="answer" id="name"`, with {", ".join(ATTRIBUTES)}',
            "cell.marker",
        )
    unknown = sorted(set(written) - set(ATTRIBUTES))
    if unknown:
        return Cause(
            f"unknown attributes {unknown} in this marker; allowed are {', '.join(ATTRIBUTES)}",
            "cell.unknown-attribute",
        )
    if "role" not in written:
        return Cause("points need the role tests or manual", "cell.points") if "points" in written else None
    return _role_fault(cell_type, written)


def _role_fault(cell_type: str, written: dict[str, object]) -> Cause | None:
    name, points = written["role"], written.get("points")
    if not isinstance(name, str) or name not in ROLES:
        return Cause(f"unknown role {name!r}; use one of {', '.join(ROLES)}", "role.unknown")
    role = ROLES[name]
    if cell_type not in role.cell_types:
        return Cause(
            f"the role {name} is only for {' and '.join(role.cell_types)} cells, but this is a {cell_type} cell",
            "role.cell-type",
        )
    if "id" not in written:
        return Cause(f'a cell with the role {name} needs an id, such as id="broadcast"', "role.no-id")
    if not role.grade and "points" in written:
        return Cause(f"a cell with the role {name} earns no points: remove them", "cell.points")
    if role.grade and not (type(points) in {int, float} and points > 0):  # type: ignore[operator]  # a number by then
        return Cause(f"a cell with the role {name} needs points above 0, such as points=2", "role.no-points")
    return None
