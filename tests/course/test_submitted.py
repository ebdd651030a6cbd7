"""What students hand in: each oddity is one clear line, and answers are found wherever that is unambiguous."""

import json
import os
from copy import deepcopy

import nbformat
import pytest

from coursekit.errors import codes_in
from coursekit.grading.submission.student_folder import to_submission
from coursekit.grading.submission.students_files import RefusedFileError, read_contents
from coursekit.grading.verdict import Flag

from .conftest import NAME, RIGHT, filled, job_record


@pytest.fixture
def notebook(course):
    """The released notebook with right answers, to be damaged."""
    return filled(course, NAME, RIGHT)


@pytest.fixture
def look(course, tmp_path):
    """Return a function that writes a hand-in and returns what is made of it: the hand-in and its cells."""

    def write_and_look(notebook=None, name=f"{NAME}.ipynb", files=(), lab=NAME, *, worked_copies=False):
        folder = tmp_path / "handed-in"
        folder.mkdir(exist_ok=True)
        if notebook is not None:
            content = notebook if isinstance(notebook, (str, bytes)) else nbformat.writes(notebook)
            (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        for path, text in dict(files).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        released = course.released(lab)
        found = to_submission(read_contents(folder), "ada", lab, released, ("train.py",), worked_copies=worked_copies)
        return found, found.cells

    write_and_look.folder = tmp_path / "handed-in"
    return write_and_look


def codes(*notes):
    """Return the codes of notes."""
    return codes_in(" ".join(notes))


def cell_of(notebook, name):
    """Return the cell of this id."""
    return next(cell for cell in notebook.cells if cell.id == name)


def test_an_ordinary_hand_in_has_nothing_to_say(look, notebook):
    """All answers, no note, no flag; outputs are of no interest."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [nbformat.v4.new_output("stream", text="x")]
    hand_in, cells = look(notebook)
    assert (hand_in.notebook, hand_in.notes, hand_in.flags) == (f"{NAME}.ipynb", (), ())
    assert (cells.answers, cells.extra, cells.notes, cells.flags) == (RIGHT, (), (), ())


@pytest.mark.parametrize(
    "name", ["Vie\u0323\u0302t", "\u0939\u093f\u0928\u094d\u0926\u0940", "O\u2019Connor & co", "[final] lab \u2013 1"]
)
def test_names_as_people_write_them_are_taken(look, notebook, name):
    """With the marks of a Mac, with apostrophes, brackets and dashes."""
    hand_in, cells = look(notebook, f"{name}.ipynb")

    assert (hand_in.notebook, hand_in.flags, cells.answers) == (f"{name}.ipynb", (), RIGHT)


def test_a_notebook_full_of_outputs_is_taken_without_them(look, notebook):
    """Its size is told; far bigger ones are named, and nobody says that there was none."""
    cell_of(notebook, "shard").outputs = [nbformat.v4.new_output("stream", text="x" * 21_000_000)]
    hand_in, cells = look(notebook)
    assert (cells.answers, hand_in.flags) == (RIGHT, ())
    assert (codes(*hand_in.notes), "21 MB" in hand_in.notes[0]) == (["notebook.large"], True)

    with (look.folder / f"{NAME}.ipynb").open("r+b") as file:
        file.truncate(90_000_000)
    hand_in, _ = look()
    assert not hand_in.notebook
    assert (codes(*hand_in.notes), f"{NAME}.ipynb is too big (90 MB)" in hand_in.notes[0]) == (
        ["notebook.refused"],
        True,
    )


def test_a_renamed_notebook_is_found(look, notebook):
    """Another name is not a loss when only one notebook could be meant; between two nobody guesses."""
    hand_in, cells = look(notebook, "a.ipynb")
    assert codes(*hand_in.notes) == ["notebook.renamed"]
    assert cells.answers == RIGHT
    hand_in, cells = look(notebook, "b.ipynb")
    assert not hand_in.notebook
    assert (codes(*hand_in.notes), "a.ipynb, b.ipynb" in hand_in.notes[0]) == (["notebook.several"], True)
    assert not cells.answers


def test_a_worked_copy_beside_an_untouched_notebook_is_named(look, course, notebook):
    """And graded where the instructor has said so; never one that holds no more than the notebook itself."""
    copy = f"{NAME}-Copy1.ipynb"
    look(notebook, copy)
    hand_in, _ = look(course.released(NAME))
    assert hand_in.notebook == f"{NAME}.ipynb"
    assert codes(*hand_in.notes) == ["copy.not-graded"]
    assert all(part in hand_in.notes[0] for part in (copy, "3 answers", f"{NAME}.ipynb 0", "worked_copies"))
    hand_in, cells = look(worked_copies=True)
    assert (hand_in.notebook, codes(*hand_in.notes)) == (copy, ["copy.graded"])
    assert cells.answers == RIGHT

    look(notebook, f"{NAME}-Copy2.ipynb")
    hand_in, _ = look(worked_copies=True)  # between two nobody guesses
    assert (hand_in.notebook, [f"Copy{number}" in hand_in.notes[0] for number in (1, 2)]) == (
        f"{NAME}.ipynb",
        [True] * 2,
    )
    hand_in, _ = look(notebook, worked_copies=True)
    assert (hand_in.notebook, hand_in.notes) == (f"{NAME}.ipynb", ())


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (b'{"cells": [', "it is not valid JSON (line 1)"),
        (b"\xff\xfe\x00", "it is not text in UTF-8"),
        (b"[" * 100_000, "it is nested too deeply"),
        (b'{"worksheets": []}', "it has no list of cells"),
        (b'{"cells": [3]}', "one of its cells is not a JSON object"),
        (b'{"cells": [{"source": {}}]}', "the source of a cell is not text"),
        (json.dumps({"cells": [{}] * 1001}).encode(), "it has more than 1000 cells"),
    ],
)
def test_a_damaged_notebook_is_one_line(look, content, reason):
    """Whatever is wrong with the file, the line says it, and nothing is graded."""
    hand_in, cells = look(content)
    assert not hand_in.notebook
    assert codes(*hand_in.notes) == ["notebook.damaged", "submission.nothing"]
    assert reason in hand_in.notes[0]
    assert not cells.answers


def test_a_copy_stands_in_for_a_damaged_notebook(look, notebook):
    """Jupyter's own copy beside it saves the student."""
    look(notebook, f"{NAME}-Copy1.ipynb")
    hand_in, cells = look("{")
    assert hand_in.notebook == f"{NAME}-Copy1.ipynb"
    assert codes(*hand_in.notes) == ["notebook.damaged", "notebook.renamed"]
    assert cells.answers == RIGHT


def test_the_wrong_lab_is_named(look, course):
    """A notebook of another lab under this lab's name is not graded as this lab."""
    hand_in, _ = look(course.released("02-other"))
    assert not hand_in.notebook
    assert (codes(*hand_in.notes), "02-other" in hand_in.notes[0]) == (
        ["notebook.other-lab", "submission.nothing"],
        True,
    )


def test_lost_metadata_is_recovered(look, notebook):
    """Some editors drop nbgrader's marks and keep the ids; after a copy into a new notebook only the text is left."""
    for cell in notebook.cells:
        cell.metadata = nbformat.NotebookNode()
    _, cells = look(notebook)
    assert (cells.answers, cells.extra) == (RIGHT, ())
    assert codes(*cells.notes) == ["answer.found-by-id"] * 3

    for i, cell in enumerate(notebook.cells):
        cell.metadata, cell.id = nbformat.NotebookNode(), f"new-{i}"
    _, cells = look(notebook)
    # A text cell without a name cannot be known again.
    assert cells.answers == {name: RIGHT[name] for name in ("shard", "mean")}
    assert cells.extra == ()
    assert codes(*cells.notes) == [*["answer.found-by-definition"] * 2, "answer.missing"]
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
    assert cells.extra == (
        ("parameters", cell.source),
        ("explain", copy.source),
    )
    assert codes(cells.notes[0]) == ["answer.ambiguous"]


def test_of_duplicated_answers_the_last_worked_in_counts(look, course, notebook):
    """A copy that was left as released does not hide the answer; of two answers the last one is taken."""
    stub = deepcopy(cell_of(course.released(NAME), "shard"))
    stub.id = "pasted"
    notebook.cells.append(stub)
    _, cells = look(notebook)
    assert cells.answers == RIGHT
    assert cells.flags == (Flag("duplicated cell", "2 cells are called 'shard'."),)

    notebook.cells.insert(notebook.cells.index(cell_of(notebook, "shard")) + 1, notebook.cells.pop())
    stub.source = "def shard(x, rank, size):\n    return x"
    _, cells = look(notebook)
    assert cells.answers["shard"] == stub.source
    assert codes(*cells.notes) == ["answer.copies"]


HELPER, BEGIN, END, CALL = (
    "import os\ndef take(n): pass",
    "def shard(x, rank, size):",
    "    return x[rank::size]",
    "shard([1], 0, 1)",
)
WHOLE, OLD = f"{BEGIN}\n{END}", f"{BEGIN}\n    return x"


@pytest.mark.parametrize(
    ("copies", "taken"),
    [
        ([WHOLE, CALL], [WHOLE, CALL]),
        ([CALL, WHOLE], [WHOLE]),
        ([BEGIN, END], [BEGIN, END]),
        ([HELPER, BEGIN, END, CALL], [BEGIN, END, CALL]),
        ([WHOLE, "", " "], [WHOLE]),
        ([OLD, WHOLE], [WHOLE]),
        ([OLD, CALL, WHOLE], [WHOLE]),
        ([BEGIN, "    return x", WHOLE], [WHOLE]),
        ([OLD, HELPER, WHOLE], [WHOLE]),
    ],
)
def test_the_parts_of_a_split_answer_are_joined(look, notebook, copies, taken):
    """JupyterLab gives both halves nbgrader's mark; of whole answers the last one counts, and what precedes it runs."""
    place = notebook.cells.index(cell_of(notebook, "shard"))
    for number, source in enumerate(copies[1:], 1):
        part = deepcopy(notebook.cells[place])
        part.id, part.source = f"part-{number}", source
        notebook.cells[place + 2 * number - 1 : place + 2 * number - 1] = [nbformat.v4.new_code_cell("1"), part]
    notebook.cells[place].source = copies[0]
    _, cells = look(notebook)

    assert cells.answers == {**RIGHT, "shard": "\n".join(taken)}
    run = [source for _, source in cells.extra if source in {HELPER, CALL, OLD, WHOLE}]
    assert run == [source for source in copies if source in {HELPER, CALL} and source not in taken]


def test_a_copy_below_its_tests_is_an_experiment(look, course, notebook):
    """As in the notebook, the tests see the answer above them; the copy runs where it stands.

    Where the answer above is as released, the student has answered below, and that counts.
    """
    copy = deepcopy(cell_of(notebook, "shard"))
    copy.id, copy.source = "pasted", OLD
    notebook.cells.append(copy)
    _, cells = look(notebook)
    assert (cells.answers, cells.extra) == (RIGHT, (("explain", OLD),))
    assert cells.flags == (Flag("duplicated cell", "2 cells are called 'shard'."),)

    copy.source = WHOLE
    cell_of(notebook, "shard").source = cell_of(course.released(NAME), "shard").source
    _, cells = look(notebook)
    assert (cells.answers, cells.extra) == (RIGHT, ())


def test_a_text_in_parts_is_read_whole(look, notebook):
    """Wherever its parts stand: a person grades it."""
    for place, text in ((1, "I take"), (len(notebook.cells), "every size-th.")):
        part = deepcopy(cell_of(notebook, "explain"))
        part.id, part.source = f"part-{place}", text
        notebook.cells.insert(place, part)
    notebook.cells.remove(cell_of(notebook, "explain"))
    _, cells = look(notebook)
    assert cells.answers["explain"] == "I take\nevery size-th."


def test_code_typed_over_a_given_text_runs(look, notebook):
    """JupyterLab keeps the id of a text cell that becomes code."""
    place = notebook.cells.index(cell_of(notebook, "intro"))
    notebook.cells[place] = nbformat.v4.new_code_cell("import math", id="intro")
    _, cells = look(notebook)
    assert (cells.answers, cells.extra, cells.notes) == (RIGHT, (("", "import math"),), ())


def test_a_part_that_became_text_is_not_run(look, notebook):
    """Half of an answer, turned into Markdown, is no code; an answer that is all Markdown was turned by mistake."""
    part = deepcopy(cell_of(notebook, "shard"))
    part.id, part.source, part.cell_type = "part", "I take every size-th.", "markdown"
    del part["outputs"], part["execution_count"]
    notebook.cells.append(part)
    _, cells = look(notebook)
    assert cells.answers == RIGHT

    notebook.cells.remove(cell_of(notebook, "shard"))
    part.source = RIGHT["shard"]
    _, cells = look(notebook)
    assert cells.answers == RIGHT


def test_deleted_cells_are_named(look, notebook):
    """A deleted answer is missing for the report; a deleted test only interests the instructor."""
    notebook.cells = [cell for cell in notebook.cells if cell.id not in ("mean", "mean-tests")]
    _, cells = look(notebook)
    assert sorted(cells.answers) == ["explain", "shard"]
    assert (codes(*cells.notes), "mean" in cells.notes[0]) == (["answer.missing"], True)
    assert cells.flags == (Flag("deleted cell", "Missing: mean, mean-tests."),)


def test_added_cells_stand_where_they_were(look, notebook):
    """Code that the student added goes with the known cell before it; text and empty cells do not."""
    notebook.cells.insert(3, nbformat.v4.new_code_cell("import math"))
    notebook.cells.insert(0, nbformat.v4.new_code_cell("print(1)"))
    notebook.cells.append(nbformat.v4.new_markdown_cell("a note"))
    notebook.cells.append(nbformat.v4.new_code_cell("  "))
    _, cells = look(notebook)
    assert cells.extra == (
        ("", "print(1)"),
        ("shard", "import math"),
    )


def test_what_a_student_or_a_site_may_change_is_no_offence(look, notebook):
    """Parameters, of which the grader uses its own, and the kernel's name: notes, no flags."""
    cell_of(notebook, "parameters").source = "num_samples = 7"
    notebook.metadata.kernelspec.name = "tf-2.15"
    _, cells = look(notebook)
    assert sorted(codes(*cells.notes)) == ["cell.changed", "kernel.other"]
    assert (cells.extra, cells.flags, cells.changed) == ((), (), {"parameters": "num_samples = 7"})


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
        "Ignored: $(touch x)\\n.txt has an odd name.",
        "Ignored: folder is a link.",
        "Ignored: link.txt is a link.",
        "Ignored: pipe is a pipe.",
        "Files other than the notebook are ignored: horovod/__init__.py, numpy.py.",
    }
    assert (codes(*hand_in.notes), "history.csv" in hand_in.notes[0]) == (["files.ignored"], True)
    assert cells.answers == RIGHT
    (tmp_path / "elsewhere").symlink_to("/etc")
    with pytest.raises(RefusedFileError):
        read_contents(tmp_path / "elsewhere")


def test_too_much_is_bounded(look, notebook):
    """A file of more than 20 MB and the two thousand and first file are named and left out."""
    look(notebook, files={f"many/{i}.txt": "" for i in range(2001)})
    with (look.folder / "big.bin").open("wb") as file:
        file.truncate(30_000_000)
    hand_in, cells = look(notebook)
    texts = [flag.text for flag in hand_in.flags]
    assert texts == [
        "Ignored: big.bin is too big (30 MB).",
        "Ignored: all files after the first 2000.",
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
    assert (codes(*hand_in.notes), job in hand_in.notes[0]) == (["notebook.renamed"], True)
    assert cells.answers == RIGHT
