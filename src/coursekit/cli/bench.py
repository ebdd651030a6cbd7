"""The command `coursekit bench`."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime, timezone
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click
from rich import box
from rich.console import Console
from rich.table import Table

from coursekit.files import write_file
from coursekit.labs.run.facts import collect
from coursekit.lecture.bench.grading_tables import all_rows, remarks
from coursekit.lecture.bench.measurement import SHORT_S, Measurement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from coursekit.labs.run.facts import Facts
    from coursekit.lecture.bench.grading_tables import Rows
    from coursekit.lecture.bench.measurement import Benchmark, BenchmarkResult

BENCHMARKS = {
    "launch": "coursekit.lecture.bench.launch:measure_launch",
    "curve": "coursekit.lecture.bench.launch:measure_curve",
    "stay": "coursekit.lecture.bench.staying:measure_start",
    "cell": "coursekit.lecture.bench.staying:measure_cell",
    "mobilenetv2": "coursekit.lecture.bench.communication:measure_mobilenetv2",
    "resnet50": "coursekit.lecture.bench.communication:measure_resnet50",
    "input": "coursekit.lecture.bench.input_pipeline:measure_input",
    "prediction": "coursekit.lecture.bench.prediction:measure_prediction",
    "grading": "coursekit.lecture.bench.grading:measure_grading",
}


def load(name: str) -> Benchmark:
    """Import and return a benchmark by its name."""
    module, attribute = BENCHMARKS[name].split(":")
    return cast("Benchmark", getattr(import_module(module), attribute))


def table(measurement: Measurement) -> Table:
    """Return the series side by side, in seconds; the ratio is to the first, a share of full speed, or per rank."""
    result = Table(title=measurement.title, title_justify="left", box=box.SIMPLE_HEAD)
    result.add_column("", no_wrap=True)
    last = "ratio" if measurement.series[0].num_ranks is None else "s per rank"
    for heading in ("first s", "calls", "min s", "median s", "max s", last):
        result.add_column(heading, justify="right")
    ratios = measurement.ratios()
    for one in measurement.series:
        digits = 2 if one.share is None else 3  # steps are short
        digits = digits if one.median_s >= SHORT_S else 4
        numbers = (min(one.seconds), one.median_s, max(one.seconds))
        cells = [f"{seconds:.{digits}f}" for seconds in numbers]
        ratio = f"{ratios.get(one.name, 1):.1f}" if one.share is None else f"{one.share:.0%}"
        if one.per_rank_s is not None:
            ratio = f"{one.per_rank_s:.3f}"
        result.add_row(one.name, f"{one.first_s:.2f}", str(len(one.seconds)), *cells, ratio)
    return result


def show(outcome: BenchmarkResult, console: Console) -> None:
    """Print an outcome, whichever kind of benchmark it is of."""
    if isinstance(outcome, Measurement):
        console.print(table(outcome))
        return
    measured = outcome.as_json()
    for rows in all_rows(measured):
        console.print(grid(rows))
    console.print("\n".join(remarks(measured)), markup=False, highlight=False)


def grid(rows: Rows) -> Table:
    """Return rows of words as a table; the first row holds the headings."""
    (title, *headings), *others = rows
    result = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    result.add_column("")
    for heading in headings:
        result.add_column(heading, justify="right")
    for row in others:
        result.add_row(*row)
    return result


@contextmanager
def showing_progress(name: str) -> Iterator[Callable[[str], None]]:
    """Yield a function that says what is being done: in place on a terminal, in lines elsewhere."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda text: click.echo(f"{name}: {text} …", err=True)
        return
    with console.status(name) as status:
        yield lambda text: status.update(f"{name}: {text} …")


def record(measurements: dict[str, BenchmarkResult], facts: Facts) -> str:
    """Return all numbers and what they were measured on as JSON text."""
    content = {
        "time": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "facts": asdict(facts),
        "benchmarks": {name: measurement.as_json() for name, measurement in measurements.items()},
    }
    return json.dumps(content, indent=1) + "\n"


@click.command(epilog="Example: coursekit bench launch --repeat 5 --json launch.json")
@click.argument("names", nargs=-1, type=click.Choice(sorted(BENCHMARKS)), metavar="[NAME]…")
@click.option("--repeat", type=click.IntRange(1, 1000), default=3, show_default=True, help="Turns of every benchmark.")
@click.option(
    "--json",
    "json_file",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write the numbers and the facts of the machine to this file, too, after each benchmark.",
)
def bench(names: tuple[str, ...], repeat: int, json_file: Path | None) -> None:
    """Measure how long things take, side by side; without a NAME, everything.

    \b
    launch       until two ranks have run a function: ranks.run, horovod.run, horovodrun
    curve        until 1, 2, 4, … 64 ranks have run it
    stay         until two ranks that stay wait for cells, and engines of ipyparallel where that is installed
    cell         a cell on two ranks that wait; the same
    mobilenetv2  a training step on two ranks, with and without communication
    resnet50     the same for a network with seven times as many parameters
    input        a training step on pictures from TFRecord files and from memory
    prediction   a predicted training step of 8 to 4096 ranks
    grading      a class by `coursekit grade` and by plain nbgrader (ten minutes or more);
                 COURSEKIT_BENCH_CLASS="4 01" for 4 students and lab 01
    """  # noqa: D301  # \b keeps click from joining the lines
    facts = collect(Path.cwd())
    measurements: dict[str, BenchmarkResult] = {}
    for name in dict.fromkeys(names or BENCHMARKS):
        with showing_progress(name) as progress:
            measurements[name] = load(name)(repeat, progress)
        show(measurements[name], Console())
        if json_file is not None:  # at once: the next one may take most of an hour
            write_file(json_file, record(measurements, facts).encode(), mode=None)
    click.echo(f"Measured on {facts.num_cpus} x {facts.device}.")
