"""Take the answers out of a source notebook: nbgrader's `generate_assignment`, without its database."""

from __future__ import annotations

import io
import logging
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat

from coursekit.errors import CourseKitError
from coursekit.labs.build.generated import to_bytes
from coursekit.labs.build.regions import CODE_STUB, TEXT_STUB

if TYPE_CHECKING:
    from nbformat import NotebookNode


def release_notebook(name: str, source: NotebookNode) -> NotebookNode:
    """Return the version of a notebook that students get.

    Raises:
        CourseKitError: nbgrader refused the notebook; the message holds nbgrader's log.
    """
    # nbgrader publishes every file that lies beside a source, so it works in a folder that holds the notebook alone.
    with tempfile.TemporaryDirectory(prefix="coursekit-release-") as folder:
        path = Path(folder, "source", name, f"{name}.ipynb")
        path.parent.mkdir(parents=True)
        path.write_bytes(to_bytes(source))
        _generate_assignment(Path(folder), name)
        return nbformat.read(Path(folder, "release", name, f"{name}.ipynb"), as_version=4)


def _generate_assignment(course: Path, name: str) -> None:
    # Importing nbgrader takes a second or more, which no other verb should pay.
    from nbgrader import preprocessors as steps  # noqa: PLC0415
    from nbgrader.converters import GenerateAssignment  # noqa: PLC0415
    from nbgrader.converters.base import NbGraderException  # noqa: PLC0415
    from nbgrader.coursedir import CourseDirectory  # noqa: PLC0415
    from traitlets.config import Config  # noqa: PLC0415

    config = Config()
    config.CourseDirectory.root = str(course)
    config.CourseDirectory.assignment_id = name
    config.ClearSolutions.code_stub = {"python": CODE_STUB}
    config.ClearSolutions.text_stub = TEXT_STUB
    config.GenerateAssignment.no_database = True
    # nbgrader's own order without the steps that need its database, a header file or a running kernel.
    config.GenerateAssignment.preprocessors = [
        steps.LockCells,
        steps.ClearSolutions,
        steps.ClearOutput,
        steps.CheckCellMetadata,
        steps.ClearHiddenTests,
        steps.ComputeChecksums,
        steps.CheckCellMetadata,
    ]
    log = io.StringIO()
    logger = logging.Logger("nbgrader", logging.INFO)  # noqa: LOG001 - one of our own, unknown to other code
    logger.addHandler(logging.StreamHandler(log))
    converter = GenerateAssignment(coursedir=CourseDirectory(config=config, log=logger), config=config, log=logger)
    try:
        converter.start()
    except (NbGraderException, SystemExit):
        raise CourseKitError(f"nbgrader could not release {name}; its log says:\n{log.getvalue().rstrip()}") from None
