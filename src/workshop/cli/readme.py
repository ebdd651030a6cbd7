"""`workshop readme`: refresh the pictures, the deadlock report and the tables that pages show from real runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import nbformat
from nbformat import NotebookNode

from coursekit.errors import CourseKitError
from coursekit.labs.build.build import alternative_file, build_tables, picture_file, refresh_block
from coursekit.labs.cells import pictures_in
from coursekit.labs.lab import Lab, find_labs
from coursekit.labs.run.results import LabResult, format_memory, format_points, format_time
from coursekit.paths import find_root
from coursekit.text import markdown_table
from workshop.cli.bench import BENCHMARKS, as_markdown

DEADLOCK = ("02-horovod-sgd", "deadlock")  # the lab and the cell that show a deadlock report


@click.command(epilog="Example: make run bench && workshop readme")
def readme() -> None:
    """Refresh the pages' pictures and numbers from the newest `make run` and `make bench`.

    README.md shows a deadlock report, docs/benchmarks.md shows a table of the run and the benchmarks, and
    labs/README.md shows a picture of each lab. The key `picture` in a lab.toml names the cell that draws the picture.
    """
    root = find_root()
    for lab in find_labs(root):
        if lab.picture:
            keep_picture(root, lab)
    build_tables(root)
    run = read_json(root / "build" / "runs" / "latest" / "report.json", "coursekit run")
    bench = read_json(root / "build" / "bench.json", "make bench")
    said = "".join(output.get("text", "") for output in executed_cell(root, *DEADLOCK).outputs)
    who_waits, _, _stacks = said.partition("\n\n")
    fill(root / "README.md", deadlock=f"```\n{who_waits}\n```\n")
    fill(root / "docs" / "benchmarks.md", run=run_block(run), bench=bench_block(bench))


def fill(page: Path, **blocks: str) -> None:
    """Replace the text between the marks of each block on a page."""
    text = page.read_text(encoding="utf-8")
    for name, block in blocks.items():
        text = refresh_block(text, name, block)
    page.write_text(text, encoding="utf-8")
    click.echo(f"{page.name}: {', '.join(blocks)} refreshed")


def keep_picture(root: Path, lab: Lab) -> None:
    """Copy the last PNG of the lab's chosen cell from the newest run, and the picture's alternative text.

    Raises:
        CourseKitError: the newest run has no notebook of this lab, or the cell shows no picture.
    """
    shown = pictures_in([executed_cell(root, lab.name, lab.picture)])
    if not shown:
        raise CourseKitError(
            f"solutions/{lab.name}/lab.toml: the cell picture = {lab.picture!r} shows no picture.", "lab.no-picture"
        )
    path = picture_file(root, lab)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(shown[-1].content)
    alternative_file(path).write_text(shown[-1].alt + "\n", encoding="utf-8")


def executed_cell(root: Path, lab_name: str, cell_id: str) -> NotebookNode:
    """Return a cell with its outputs from the newest run; an empty cell if no cell has this id.

    Raises:
        CourseKitError: the newest run did not include this lab.
    """
    executed = root / "build" / "runs" / "latest" / lab_name / f"{lab_name}.ipynb"
    if not executed.is_file():
        raise CourseKitError(
            f"the newest run has no notebook of {lab_name}: run `coursekit run` first.", "run.no-notebook"
        )
    cells = nbformat.read(executed, as_version=4).cells
    return next((cell for cell in cells if cell.id == cell_id), nbformat.v4.new_code_cell())


def read_json(path: Path, command: str) -> dict[str, Any]:
    """Read the JSON file that a command has recorded.

    Raises:
        CourseKitError: the command has not recorded anything yet.
    """
    if not path.is_file():
        raise CourseKitError(f"there is no {path.name}: run `{command}` first.", "run.no-record")
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def run_block(report: dict[str, Any]) -> str:
    """Return the table that `coursekit run` showed at its end, as Markdown."""
    head = ("lab", "verdict", "points", "time", "peak memory", "ranks")
    rows = []
    for entry in report["labs"]:
        lab = LabResult.from_json(entry)
        memory = format_memory(lab.peak_memory_mb)
        rows.append((lab.lab, lab.verdict, format_points(lab), format_time(lab.time_s), memory, str(lab.num_ranks)))
    return markdown_table(head, rows, "llrrrr") + machine(report["facts"])


def bench_block(record: dict[str, Any]) -> str:
    """Return the benchmarks as Markdown tables.

    Raises:
        CourseKitError: `make bench` has not finished.
    """
    if missing := BENCHMARKS.keys() - record["benchmarks"].keys():
        raise CourseKitError(
            f"bench.json lacks {', '.join(sorted(missing))}: let `make bench` finish.", "bench.incomplete"
        )
    return "\n".join(map(as_markdown, record["benchmarks"].values())) + machine(record["facts"])


def machine(facts: dict[str, Any]) -> str:
    """Return one line that names the machine and the versions used for a measurement."""
    versions = facts["versions"]
    return (
        f"\nMeasured on {facts['num_cpus']} cores of {facts['device']} with Python {versions['python']}, "
        f"TensorFlow {versions['tensorflow']} and Horovod {versions['horovod']}.\n"
    )
