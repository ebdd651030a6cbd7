"""What `coursekit readme` writes: whole blocks of Markdown out of recorded runs."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest

from coursekit.cli import readme as readme_command
from coursekit.cli.bench import BENCHMARKS
from coursekit.errors import CourseKitError
from coursekit.labs.cells import CellScore
from coursekit.labs.lab import Lab, Resources
from coursekit.labs.run import results

FACTS = {"num_cpus": 2, "device": "a CPU", "versions": {"python": "3.11", "tensorflow": "2.15", "horovod": "0.28"}}
MEASURED = "\nMeasured on 2 cores of a CPU with Python 3.11, TensorFlow 2.15 and Horovod 0.28.\n"
PNG = "iVBORw0KGgo="  # the signature of a PNG, base64-encoded


@pytest.fixture
def lab():
    """A lab whose cell `path` shows the README's picture."""
    return Lab("01-sgd", Path("01-sgd"), "t", "s", 1, ("o",), (), Resources(1, 1, 1, 0), {}, picture="path")


def executed_notebook(root, *cells):
    """Put an executed notebook where the newest run would have it."""
    folder = root / "build" / "runs" / "latest" / "01-sgd"
    folder.mkdir(parents=True)
    nbformat.write(nbformat.v4.new_notebook(cells=list(cells)), folder / "01-sgd.ipynb")


def test_run_block_is_the_table_of_the_run():
    """Each lab of the run becomes a row, and a line says what it was measured with."""
    scores = (CellScore("a-tests", 2, 2, ""), CellScore("b-tests", 1, 3, "AssertionError"))
    result = results.LabResult(
        lab="01-sgd",
        title="t",
        verdict=results.FAILED,
        reason="",
        note="",
        scores=scores,
        time_s=75.2,
        peak_memory_mb=512.4,
        num_ranks=2,
        parameters={},
        fingerprint={},
    )
    expected = (
        "| lab | verdict | points | time | peak memory | ranks |\n"
        "| --- | --- | ---: | ---: | ---: | ---: |\n"
        "| 01-sgd | failed | 3 / 5 | 1 min 15 s | 512 MB | 2 |\n"
    )

    assert expected + MEASURED == readme_command.run_block({"labs": [result.to_json()], "facts": FACTS})


def test_half_of_the_benchmarks_are_refused(tmp_path):
    """The page shows all of `make bench` or nothing of it, and says what is missing."""
    path = tmp_path / "bench.json"
    path.write_text(json.dumps({"benchmarks": {name: {} for name in {*BENCHMARKS} - {"input", "grading"}}}))
    with pytest.raises(CourseKitError) as refused:
        readme_command.read_benchmarks(path)
    assert str(refused.value) == "bench.json is without grading, input: let `make bench` come to its end."


def test_bench_block_gives_ratios_to_the_first_way():
    """The ratio is that of the medians."""
    series = [
        {"name": "ranks.run", "median_s": 0.2, "min_s": 0.1, "max_s": 0.3, "seconds": [0.1, 0.2, 0.3]},
        {"name": "horovodrun", "median_s": 5.0, "min_s": 4.5, "max_s": 6.0, "seconds": [5.0]},
    ]
    expected = (
        "| way to start two ranks | median s | min s | max s | calls | ratio |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: |\n"
        "| `ranks.run` | 0.20 | 0.10 | 0.30 | 3 | 1 |\n"
        "| `horovodrun` | 5.00 | 4.50 | 6.00 | 1 | 25 |\n"
    )
    record = {"benchmarks": {"launch": {"series": series}}, "facts": FACTS}

    assert expected + MEASURED == readme_command.bench_block(record)


