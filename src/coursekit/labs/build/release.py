"""What students get: nbgrader's `generate_assignment` of a source notebook, without its database.

Its last look finds answers, hidden tests and markers in it, whatever went wrong before.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy

from nbformat import NotebookNode, ValidationError

from coursekit.errors import CourseKitError
from coursekit.labs.build.additions import CHOSEN
from coursekit.labs.build.regions import CODE_STUB, MARKER_WORDS, TEXT_STUB, find_regions, outside_regions
from coursekit.labs.cells import GOES_ON, QUIZ, is_solution

# Shorter lines, such as `return loss`, are not secret: they stand in many places.
SHORTEST_SECRET = 13


def release_notebook(name: str, source: NotebookNode) -> NotebookNode:
    """Return the version of a notebook that students get; what nbgrader refuses is a `CourseKitError`."""
    # Importing nbgrader takes a second or more, which no other verb should pay.
    from nbgrader.converters import GenerateAssignment
    from nbgrader.preprocessors import SaveCells
    from traitlets.config import Config

    config = Config()
    config.ClearSolutions.code_stub = {"python": CODE_STUB}
    config.ClearSolutions.text_stub = TEXT_STUB
    release = deepcopy(source)
    for step in GenerateAssignment.class_traits()["preprocessors"].default():
        if step is not SaveCells:  # into its database
            try:
                release, _ = step(config=config).preprocess(release, {})
            except (RuntimeError, ValidationError) as error:
                raise CourseKitError(f"nbgrader could not release {name}: {error}", "release.refused") from None
    return release


def finish(release: NotebookNode) -> NotebookNode:
    """Do to nbgrader's release of a notebook what students' copies need, too: nothing is chosen, *Run All* goes on.

    Jupyter and nbclient go on after a cell that is marked so, here each from the first answer on. The error stays in
    its output, where nbgrader and papermill find it.
    """
    for cell in release.cells:
        if QUIZ in cell.metadata.get("tags", []):
            cell.source = CHOSEN.sub("", cell.source)
    cells = [cell for cell in release.cells if cell.cell_type == "code"]
    first = next((number for number, cell in enumerate(cells) if is_solution(cell)), len(cells))
    for cell in cells[first:]:
        tags = cell.metadata.get("tags", [])
        cell.metadata.tags = tags if GOES_ON[0] in tags else [*tags, *GOES_ON]  # an error of a lesson keeps its mark
    return release


def refuse_leaks(lab_name: str, source: NotebookNode, release: Mapping[str, str]) -> None:
    """Refuse a release, place (a cell or a file) to text, with a marker or a line of an answer or hidden test in it."""
    forbidden = (*MARKER_WORDS, *sorted(secret_lines(source)))
    for place, text in release.items():
        leaked = next((words for words in forbidden if words in text), None)
        if leaked is not None:
            raise CourseKitError(
                f"{lab_name}: {place} would show students {leaked!r}, which belongs to an answer or a hidden test: "
                "nothing was released; take it out of there.",
                "release.leak",
            )


def secret_lines(source: NotebookNode) -> set[str]:
    """Return the lines of answers and hidden tests, stripped, that the author shows nowhere else in the notebook."""
    public = "\n".join(
        line for cell in source.cells if not _is_all_answer(cell) for line in outside_regions(cell.source)
    )
    hidden = [line for cell in source.cells if _is_all_answer(cell) for line in cell.source.splitlines()]
    hidden += [line for cell in source.cells for region in find_regions(cell.source) for line in region.lines]
    return {line for line in map(str.strip, hidden) if len(line) >= SHORTEST_SECRET and line not in public}


def texts(notebook: NotebookNode, files: Mapping[str, bytes]) -> dict[str, str]:
    """Return everything readable in a release by its place: each cell's text and outputs, and each file."""
    cells = {f"cell {cell.id}": f"{cell.source}\n{cell.get('outputs', '')}" for cell in notebook.cells}
    return {**cells, **{name: content.decode("utf-8", errors="ignore") for name, content in files.items()}}


def _is_all_answer(cell: NotebookNode) -> bool:
    return is_solution(cell) and not find_regions(cell.source)
