"""Make the students' version of a notebook: nbgrader's `generate_assignment`, without its database.

A final check refuses a version that still has answers, hidden tests or markers because an earlier step went wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy

from nbformat import NotebookNode, ValidationError

from coursekit.errors import CourseKitError
from coursekit.labs.build.additions import CHOSEN
from coursekit.labs.build.regions import CODE_STUB, MARKER_WORDS, TEXT_STUB, find_regions, outside_regions
from coursekit.labs.cells import GOES_ON, QUIZ, is_solution

# Shorter lines, such as `return loss`, are not secret: they occur in many places.
SHORTEST_SECRET = 13


def release_notebook(name: str, source: NotebookNode) -> NotebookNode:
    """Return the students' version of a notebook; raise a `CourseKitError` if nbgrader refuses it."""
    # Importing nbgrader takes a second or more, and other commands should not have to wait for that.
    from nbgrader.converters import GenerateAssignment
    from nbgrader.preprocessors import SaveCells
    from traitlets.config import Config

    config = Config()
    config.ClearSolutions.code_stub = {"python": CODE_STUB}
    config.ClearSolutions.text_stub = TEXT_STUB
    release = deepcopy(source)
    for step in GenerateAssignment.class_traits()["preprocessors"].default():
        if step is not SaveCells:  # it writes into nbgrader's database
            try:
                release, _ = step(config=config).preprocess(release, {})
            except (RuntimeError, ValidationError) as error:
                raise CourseKitError(f"nbgrader could not release {name}: {error}", "release.refused") from None
    return release


def finish(release: NotebookNode) -> NotebookNode:
    """Finish nbgrader's release of a notebook for students: clear the quizzes, and let *Run All* continue after errors.

    Each code cell from the first answer on gets tags that make Jupyter and nbclient continue if it raises an error.
    The error stays in the cell's output, where nbgrader and papermill find it.
    """
    for cell in release.cells:
        if QUIZ in cell.metadata.get("tags", []):
            cell.source = CHOSEN.sub("", cell.source)
    cells = [cell for cell in release.cells if cell.cell_type == "code"]
    first = next((number for number, cell in enumerate(cells) if is_solution(cell)), len(cells))
    for cell in cells[first:]:
        tags = cell.metadata.get("tags", [])
        cell.metadata.tags = tags if GOES_ON[0] in tags else [*tags, *GOES_ON]  # deliberate errors keep their tags
    return release


def refuse_leaks(lab_name: str, source: NotebookNode, release: Mapping[str, str]) -> None:
    """Refuse a release with a marker or any line of an answer or hidden test; `release` maps each place to its text."""
    forbidden = (*MARKER_WORDS, *sorted(secret_lines(source)))
    for place, text in release.items():
        leaked = next((words for words in forbidden if words in text), None)
        if leaked is not None:
            raise CourseKitError(
                f"{lab_name}: {place} would show students {leaked!r}, which belongs to an answer or a hidden test: "
                "nothing was released; remove it from there.",
                "release.leak",
            )


def secret_lines(source: NotebookNode) -> set[str]:
    """Return the lines of answers and hidden tests that appear nowhere else in the notebook, without indentation."""
    public = "\n".join(
        line for cell in source.cells if not _is_all_answer(cell) for line in outside_regions(cell.source)
    )
    hidden = [line for cell in source.cells if _is_all_answer(cell) for line in cell.source.splitlines()]
    hidden += [line for cell in source.cells for region in find_regions(cell.source) for line in region.lines]
    return {line for line in map(str.strip, hidden) if len(line) >= SHORTEST_SECRET and line not in public}


def texts(notebook: NotebookNode, files: Mapping[str, bytes]) -> dict[str, str]:
    """Return all text in a release, by place: the source and outputs of each cell, and the content of each file."""
    cells = {f"cell {cell.id}": f"{cell.source}\n{cell.get('outputs', '')}" for cell in notebook.cells}
    return {**cells, **{name: content.decode("utf-8", errors="ignore") for name, content in files.items()}}


def _is_all_answer(cell: NotebookNode) -> bool:
    return is_solution(cell) and not find_regions(cell.source)
