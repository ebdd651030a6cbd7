"""`workshop bench`: run the benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime, timezone
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import click

from coursekit.cli.shared import JSON_FILE
from coursekit.files import write_json
from coursekit.labs.run.results import gather_facts
from coursekit.text import markdown_table
from workshop.bench.measurement import Measurement, Progress

Benchmark = Callable[[int, Progress], Measurement]
"""A benchmark measures each alternative at least this many times, and reports its progress."""

BENCHMARKS = {
    "launch": "workshop.bench.launch:measure_launch",
    "curve": "workshop.bench.launch:measure_curve",
    "mobilenetv2": "workshop.bench.communication:measure_mobilenetv2",
    "resnet50": "workshop.bench.communication:measure_resnet50",
    "stacks": "workshop.bench.stacks:measure_stacks",
    "input": "workshop.bench.input_pipeline:measure_input",
    "grading": "workshop.bench.grading:measure_grading",
    "sizes": "workshop.bench.size_of_class:measure_sizes",
}


def load(name: str) -> Benchmark:
    """Import and return a benchmark by its name."""
    module, attribute = BENCHMARKS[name].split(":")
    return cast("Benchmark", getattr(import_module(module), attribute))


def as_markdown(measured: Mapping[str, Any]) -> str:
    """Return a benchmark's result, which is plain data, as a Markdown table with sentences below it."""
    head, *rows = measured["rows"]
    sentences = "".join(f"{one}\n" for one in ("", *measured["remarks"])) if measured["remarks"] else ""
    return markdown_table(head, rows, "l" + "r" * (len(head) - 1)) + sentences


@click.command(epilog="Example: workshop bench launch --repeat 5 --json launch.json")
@click.argument("names", nargs=-1, type=click.Choice(sorted(BENCHMARKS)), metavar="[NAME]...")
@click.option(
    "--repeat",
    metavar="N",
    type=click.IntRange(1, 1000),
    default=3,
    show_default=True,
    help="Number of repetitions of each benchmark.",
)
@JSON_FILE
def bench(names: tuple[str, ...], repeat: int, json_file: Path | None) -> None:
    """Run the benchmarks.

    Without NAME, all benchmarks run:

    \b
    launch       time until two ranks have run a function with ranks.run (Gloo, MPI), horovod.run, horovodrun, mpirun
    curve        time until 1, 2, 4, … 64 ranks have run a function with ranks.run
    mobilenetv2  a training step on two ranks, with and without communication
    resnet50     the same for a network with seven times as many parameters
    stacks       import, start of ranks and training steps, alternately with TensorFlow 2.15 and 2.21
    input        a training step on images from TFRecord files and from memory
    grading      a class, graded by `coursekit grade` and by plain nbgrader (ten minutes or more);
                 set COURSEKIT_BENCH_CLASS="4 01" for 4 students and lab 01
    sizes        the instructor's commands for 30 and 300 students with equal answers;
                 set COURSEKIT_BENCH_STUDENTS="3000" for 3000 students instead
    """  # noqa: D301  # \b keeps click from joining the lines
    facts = gather_facts(Path.cwd())
    measurements: dict[str, dict[str, Any]] = {}
    for name in dict.fromkeys(names or BENCHMARKS):
        measurements[name] = asdict(load(name)(repeat, partial(_tell, name)))
        click.echo(as_markdown(measurements[name]))
        if json_file is not None:  # after each benchmark, because the next may take an hour
            now = datetime.now(timezone.utc).isoformat(timespec="seconds")
            write_json(json_file, {"time": now, "facts": asdict(facts), "benchmarks": measurements})
    click.echo(f"Measured on {facts.num_cpus} x {facts.device}.")


def _tell(name: str, what: str) -> None:
    click.echo(f"{name}: {what} …", err=True)
