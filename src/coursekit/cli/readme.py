"""`coursekit readme`: refresh what the README shows of real runs: pictures, the table of a run, benchmarks."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import click
import nbformat

from coursekit.cli.bench import BENCHMARKS
from coursekit.errors import CourseKitError
from coursekit.labs.build.tables import alternative_file, picture_file, picture_table, refresh_block, table
from coursekit.labs.lab import find_labs
from coursekit.labs.run.formatting import format_memory, format_points, format_time
from coursekit.labs.run.results import LabResult
from coursekit.lecture.bench.grading_tables import all_rows, remarks
from coursekit.lecture.bench.measurement import SHORT_S
from coursekit.paths import find_root
from coursekit.text import markdown_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nbformat import NotebookNode

    from coursekit.labs.lab import Lab

PNG = "image/png"
DEADLOCK = ("02-horovod-sgd", "deadlock")  # lab and cell that show one


@click.command(epilog="Example: make run bench && coursekit readme")
def readme() -> None:
    """Refresh the README's pictures and numbers from the newest `make run` and `make bench`.

    Which cell's picture stands for a lab, the key `picture` of its lab.toml says.
    """
    root = find_root()
    labs = find_labs(root)
    for lab in labs:
        if lab.picture:
            keep_picture(root, lab)
    blocks = {
        "labs": table(labs, "labs/") + picture_table(root, labs),
        "run": run_block(read_json(root / "build" / "runs" / "latest" / "report.json", "coursekit run")),
        "deadlock": deadlock_block(outputs_of(root, *DEADLOCK)),
        "bench": bench_block(read_benchmarks(root / "build" / "bench.json")),
    }
    page = root / "README.md"
    text = page.read_text(encoding="utf-8")
    for name, block in blocks.items():
        text = refresh_block(text, name, block)
    page.write_text(text, encoding="utf-8")
    click.echo(f"{page.name}: {', '.join(blocks)} refreshed")


def keep_picture(root: Path, lab: Lab) -> None:
    """Copy the last PNG of the lab's chosen cell, and its text alternative, out of the newest run.

    Raises:
        CourseKitError: the newest run has no notebook of this lab, or the cell shows no picture.
    """
    shown = [output for output in outputs_of(root, lab.name, lab.picture) if PNG in output.get("data", {})]
    if not shown:
        raise CourseKitError(f"solutions/{lab.name}/lab.toml: the cell picture = {lab.picture!r} shows no picture.")
    path = picture_file(root, lab)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(base64.b64decode(shown[-1].data[PNG]))
    alternative_file(path).write_text(shown[-1].metadata.get(PNG, {}).get("alt", lab.title) + "\n", encoding="utf-8")


def outputs_of(root: Path, lab_name: str, cell_id: str) -> list[NotebookNode]:
    """Return what a cell showed in the newest run.

    Raises:
        CourseKitError: there is no run of this lab.
    """
    executed = root / "build" / "runs" / "latest" / lab_name / f"{lab_name}.ipynb"
    if not executed.is_file():
        raise CourseKitError(f"the newest run has no notebook of {lab_name}: run `coursekit run` first.")
    cells = nbformat.read(executed, as_version=4).cells
    return [output for cell in cells if cell.id == cell_id for output in cell.outputs]


def deadlock_block(outputs: Sequence[NotebookNode]) -> str:
    """Return the first paragraph of what `ranks.run` said about a deadlock, as a code block."""
    said = "".join(output.get("text", "") for output in outputs)
    first, _, _ = said.partition("\n\n")
    return f"```\n{first}\n```\n"


def read_json(path: Path, command: str) -> dict[str, Any]:
    """Read what a command has recorded.

    Raises:
        CourseKitError: it has not recorded anything yet.
    """
    if not path.is_file():
        raise CourseKitError(f"there is no {path.name}: run `{command}` first.")
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def read_benchmarks(path: Path) -> dict[str, Any]:
    """Read what `make bench` has recorded.

    Raises:
        CourseKitError: it has not, or it did not come to its end.
    """
    record = read_json(path, "make bench")
    if missing := BENCHMARKS.keys() - record["benchmarks"].keys():
        raise CourseKitError(f"{path.name} is without {', '.join(sorted(missing))}: let `make bench` come to its end.")
    return record


def run_block(report: dict[str, Any]) -> str:
    """Return the table that `coursekit run` ended with, as Markdown."""
    head = ("lab", "verdict", "points", "time", "peak memory", "ranks")
    rows = []
    for entry in report["labs"]:
        lab = LabResult.from_json(entry)
        memory = format_memory(lab.peak_memory_mb)
        rows.append((lab.lab, lab.verdict, format_points(lab), format_time(lab.time_s), memory, str(lab.num_ranks)))
    return markdown_table(head, rows, "llrrrr") + machine(report["facts"])


def bench_block(record: dict[str, Any]) -> str:
    """Return the benchmarks as Markdown tables: launch first and grading last, what else was measured between them."""
    benchmarks = dict(record["benchmarks"])
    launch, grading = benchmarks.pop("launch"), benchmarks.pop("grading", None)
    curve = [curve_table(benchmarks.pop("curve"))] if "curve" in benchmarks else []
    others = [
        ways_table(one, one["title"]) if one["series"][0]["share"] is None else steps_table(one)
        for one in benchmarks.values()
    ]
    tables = [ways_table(launch, "way to start two ranks"), *curve, *others, *grading_tables(grading)]
    return "\n".join(tables) + machine(record["facts"])


def ways_table(measured: dict[str, Any], heading: str) -> str:
    """Return the ways to do a thing, with the ratio of medians to the first."""
    series = measured["series"]
    fastest = series[0]["median_s"]
    head = (heading, "median s", "min s", "max s", "calls", "ratio")
    rows = [(f"`{one['name']}`", *_times(one), f"{one['median_s'] / fastest:.0f}") for one in series]
    return markdown_table(head, rows, "lrrrrr")


def curve_table(measured: dict[str, Any]) -> str:
    """Return how long a launch takes by the number of ranks, and the share of each rank."""
    head = ("ranks started by `ranks.run`", "median s", "min s", "max s", "calls", "s per rank")
    rows = [(one["name"], *_times(one), f"{one['per_rank_s']:.3f}") for one in measured["series"]]
    return markdown_table(head, rows, "lrrrrr")


def steps_table(measured: dict[str, Any]) -> str:
    """Return the ways to make a training step, with their share of full speed and the first step apart."""
    head = (measured["title"], "median s", "min s", "max s", "steps", "share of full speed", "first step s")
    rows = [
        (one["name"], *_times(one, 3), f"{one['share']:.0%}", f"{one['first_s']:.1f}") for one in measured["series"]
    ]
    return markdown_table(head, rows, "lrrrrrr")


def _times(one: dict[str, Any], num_digits: int | None = None) -> list[str]:
    """Return median, shortest and longest time of a series, and of how many; what is short has more digits."""
    num_digits = num_digits or (2 if one["median_s"] >= SHORT_S else 4)
    return [*(f"{one[name]:.{num_digits}f}" for name in ("median_s", "min_s", "max_s")), str(len(one["seconds"]))]


def grading_tables(measured: dict[str, Any] | None) -> list[str]:
    """Return how fast a class is graded and what the walls cost, and how that was measured."""
    if measured is None:
        return []
    tables = [markdown_table(head, rows, "l" + "r" * (len(head) - 1)) for head, *rows in all_rows(measured)]
    return [*tables, "\n".join(remarks(measured)) + "\n"]


def machine(facts: dict[str, Any]) -> str:
    """Return one line on what a measurement was made with."""
    versions = facts["versions"]
    return (
        f"\nMeasured on {facts['num_cpus']} cores of {facts['device']} with Python {versions['python']}, "
        f"TensorFlow {versions['tensorflow']} and Horovod {versions['horovod']}.\n"
    )
