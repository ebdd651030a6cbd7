"""What `workshop readme` writes: whole blocks of Markdown out of recorded runs."""

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
RESULT = results.LabResult(
    *("01-sgd", "t", results.FAILED, ""),
    scores=(CellScore("a-tests", 2, 2, ""), CellScore("b-tests", 1, 3, "AssertionError")),
    time_s=75.2,
    peak_memory_mb=512.4,
    num_ranks=2,
    parameters={},
)
RUN = """\
| lab | verdict | points | time | peak memory | ranks |
| --- | --- | ---: | ---: | ---: | ---: |
| 01-sgd | failed | 3 / 5 | 1 min 15 s | 512 MB | 2 |
"""
MEASUREMENT = {"rows": [["a start", "median s"], ["ranks.run", "0.20"]], "remarks": ["The first.", "The second."]}
SHOWN = "| a start | median s |\n| --- | ---: |\n| ranks.run | 0.20 |\n\nThe first.\nThe second.\n"


@pytest.fixture
def lab():
    """A lab whose cell `path` shows its picture."""
    return Lab("01-sgd", Path("01-sgd"), "t", "s", 1, ("o",), Resources(1, 1, 1), {}, picture="path")


def executed_notebook(root, *cells, lab="01-sgd"):
    """Put an executed notebook where the newest run would have it."""
    folder = root / "build" / "runs" / "latest" / lab
    folder.mkdir(parents=True)
    nbformat.write(nbformat.v4.new_notebook(cells=list(cells)), folder / f"{lab}.ipynb")


def test_each_block_is_filled_on_its_page(tmp_path, monkeypatch):
    """The deadlock without its stacks, the table of the run, a table of each benchmark, and the machine."""
    monkeypatch.setattr(readme_command, "find_root", lambda: tmp_path)
    pages = {"README.md": ("deadlock",), "docs/benchmarks.md": ("run", "bench")}
    for folder in ("solutions", "labs", "docs"):
        (tmp_path / folder).mkdir()
    for page, names in pages.items():
        (tmp_path / page).write_text("".join(marked(name, "old\n") for name in names))
    outputs = [nbformat.v4.new_output("stream", text=text) for text in ("who waits\nfor whom\n", "\nstacks\n")]
    cell = nbformat.v4.new_code_cell("deadlock()", id="deadlock", outputs=outputs)
    executed_notebook(tmp_path, cell, lab="02-horovod-sgd")
    report = tmp_path / "build" / "runs" / "latest" / "report.json"
    report.write_text(json.dumps({"labs": [RESULT.to_json()], "facts": FACTS}))
    record = {"benchmarks": dict.fromkeys(BENCHMARKS, MEASUREMENT), "facts": FACTS}
    (tmp_path / "build" / "bench.json").write_text(json.dumps(record))
    done = CliRunner().invoke(readme_command.readme, catch_exceptions=False)
    bench = (tmp_path / "docs/benchmarks.md").read_text().partition("<!-- bench:begin -->\n")[2]

    assert done.output == "README.md: deadlock refreshed\nbenchmarks.md: run, bench refreshed\n"
    assert (tmp_path / "README.md").read_text() == marked("deadlock", "```\nwho waits\nfor whom\n```\n")
    assert (tmp_path / "docs/benchmarks.md").read_text().startswith(marked("run", RUN + MEASURED))
    assert bench == "\n".join([SHOWN] * len(BENCHMARKS)) + f"{MEASURED}<!-- bench:end -->\n"


def test_what_is_missing_is_said_in_a_sentence(tmp_path, lab):
    """Without a run, with a cell that shows nothing, or half of the benchmarks, the command says what to do."""
    with pytest.raises(CourseKitError, match=r"run.no-notebook"):
        readme_command.keep_picture(tmp_path, lab)
    executed_notebook(tmp_path, nbformat.v4.new_code_cell("1", id="path"))
    with pytest.raises(CourseKitError, match=r"lab.no-picture"):
        readme_command.keep_picture(tmp_path, lab)
    record = {"benchmarks": {name: {} for name in {*BENCHMARKS} - {"input", "grading"}}}
    with pytest.raises(CourseKitError, match=r" grading, input: .*bench.incomplete"):
        readme_command.bench_block(record)


def marked(name, block):
    """Return a part of a page that has the marks of a block."""
    return f"<!-- {name}:begin -->\n{block}<!-- {name}:end -->\n"
