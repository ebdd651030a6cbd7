"""`workshop bench`: the registry, the table and the record."""

import json

import pytest
from click.testing import CliRunner

from workshop.bench.measurement import Series, compare
from workshop.cli import bench as command

HEAD = ("what", "median s", "min s", "max s", "times")


def measure_counting(repeat, progress):
    """Measure counting: a benchmark as a later issue would add it."""
    progress("counting")
    return compare("counting", (Series("fingers", 1.0, (0.5,) * repeat), Series("sheep", 9.0, (4.0,) * repeat)))


def test_a_benchmark_prints_its_series_side_by_side_and_writes_them(tmp_path, monkeypatch):
    """The table shows counts, statistics and ratios; the file holds the numbers and what they were measured on."""
    monkeypatch.setattr(command, "load", {"launch": measure_counting}.__getitem__)
    file = tmp_path / "bench.json"
    result = CliRunner().invoke(command.bench, ["launch", "--repeat", "4", "--json", str(file)])
    assert result.exit_code == 0, result.output
    assert "| fingers | 0.50 | 0.50 | 0.50 | 4 | 1 |\n| sheep | 4.00 | 4.00 | 4.00 | 4 | 8 |\n" in result.stdout
    assert "launch: counting …" in result.stderr
    content = json.loads(file.read_text())
    assert content["benchmarks"]["launch"]["series"][1]["seconds"] == [4.0] * 4
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


@pytest.mark.parametrize(
    ("series", "rows"),
    [
        (
            (Series("own", 100.0, (0.2, 0.1, 0.9)), Series("other", 0.001, (3.0, 1.0)), Series("short", 9.0, (0.02,))),
            [
                (*HEAD, "ratio"),
                ("own", "0.20", "0.10", "0.90", "3", "1"),
                ("other", "2.00", "1.00", "3.00", "2", "10"),
                ("short", "0.0200", "0.0200", "0.0200", "1", "0"),
            ],
        ),
        (
            (Series("alone", 4.0, (0.125,), 0.125), Series("two", 9.96, (0.05, 0.25, 0.9), 0.125)),
            [
                (*HEAD, "share of full speed", "first s"),
                ("alone", "0.125", "0.125", "0.125", "1", "100%", "4.0"),
                ("two", "0.250", "0.050", "0.900", "3", "50%", "10.0"),
            ],
        ),
        (
            (Series("1", 4.0, (0.25,), num_ranks=1), Series("8", 8.0, (0.5,), num_ranks=8)),
            [
                (*HEAD, "s per rank"),
                ("1", "0.25", "0.25", "0.25", "1", "0.250"),
                ("8", "0.50", "0.50", "0.50", "1", "0.062"),
            ],
        ),
    ],
    ids=["ways", "steps", "ranks"],
)
def test_medians_are_compared(series, rows):
    """With the first way, with full speed, or for each rank; what is short has more digits."""
    assert compare("what", series).rows == rows