def test_bench_block_gives_steps_a_table_each_with_the_share_of_full_speed():
    """Training steps follow the launch times; their share is the recorded one, and the first step stands apart."""
    launch = {"series": [{"name": "ranks.run", "median_s": 0.2, "min_s": 0.1, "max_s": 0.3, "seconds": [0.2]}]}
    numbers = {"min_s": 0.1, "max_s": 0.3, "seconds": [0.1, 0.2, 0.3]}
    steps = {
        "title": "a step",
        "series": [
            {"name": "no communication", "median_s": 0.16, "share": 1.0, "first_s": 4.0, **numbers},
            {"name": "Gloo", "median_s": 0.2, "share": 0.8, "first_s": 9.96, **numbers},
        ],
    }
    expected = (
        "| way to start two ranks | median s | min s | max s | calls | ratio |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: |\n"
        "| `ranks.run` | 0.20 | 0.10 | 0.30 | 1 | 1 |\n"
        "\n"
        "| a step | median s | min s | max s | steps | share of full speed | first step s |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        "| no communication | 0.160 | 0.100 | 0.300 | 3 | 100% | 4.0 |\n"
        "| Gloo | 0.200 | 0.100 | 0.300 | 3 | 80% | 10.0 |\n"
    )

    record = {"benchmarks": {"launch": launch, "resnet50": steps}, "facts": FACTS}
    assert expected + MEASURED == readme_command.bench_block(record)


def test_bench_block_gives_the_curve_of_launches_after_the_ways_to_launch():
    """A row for each number of ranks, with the seconds of a call for each of them."""
    numbers = {"min_s": 0.1, "max_s": 0.5, "seconds": [0.1, 0.5]}
    launch = {"series": [{"name": "ranks.run", "median_s": 0.2, **numbers}]}
    curve = {"series": [{"name": "64", "median_s": 0.4, "per_rank_s": 0.00625, **numbers}]}
    expected = (
        "| way to start two ranks | median s | min s | max s | calls | ratio |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: |\n"
        "| `ranks.run` | 0.20 | 0.10 | 0.50 | 2 | 1 |\n"
        "\n"
        "| ranks started by `ranks.run` | median s | min s | max s | calls | s per rank |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: |\n"
        "| 64 | 0.40 | 0.10 | 0.50 | 2 | 0.006 |\n"
    )

    record = {"benchmarks": {"curve": curve, "launch": launch}, "facts": FACTS}
    assert expected + MEASURED == readme_command.bench_block(record)


def test_bench_block_gives_short_times_four_digits():
    """What is no training step is a table of ways under its own title, with the ratio to the first."""
    numbers = {"min_s": 0.001, "max_s": 0.005, "seconds": [0.1, 0.5], "share": None}
    ways = [{"name": name, "median_s": median_s, **numbers} for name, median_s in (("one", 0.002), ("other", 0.2))]
    table = readme_command.bench_block(
        {"benchmarks": {"launch": {"series": ways}, "cell": {"title": "a cell", "series": ways}}, "facts": FACTS}
    )
    assert (
        "| a cell | median s | min s | max s | calls | ratio |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: |\n"
        "| `one` | 0.0020 | 0.0010 | 0.0050 | 2 | 1 |\n"
        "| `other` | 0.20 | 0.00 | 0.01 | 2 | 100 |\n"
    ) in table


def test_picture_is_the_last_one_of_the_chosen_cell(tmp_path, lab):
    """The cell that lab.toml names gives the picture, byte for byte, and its text alternative."""
    output = nbformat.v4.new_output("display_data", data={"image/png": PNG}, metadata={"image/png": {"alt": "a path"}})
    executed_notebook(tmp_path, nbformat.v4.new_code_cell("draw()", id="path", outputs=[output]))
    readme_command.keep_picture(tmp_path, lab)

    assert (tmp_path / "docs" / "pictures" / "01-sgd.png").read_bytes() == b"\x89PNG\r\n\x1a\n"
    assert (tmp_path / "docs" / "pictures" / "01-sgd.txt").read_text() == "a path\n"


def test_deadlock_block_is_the_first_paragraph():
    """Of what a deadline shows, the README quotes who waits for whom, not the stacks."""
    outputs = [nbformat.v4.new_output("stream", text=text) for text in ("who waits\nfor whom\n", "\nstacks\n")]

    assert readme_command.deadlock_block(outputs) == "```\nwho waits\nfor whom\n```\n"


def test_missing_run_and_missing_picture_are_said_in_a_sentence(tmp_path, lab):
    """Without a run, or with a cell that shows nothing, the command says what to do."""
    with pytest.raises(CourseKitError, match="the newest run has no notebook of 01-sgd: run `coursekit run` first"):
        readme_command.keep_picture(tmp_path, lab)
    executed_notebook(tmp_path, nbformat.v4.new_code_cell("1", id="path"))
    with pytest.raises(CourseKitError, match=r"01-sgd/lab.toml: the cell picture = 'path' shows no picture"):
        readme_command.keep_picture(tmp_path, lab)
