"""Score an executed notebook by nbgrader's own rule, with the settings under which this rule gives the right points."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from traitlets.config import Config

from coursekit.errors import CourseKitError
from coursekit.labs.cells import CellScore, error_in, is_test

if TYPE_CHECKING:
    from nbformat import NotebookNode

NOT_RUN = "NotRun: this cell was not executed"


def nbgrader_settings() -> Config:
    """Return the nbgrader settings that every course with this kit needs at every site."""
    config = Config()

    # nbgrader gives no points for a test cell that printed anything to stderr, and TensorFlow logs to stderr.
    # The preprocessor needs both settings; the pattern "." would not match an empty line.
    config.IgnorePattern.enabled = True
    config.IgnorePattern.pattern = r"\A"  # matches any text

    # Seconds until a cell counts as failed: nbgrader's default of 30 is too short for training on a busy machine.
    config.Execute.timeout = 300

    # In seconds; kernels start slowly from shared disks.
    config.Execute.startup_timeout = 120
    config.Execute.iopub_timeout = 30

    # This restores a test cell that a student has deleted by accident.
    config.OverwriteCells.add_missing_cells = True
    return config


def score(notebook: NotebookNode) -> tuple[CellScore, ...]:
    """Return the scores of all test cells of an executed notebook, in order; output on stderr costs no points.

    Raises:
        CourseKitError: a test cell ends in a number that exceeds its points.
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
            "end the cell with an assertion instead.",
            "points.too-many",
        ) from error
    message = error_in(cell)
    # nbgrader executes every notebook before grading it, so its rule would give a cell that never ran full points.
    if not message and cell.execution_count is None:
        points, message = 0.0, NOT_RUN
    if not message and points < max_points:
        message = f"PartialCredit: {points:g} of {max_points:g} points"
    return CellScore(grade_id, float(points), max_points, message)
