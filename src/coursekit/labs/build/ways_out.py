"""Fold a way out into the exercises that `ways_out` of lab.toml names; see `coursekit.way_out`."""

from __future__ import annotations

import ast
import textwrap
from typing import TYPE_CHECKING

from coursekit.errors import CourseKitError
from coursekit.labs.build.regions import without_markers
from coursekit.labs.build.run_all import CHECK
from coursekit.labs.cells import is_solution, is_test
from coursekit.way_out import wrap

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from coursekit.labs.lab import Lab

NUM_LETTERS = 48  # in a line: what a page shows that is enlarged to 200 %
TEXT = """

<details><summary>Stuck? Go on without these points</summary>

These lines in place of your answer take the piece from the solution.
Later cells work with it; its own checks give no points until you write one yourself.

```python
from coursekit.way_out import take
{name} = take(
{lines}
)
```

</details>"""


def offer_ways_out(notebook: NotebookNode, lab: Lab) -> NotebookNode:
    """Add to the text above each answer that the lab names the lines that take it from the solution.

    The checks between this answer and the next one are those that give no points then.

    Raises:
        CourseKitError: there is no such answer, or it is not one function.
    """
    cells = notebook.cells
    answers = {cell.id: i for i, cell in enumerate(cells) if is_solution(cell) and cell.cell_type == "code"}
    for answer in lab.ways_out:
        source = without_markers(cells[answers[answer]].source) if answer in answers else ""
        body = ast.parse(source).body
        if len(body) != 1 or not isinstance(body[0], ast.FunctionDef):
            raise CourseKitError(
                f"solutions/{lab.name}/lab.toml: ways_out names {answer!r}, which is no answer of one function; "
                f"the answers are {', '.join(answers)}."
            )
        place = answers[answer]
        end = min((i for i in answers.values() if i > place), default=len(cells))
        checks = [name for cell in cells[place:end] if is_test(cell) for name in CHECK.findall(cell.source)]
        text = next(cell for cell in reversed(cells[:place]) if cell.cell_type == "markdown")
        lines = textwrap.wrap(wrap(checks, source), NUM_LETTERS, break_on_hyphens=False)
        text.source += TEXT.format(name=body[0].name, lines="\n".join(f'    "{line}"' for line in lines))
    return notebook
