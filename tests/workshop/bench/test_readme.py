"""What `workshop readme` writes: whole blocks of Markdown out of recorded runs."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner

from coursekit.errors import CourseKitError
from coursekit.labs.cells import CellScore
from coursekit.labs.lab import Lab, Resources
from coursekit.labs.run import results
from workshop.cli import readme as readme_command
from workshop.cli.bench import BENCHMARKS

FACTS = {"num_cpus": 2, "device": "a CPU", "versions": {"python": "3.11", "tensorflow": "2.15", "horovod": "0.28"}}
MEASURED = "\nMeasured on 2 cores of a CPU with Python 3.11, TensorFlow 2.15 and Horovod 0.28.\n"
PNG = "iVBORw0KGgo="  # the signature of a PNG, base64-encoded


@pytest.fixture
def lab():
    """A lab whose cell `path` shows its picture."""
    return Lab("01-sgd", Path("01-sgd"), "t", "s", 1, ("o",), Resources(1, 1, 1), {}, picture="path")


def executed_notebook(root, *cells, lab="01-sgd"):
    """Put an executed notebook where the newest run would have it."""
    folder = root / "build" / "runs" / "latest" / lab
    folder.mkdir(parents=True)
    nbformat.write(nbformat.v4.new_notebook(cells=list(cells)), folder / f"{lab}.ipynb")


def test_run_block_is_the_table_of_the_run():
    """Each lab of the run becomes a row, and a line says what it was measured with."""
    scores = (CellScore("a-tests", 2, 2, ""), CellScore("b-tests", 1, 3, "AssertionError"))
    result = results.LabResult(
        lab="01-sgd",
        title="t",
        verdict=results.FAILED,
        reason="",
        scores=scores,
        time_s=75.2,
        peak_memory_mb=512.4,
        num_ranks=2,
        parameters={},
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


def test_bench_block_is_a_table_of_each_benchmark():
    """Ways with the ratio of medians, a class with the speed of hand-ins against nbgrader's, and how it was graded."""
    launch = {
        "title": "a start",
        "series": [
            {"name": "ranks.run", "first_s": 9.0, "seconds": [0.1, 0.2, 0.3]},
            {"name": "horovodrun", "first_s": 9.0, "seconds": [5.0]},
        ],
    }
    grading = {
        "title": "grading 6 submissions of labs 01",
        "num_hand_ins": 6,
        "kinds": {"right": 2, "wrong": 4},
        "num_slots": 2,
        "cell_limit_s": 60,
        "ways": {"kit": {"seconds": 36.0, "num_right": 6}, "nbgrader": {"seconds": 180.0, "num_right": 5}},
        "peak_memory_gb": 1.234,
    }
    expected = (
        "| a start | median s | min s | max s | times | ratio |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: |\n"
        "| ranks.run | 0.20 | 0.10 | 0.30 | 3 | 1 |\n"
        "| horovodrun | 5.00 | 5.00 | 5.00 | 1 | 25 |\n"
        "\n"
        "| grading 6 submissions of labs 01 | total s | per minute | right verdicts | times as fast | GB per slot |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: |\n"
        "| kit | 36 | 10.0 | 6 of 6 | 5.0 | 1.2 |\n"
        "| nbgrader | 180 | 2.0 | 5 of 6 | 1.0 |  |\n"
        "\n"
        "The class: 2 right, 4 wrong; both graders allow a cell 60 s.\n"
    )
    record = {"benchmarks": {"launch": launch, "grading": grading}, "facts": FACTS}

    assert readme_command.bench_block(record).startswith(expected)
    assert readme_command.bench_block(record).endswith(MEASURED)


def test_picture_is_the_last_one_of_the_chosen_cell(tmp_path, lab):
    """The cell that lab.toml names gives the picture, byte for byte, and its text alternative."""
    output = nbformat.v4.new_output("display_data", data={"image/png": PNG}, metadata={"image/png": {"alt": "a path"}})
    executed_notebook(tmp_path, nbformat.v4.new_code_cell("draw()", id="path", outputs=[output]))
    readme_command.keep_picture(tmp_path, lab)

    assert (tmp_path / "docs" / "pictures" / "01-sgd.png").read_bytes() == b"\x89PNG\r\n\x1a\n"
    assert (tmp_path / "docs" / "pictures" / "01-sgd.txt").read_text() == "a path\n"


def test_deadlock_block_is_the_first_paragraph():
    """Of what a deadlock shows, the block quotes who waits for whom, not the stacks."""
    outputs = [nbformat.v4.new_output("stream", text=text) for text in ("who waits\nfor whom\n", "\nstacks\n")]

    assert readme_command.deadlock_block(outputs) == "```\nwho waits\nfor whom\n```\n"


def marked(*blocks):
    """Return a page with the marks of blocks."""
    return "".join(f"# {name}\n\n<!-- {name}:begin -->\nold\n<!-- {name}:end -->\n" for name in blocks)


def test_each_block_is_filled_on_its_page(tmp_path, monkeypatch):
    """The deadlock is filled in on the first page, the run and the benchmarks on a page of their own."""
    monkeypatch.setattr(readme_command, "find_root", lambda: tmp_path)
    (tmp_path / "solutions").mkdir()
    (tmp_path / "labs").mkdir()
    (tmp_path / "docs").mkdir()
    pages = {"README.md": ("deadlock",), "docs/benchmarks.md": ("run", "bench")}
    for page, names in pages.items():
        (tmp_path / page).write_text(marked(*names))
    said = nbformat.v4.new_output("stream", text="who waits\n\nstacks\n")
    cell = nbformat.v4.new_code_cell("deadlock()", id="deadlock", outputs=[said])
    executed_notebook(tmp_path, cell, lab="02-horovod-sgd")
    report = tmp_path / "build" / "runs" / "latest" / "report.json"
    report.write_text(json.dumps({"labs": [], "facts": FACTS}))
    launch = {"title": "a start", "series": [{"name": "ranks.run", "first_s": 9.0, "seconds": [0.1]}]}
    record = {"benchmarks": dict.fromkeys(BENCHMARKS, launch), "facts": FACTS}
    (tmp_path / "build" / "bench.json").write_text(json.dumps(record))
    done = CliRunner().invoke(readme_command.readme)

    assert (done.exception, done.output) == (
        None,
        "README.md: deadlock refreshed\ndocs/benchmarks.md: run, bench refreshed\n",
    )
    blocks = {
        "deadlock": "```\nwho waits\n```\n",
        "run": readme_command.run_block({"labs": [], "facts": FACTS}),
        "bench": readme_command.bench_block(record),
    }
    for page, names in pages.items():
        filled = "".join(marked(name).replace("old\n", blocks[name]) for name in names)
        assert (tmp_path / page).read_text() == filled


def test_missing_run_and_missing_picture_are_said_in_a_sentence(tmp_path, lab):
    """Without a run, or with a cell that shows nothing, the command says what to do."""
    with pytest.raises(CourseKitError, match="the newest run has no notebook of 01-sgd: run `coursekit run` first"):
        readme_command.keep_picture(tmp_path, lab)
    executed_notebook(tmp_path, nbformat.v4.new_code_cell("1", id="path"))
    with pytest.raises(CourseKitError, match=r"01-sgd/lab.toml: the cell picture = 'path' shows no picture"):
        readme_command.keep_picture(tmp_path, lab)
