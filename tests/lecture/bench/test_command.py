"""`coursekit bench`: the registry, the table and the record."""

from __future__ import annotations

import json

from click.testing import CliRunner
from rich.console import Console

from coursekit.cli import bench as command
from coursekit.lecture.bench.measurement import Measurement, Series


def measure_counting(repeat, progress):
    """Measure counting: a benchmark as a later issue would add it."""
    progress("counting")
    return Measurement(
        title="counting",
        series=(Series("fingers", 1.0, (0.5,) * repeat), Series("sheep", 9.0, (4.0,) * repeat)),
    )


def test_every_registered_benchmark_can_be_loaded():
    """The registry names functions that exist."""
    assert {name: callable(command.load(name)) for name in command.BENCHMARKS} == dict.fromkeys(
        ["launch", "curve", "stay", "cell", "mobilenetv2", "resnet50", "input", "prediction", "grading"], True
    )


def test_a_benchmark_prints_its_series_side_by_side_and_writes_them(tmp_path, monkeypatch):
    """The table shows counts, statistics and ratios; the file holds the numbers and what they were measured on."""
    monkeypatch.setattr(command, "load", {"launch": measure_counting}.__getitem__)
    file = tmp_path / "bench.json"
    result = CliRunner().invoke(command.bench, ["launch", "--repeat", "4", "--json", str(file)])
    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["fingers", "1.00", "4", "0.50", "0.50", "0.50", "1.0"] in rows
    assert ["sheep", "9.00", "4", "4.00", "4.00", "4.00", "8.0"] in rows
    assert "launch: counting …" in result.stderr
    content = json.loads(file.read_text())
    assert content["benchmarks"]["launch"]["ratios"] == {"sheep": 8.0}
    assert content["facts"]["num_cpus"] >= 1
    assert {"tensorflow", "horovod", "python"} <= set(content["facts"]["versions"])


def test_what_was_measured_survives_what_comes_after(tmp_path, monkeypatch):
    """The file holds each benchmark from its end on, so that a failure of the next one, or Ctrl-C, loses nothing."""

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "load", {"launch": measure_counting, "curve": interrupted}.__getitem__)
    file = tmp_path / "bench.json"
    result = CliRunner().invoke(command.bench, ["launch", "curve", "--json", str(file)])
    assert result.exit_code == 1
    assert list(json.loads(file.read_text())["benchmarks"]) == ["launch"]


def test_training_steps_are_shown_with_their_share_of_full_speed():
    """Steps are short, so they get three digits, and a percentage in place of a ratio."""
    series = (Series("alone", 4.0, (0.125,), 0.125), Series("two", 8.0, (0.25,), 0.125))
    console = Console(width=100)
    with console.capture() as capture:
        console.print(command.table(Measurement("steps", series)))
    rows = [line.split() for line in capture.get().splitlines()]
    assert ["alone", "4.00", "1", "0.125", "0.125", "0.125", "100%"] in rows
    assert ["two", "8.00", "1", "0.250", "0.250", "0.250", "50%"] in rows


def test_launches_are_shown_with_the_share_of_a_rank():
    """In place of the ratio stand the seconds of a call for each of its ranks."""
    series = (Series("1", 4.0, (0.125,), num_ranks=1), Series("8", 8.0, (0.5,), num_ranks=8))
    console = Console(width=100)
    with console.capture() as capture:
        console.print(command.table(Measurement("curve", series)))
    rows = [line.split() for line in capture.get().splitlines()]
    assert "s per rank" in capture.get()
    assert ["1", "4.00", "1", "0.12", "0.12", "0.12", "0.125"] in rows
    assert ["8", "8.00", "1", "0.50", "0.50", "0.50", "0.062"] in rows


def test_an_unknown_benchmark_is_refused_with_the_known_ones():
    """Nothing runs before all names are known."""
    result = CliRunner().invoke(command.bench, ["launch", "lunch"])
    assert result.exit_code == 2
    names = ", ".join(map(repr, sorted(command.BENCHMARKS)))
    assert f"'lunch' is not one of {names}" in result.output
