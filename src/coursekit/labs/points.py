"""The points of an executed notebook, decided by nbgrader's own rule."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from coursekit.errors import CourseKitError
from coursekit.labs.cells import CellScore, error_in, is_test
from coursekit.labs.nbgrader_settings import nbgrader_settings

if TYPE_CHECKING:
    from nbformat import NotebookNode

NOT_RUN = "NotRun: this cell was not executed"


def score(notebook: NotebookNode) -> tuple[CellScore, ...]:
    """Score every test cell of an executed notebook, in order and without a change; text on stderr costs no point.

    Raises:
        CourseKitError: If a test cell ends in a number that is more than its points.
    """
    if not any(is_test(cell) for cell in notebook.cells):
        return ()
    from nbgrader.preprocessors import IgnorePattern  # heavy

    ignore_stderr = IgnorePattern(config=nbgrader_settings())
    cleaned, _ = ignore_stderr.preprocess(deepcopy(notebook), {})
    return tuple(_score_cell(cell) for cell in cleaned.cells if is_test(cell))


def _score_cell(cell: NotebookNode) -> CellScore:
    from nbgrader.utils import determine_grade  # heavy

    grade_id = cell.metadata.nbgrader.grade_id
    try:
        points, max_points = determine_grade(cell)
    except ValueError as error:
        raise CourseKitError(
            f"test cell {grade_id!r} ends in a value that nbgrader cannot take as points ({error}): "
            "end the cell with an assertion instead."
        ) from error
    message = error_in(cell)
    # nbgrader executes before it grades, so its rule has no word for a cell that never ran: it would get full points.
    if not message and cell.execution_count is None:
        points, message = 0.0, NOT_RUN
    if not message and points < max_points:
        message = f"PartialCredit: {points:g} of {max_points:g} points"
    return CellScore(grade_id, float(points), max_points, message)
