"""What *Run All* needs in a lab: to go on where an answer fails, and a report of all that there was to check."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from coursekit.labs.cells import GOES_ON, is_solution

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbformat import NotebookNode

REPORT = "hand_in_report()"
CHECK = re.compile(r'^with check\("([^"]+)"', re.MULTILINE)


def list_checks(notebook: NotebookNode) -> NotebookNode:
    """Tell the report at the end of a lab of each check and each text with their points.

    A kernel knows only of checks that have run.
    """
    checks = [(name, cell.metadata["points"]) for cell in notebook.cells for name in _checks_of(cell)]
    texts = [
        (cell.metadata["id"], cell.metadata["points"])
        for cell in notebook.cells
        if cell.metadata.get("role") == "manual"
    ]
    for cell in notebook.cells:
        if checks and cell.source.strip() == REPORT:
            cell.source = f"hand_in_report({_listed(checks)}{', texts=' + _listed(texts) if texts else ''})"
    return notebook


def _listed(points: Sequence[tuple[str, float]]) -> str:
    rows = "".join(f"    {json.dumps(name, ensure_ascii=False)}: {worth:g},\n" for name, worth in points)
    return f"{{\n{rows}}}"


def _checks_of(cell: NotebookNode) -> list[str]:
    return CHECK.findall(cell.source) if cell.metadata.get("role") == "tests" else []


def let_run_all_go_on(release: NotebookNode) -> NotebookNode:
    """Mark every code cell from the first answer on, so that an error in one of them does not stop the others.

    Jupyter and nbclient go on after such a cell. The error stays in its output, where nbgrader and papermill find it.
    """
    cells = [cell for cell in release.cells if cell.cell_type == "code"]
    first = next((number for number, cell in enumerate(cells) if is_solution(cell)), len(cells))
    for cell in cells[first:]:
        cell.metadata.tags = [*cell.metadata.get("tags", []), *GOES_ON]
    return release
