"""The report of a run and its bar in terminals of different widths, with the names of the course."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from coursekit.labs.cells import CellScore
from coursekit.labs.lab import find_labs
from coursekit.labs.run import results
from coursekit.labs.run.facts import Facts
from coursekit.labs.run.plan import LabRun
from coursekit.labs.run.terminal import RunProgress, show_report

ROOT = Path(__file__).parents[3]
NAMES = [lab.name for lab in find_labs(ROOT)]
CELLS_OF_LABS = re.compile(r'^# %% (?!\[markdown\]).*id="([^"]+)"', re.MULTILINE)
LONGEST_CELL = max(
    (cell for source in (ROOT / "solutions").glob("*/*.py") for cell in CELLS_OF_LABS.findall(source.read_text())),
    key=len,
)
VERDICTS = [results.PASSED, results.FAILED, results.INTERRUPTED, results.NOT_RUN]
SHOWN = ["passed", "FAILED", "interrupted", "not run"]
FACTS = Facts("host", "2 x CPU", 2, {"python": "3.11"}, None, dirty=False)


def lab_result(name, verdict):
    """Return a result whose numbers are as wide as they get."""
    scores = (CellScore("a-tests", 18.5, 20, ""),)
    return results.LabResult(name, "t", verdict, "", scores, 3599.6, 12340, 16, {}, images_per_s=2410)


def shown_report(width):
    """Return the rows of the table, split into cells, and the lines, of a report in a terminal of that width."""
    labs = tuple(map(lab_result, NAMES, VERDICTS))
    console = Console(file=io.StringIO(), width=width)
    show_report(console, results.RunReport("2026-01-02T03-04-05", "", FACTS, labs), Path("runs"))
    lines = console.file.getvalue().splitlines()
    rows = [line for line in lines if line[:1] in ("│", "┃")]
    assert max(len(row) for row in rows) <= width
    return [[cell.strip() for cell in row.replace("┃", "│").strip("│").split("│")] for row in rows], lines


CELLS = {
    "lab": NAMES,
    "verdict": SHOWN,
    "points": ["18.5 / 20"] * 4,
    "time": ["60 min 00 s"] * 4,
    "ranks": ["16"] * 4,
    "images/s": ["2410"] * 4,
}


def test_no_cell_of_the_table_is_cut():
    """In a terminal of 79 columns; the report has the rest."""
    rows, lines = shown_report(79)
    assert rows == [list(CELLS), *map(list, zip(*CELLS.values()))]
    assert lines[-1].endswith("runs/report.html")


@pytest.mark.parametrize("name", NAMES)
def test_the_live_bar_is_one_whole_line_at_80_columns(name):
    """Lab, cell, number and time stand in it even for the longest name of a cell of the course."""
    console = Console(file=io.StringIO(), width=80, force_terminal=True, legacy_windows=False, color_system=None)
    progress = RunProgress(console)
    with progress.shown():
        progress.lab_started(LabRun(name, "t", Path(), {}, 1, 60), 4, 4)
        progress.cell_started(10, 45, LONGEST_CELL)
    line = console.file.getvalue().replace("\r", "\n").splitlines()
    assert any(re.search(rf"lab 4/4 {name} .* 9/45 0:\d\d:\d\d {LONGEST_CELL}", text) for text in line)
