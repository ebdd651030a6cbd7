"""What students hand in: each oddity is one clear line, and answers are found wherever that is unambiguous."""

from __future__ import annotations

import json
import os
from copy import deepcopy

import nbformat
import pytest

from coursekit.grading.submission.student_folder import classify, staged_cells
from coursekit.grading.verdict import Flag

from .conftest import NAME, RIGHT, filled, job_record


@pytest.fixture
def notebook(course):
    """The released notebook with right answers, to be damaged."""
    return filled(course, NAME, RIGHT)


@pytest.fixture
def look(course, tmp_path):
    """Return a function that writes a hand-in and returns what is made of it: the hand-in and its cells."""

    def write_and_look(notebook=None, name=f"{NAME}.ipynb", files=(), lab=NAME):
        folder = tmp_path / "handed-in"
        folder.mkdir(exist_ok=True)
        if notebook is not None:
            content = notebook if isinstance(notebook, (str, bytes)) else nbformat.writes(notebook)
            (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        for path, text in dict(files).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        released = course.released(lab)
        hand_in = classify(folder, "ada", lab, released, ("train.py",))
        return hand_in, staged_cells(hand_in, released)

    write_and_look.folder = tmp_path / "handed-in"
    return write_and_look


def cell_of(notebook, name):
    """Return the cell of this id."""
    return next(cell for cell in notebook.cells if cell.id == name)


def test_an_ordinary_hand_in_has_nothing_to_say(look, notebook):
    """All answers, no note, no flag; outputs are of no interest."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [nbformat.v4.new_output("stream", text="x")]
    hand_in, cells = look(notebook)
    assert (hand_in.notebook.name, hand_in.notes, hand_in.flags) == (f"{NAME}.ipynb", (), ())
    assert (cells.answers, cells.extra, cells.notes, cells.flags) == (RIGHT, [], (), ())


def test_a_renamed_notebook_is_found(look, notebook):
    """Another name is not a loss when only one notebook could be meant."""
    hand_in, cells = look(notebook, "my solution (1).ipynb")
    assert hand_in.notes == (f"the notebook is called my solution (1).ipynb: taken for {NAME}.ipynb",)
    assert cells.answers == RIGHT


def test_two_renamed_notebooks_are_not_guessed_between(look, notebook):
    """The report says what the student has to do."""
    look(notebook, "a.ipynb")
    hand_in, cells = look(notebook, "b.ipynb")
    assert hand_in.notebook is None
    assert hand_in.notes == (f"{NAME}.ipynb is missing, and each of a.ipynb, b.ipynb could be it: name one so",)
    assert not cells.answers


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (b'{"cells": [', "it is not valid JSON (line 1)"),
        (b"\xff\xfe\x00", "it is not text in UTF-8"),
        (b"[" * 100_000, "it is nested too deep"),
        (b'{"cells": ' + b"9" * 100_000 + b"}", "it is not valid JSON"),
        (b'{"worksheets": []}', "it has no list of cells"),
        (b'{"cells": [3]}', "one of its cells is not a cell"),
        (b'{"cells": [{"source": {}}]}', "a cell's text is not text"),
        (json.dumps({"cells": [{}] * 1001}).encode(), "it has more than 1000 cells"),
    ],
)
def test_a_damaged_notebook_is_one_line(look, content, reason):
    """Whatever is wrong with the file, the line says it, and nothing is graded."""
    hand_in, cells = look(content)
    assert hand_in.notebook is None
    assert hand_in.notes == (f"{NAME}.ipynb is damaged: {reason}", "nothing can be graded")
    assert not cells.answers


def test_a_copy_stands_in_for_a_damaged_notebook(look, notebook):
    """Jupyter's own copy beside it saves the student."""
    look(notebook, f"{NAME}-Copy1.ipynb")
    hand_in, cells = look("{")
    assert hand_in.notebook.name == f"{NAME}-Copy1.ipynb"
    assert hand_in.notes[0] == f"{NAME}.ipynb is damaged: it is not valid JSON (line 1)"
    assert cells.answers == RIGHT


def test_the_wrong_lab_is_named(look, course):
    """A notebook of another lab under this lab's name is not graded as this lab."""
    hand_in, _ = look(course.released("02-other"))
    assert hand_in.notebook is None
    assert hand_in.notes == (f"{NAME}.ipynb is the notebook of 02-other: the wrong lab", "nothing can be graded")


def test_nothing_handed_in(look):
    """A folder without a notebook, with a file."""
    hand_in, _ = look(files={"notes.txt": "hello"})
    assert hand_in.notes == (
        "no notebook was handed in",
        "nothing can be graded",
        "files beside the notebook are not taken: notes.txt",
    )


def test_lost_metadata_is_recovered_by_cell_ids(look, notebook):
    """Some editors drop nbgrader's marks and keep the ids."""
    for cell in notebook.cells:
        cell.metadata = nbformat.NotebookNode()
    _, cells = look(notebook)
    assert (cells.answers, cells.extra) == (RIGHT, [])
    assert cells.notes == tuple(
        f"the answer {name!r} had lost nbgrader's mark: known by its cell id" for name in ("shard", "mean", "explain")
    )


def test_lost_metadata_and_ids_are_recovered_by_what_is_defined(look, notebook):
    """After a copy into a new notebook only the text is left: a text cell without a name cannot be known again."""
    for i, cell in enumerate(notebook.cells):
        cell.metadata, cell.id = nbformat.NotebookNode(), f"new-{i}"
    _, cells = look(notebook)
    assert cells.answers == {name: RIGHT[name] for name in ("shard", "mean")}
    assert cells.extra == []
    assert cells.notes[-1] == "answers that are missing: explain"
    assert cells.flags == (Flag("deleted cell", "Missing: explain."),)


def test_what_could_be_two_things_is_not_taken(look, notebook):
    """Two cells define the function and neither is marked: none is the answer, both are there for the run."""
    cell = cell_of(notebook, "shard")
    cell.metadata, cell.id = nbformat.NotebookNode(), "x1"
    copy = deepcopy(cell)
    copy.id, copy.source = "x2", "def shard(x, rank, size):\n    return x"
    notebook.cells.append(copy)
    _, cells = look(notebook)
    assert sorted(cells.answers) == ["explain", "mean"]
    assert cells.extra == [("parameters", cell.source), ("explain", copy.source)]
    assert cells.notes[0] == "2 cells define shard: none of them is taken for the answer 'shard'"


def test_of_duplicated_answers_the_last_worked_in_counts(look, course, notebook):
    """A copy that was left as released does not hide the answer; of two answers the last one is taken."""
    stub = deepcopy(cell_of(course.released(NAME), "shard"))
    stub.id = "pasted"
    notebook.cells.append(stub)
    _, cells = look(notebook)
    assert cells.answers == RIGHT
    assert cells.flags == (Flag("duplicated cell", "2 cells are called 'shard'."),)

    stub.source = "def shard(x, rank, size):\n    return x"
    _, cells = look(notebook)
    assert cells.answers["shard"] == stub.source
    assert cells.notes == ("2 different answers are called 'shard': the last one is taken",)


def test_deleted_cells_are_named(look, notebook):
    """A deleted answer is missing for the report; a deleted test only interests the instructor."""
    notebook.cells = [cell for cell in notebook.cells if cell.id not in ("mean", "mean-tests")]
    _, cells = look(notebook)
    assert sorted(cells.answers) == ["explain", "shard"]
    assert cells.notes == ("answers that are missing: mean",)
    assert cells.flags == (Flag("deleted cell", "Missing: mean, mean-tests."),)


def test_added_cells_stand_where_they_were(look, notebook):
    """Code that the student added goes with the known cell before it; text and empty cells do not."""
    notebook.cells.insert(3, nbformat.v4.new_code_cell("import math"))
    notebook.cells.insert(0, nbformat.v4.new_code_cell("print(1)"))
    notebook.cells.append(nbformat.v4.new_markdown_cell("a note"))
    notebook.cells.append(nbformat.v4.new_code_cell("  "))
    _, cells = look(notebook)
    assert cells.extra == [("", "print(1)"), ("shard", "import math")]


def test_tampering_is_flagged(look, notebook):
    """Changed tests, points, roles and language are for the instructor; the answers are taken all the same."""
    test = cell_of(notebook, "mean-tests")
    test.source, test.metadata.nbgrader.points = "pass", 100
    cell_of(notebook, "shard-tests").metadata.nbgrader.solution = True
    notebook.metadata.kernelspec.language = notebook.metadata.language_info.name = "bash"
    _, cells = look(notebook)
    assert cells.answers == RIGHT
    assert set(cells.flags) == {
        Flag("changed test", "The test cell 'mean-tests' was changed; ours is used."),
        Flag("changed metadata", "The cell 'mean-tests' claims 100 points; it has 1."),
        Flag("changed metadata", "The cell 'shard-tests' claims another role than it has."),
        Flag("kernel", "The notebook's language is 'bash'; ours is used."),
    }


def test_a_changed_parameter_is_noted(look, notebook):
    """Students may play with parameters; the grader uses its own."""
    cell_of(notebook, "parameters").source = "num_samples = 7"
    _, cells = look(notebook)
    assert cells.notes == ("the cell 'parameters' was changed: the released one is used",)
    assert cells.extra == []


def test_a_site_with_another_kernel_is_no_offence(look, notebook):
    """Sites name their kernels as they like: a note, no flag."""
    notebook.metadata.kernelspec.name = "tf-2.15"
    _, cells = look(notebook)
    assert (cells.notes, cells.flags) == (("the notebook ran on the kernel 'tf-2.15'",), ())


def test_nothing_beside_the_notebook_is_taken(look, notebook, tmp_path):
    """Links, pipes, odd names and modules that shadow others are flagged; nothing is followed or opened."""
    (tmp_path / "secret").write_text("hidden tests")
    look(notebook, files={"numpy.py": "", "horovod/__init__.py": "", "train.py": "", "history.csv": "1"})
    (look.folder / "link.txt").symlink_to(tmp_path / "secret")
    (look.folder / "folder").symlink_to("/etc")
    os.mkfifo(look.folder / "pipe")
    (look.folder / "$(touch x)\n.txt").write_text("")
    hand_in, cells = look(notebook)
    assert {flag.text for flag in hand_in.flags} == {
        "$(touch x)\\n.txt has an odd name; it is not taken.",
        "folder is a link; it is not taken.",
        "link.txt is a link; it is not taken.",
        "pipe is a pipe; it is not taken.",
        "Files beside the notebook are not taken: horovod/__init__.py, numpy.py.",
    }
    assert hand_in.notes == ("files beside the notebook are not taken: history.csv",)
    assert cells.answers == RIGHT


@pytest.mark.parametrize("target", ["secret.ipynb", "/etc/passwd"])
def test_a_link_is_no_notebook(look, notebook, tmp_path, target):
    """A notebook that is a link is not read, wherever it points."""
    nbformat.write(notebook, tmp_path / "secret.ipynb")
    look()
    (look.folder / f"{NAME}.ipynb").symlink_to(tmp_path / target)
    hand_in, _ = look()
    assert hand_in.notebook is None
    assert hand_in.flags == (Flag("files", f"{NAME}.ipynb is a link; it is not taken."),)


def test_a_folder_that_is_a_link_is_refused(course, tmp_path):
    """Nothing is read through it."""
    (tmp_path / "elsewhere").symlink_to("/etc")
    hand_in = classify(tmp_path / "elsewhere", "ada", NAME, course.released(NAME))
    assert (hand_in.notebook, [flag.text for flag in hand_in.flags]) == (
        None,
        ["elsewhere is not taken: it is not a folder."],
    )


def test_too_much_is_bounded(look, notebook):
    """A file of more than 20 MB and the two thousand and first file are named and left out."""
    look(notebook, files={f"many/{i}.txt": "" for i in range(2001)})
    with (look.folder / "big.bin").open("wb") as file:
        file.truncate(30_000_000)
    hand_in, cells = look(notebook)
    texts = [flag.text for flag in hand_in.flags]
    assert texts == [
        "big.bin is too big (30 MB); it is not taken.",
        "there are more than 2000 files: the others are left out; it is not taken.",
    ]
    assert cells.answers == RIGHT


def test_records_of_batch_jobs_are_shown_as_claims(look, notebook):
    """Job, nodes and timings of `coursekit execute`; what is not a record of this lab is passed over."""
    hand_in, _ = look(
        notebook,
        files={
            f"jobs/{NAME}-4711/result.json": job_record(),
            f"jobs/{NAME}-4711/{NAME}.ipynb": "{}",
            "jobs/02-other-3/result.json": job_record(lab="02-other"),
            "jobs/x/result.json": "[" * 5000,
            "jobs/y/result.json": '{"lab": 3}',
        },
    )
    assert [str(job) for job in hand_in.jobs] == [
        "job 4711 on acn[01-02]: 2 ranks, 12.5 s, 3 points, 2026-11-16T11:00:00+00:00 (the student's own record)"
    ]
    assert (hand_in.notes, hand_in.flags) == ((), ())


def test_the_executed_notebook_of_a_job_is_the_last_resort(look, notebook):
    """Whoever hands in the folder of the job alone has handed in the answers."""
    job = f"jobs/{NAME}-1/{NAME}.ipynb"
    hand_in, cells = look(files={job: nbformat.writes(notebook)})
    assert hand_in.notes == (f"the notebook is called {job}: taken for {NAME}.ipynb",)
    assert cells.answers == RIGHT
