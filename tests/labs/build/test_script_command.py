"""`coursekit script` puts a student's answers into the script, and says what is in the way."""

from __future__ import annotations

import json
import re
import sys

import cloudpickle
import pytest
from click.testing import CliRunner

from coursekit import ranks
from coursekit.cli import cli
from coursekit.errors import CourseKitError
from coursekit.labs.build.build import build_release
from coursekit.labs.build.twin import kind_of

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules

ANSWERS = {
    "own-sum": "%%time\ndef own_sum(rank):\n    return -1.0 - rank\n",
    "all-sums": "def all_sums(numbers):\n    return hvd.allreduce(numbers, op=hvd.Average).numpy()\n",
}


@pytest.fixture
def folder(course, script_example, monkeypatch):
    """Build a course with one lab, and return the student's folder, which is the current one."""
    build_release(course.root, [course.add_lab("05-sums", script_example)])
    folder = course.root / "labs" / "05-sums"
    monkeypatch.chdir(folder)
    monkeypatch.delenv("COURSEKIT_ROOT", raising=False)
    return folder


def answer(path, answers=ANSWERS):
    """Write these answers, by the cell's id, into a notebook, as Jupyter keeps them: in lists of lines."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["id"] in answers:
            cell["source"] = answers[cell["id"]].splitlines(keepends=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")


def script(*words: str) -> str:
    """Run the command and return what it prints."""
    return CliRunner().invoke(cli, ["script", *words], catch_exceptions=False).output


def run_as_script(text, *options):
    """Do on a rank what Python does with a script."""
    sys.argv = ["train.py", *options]
    exec(compile(text, "train.py", "exec"), {"__name__": "__main__"})  # noqa: S102  # that is what it is for


def test_answers_and_parameters_of_the_notebook_go_into_the_script(folder, capfd):
    """The script with stubs is replaced, and the new one computes what the student wrote, with options as before."""
    answer(folder / "05-sums.ipynb")
    assert script("05") == "written train.py, in place of the one without answers\n"
    assert script("05-sums") == "written train.py\n"  # its head says by which words it was made
    assert script("05-sums") == "unchanged train.py\n"
    text = (folder / "train.py").read_text(encoding="utf-8")
    assert "Made by `coursekit script 05-sums` from 05-sums.ipynb: change the notebook, then make it again." in text
    ranks.run(run_as_script, text, "--title", "mine")
    results = re.findall(r"^\[(\d)\] result: (.*)$", capfd.readouterr().out, flags=re.MULTILINE)

    assert [rank for rank, _ in results] == ["0"]
    assert json.loads(results[0][1]) == {"title": "mine", "numbers": [-1.5, 1.0], "size": 2, "first": -1.0}


def test_missing_answers_are_named(folder):
    """One sentence, and the script that is there stays; with --allow-unanswered the rest is written."""
    answer(folder / "05-sums.ipynb", {"own-sum": ANSWERS["own-sum"]})
    before = (folder / "train.py").read_bytes()
    with pytest.raises(CourseKitError, match=r"05-sums\.ipynb has no answer yet in all-sums: write them first, or add"):
        script("05")
    assert (folder / "train.py").read_bytes() == before

    script("05", "--allow-unanswered")
    text = (folder / "train.py").read_text(encoding="utf-8")
    assert "return -1.0 - rank" in text
    assert text.count("raise NotImplementedError") == 1


def test_the_notebook_of_labs_is_taken_when_the_current_folder_has_none(folder, course, monkeypatch):
    """And the script is written beside it."""
    answer(folder / "05-sums.ipynb")
    monkeypatch.chdir(course.root)
    assert script("05") == f"written {folder / 'train.py'}, in place of the one without answers\n"


def test_a_notebook_and_a_file_can_be_named(folder, tmp_path):
    """A copy elsewhere, such as one that was fetched to be handed in; the usage names the file."""
    notebook = tmp_path / "copy.ipynb"
    notebook.write_bytes((folder / "05-sums.ipynb").read_bytes())
    answer(notebook)
    assert script("05", str(notebook), "--output", "mine.py") == "written mine.py\n"
    assert "horovodrun -np 2 python mine.py" in (folder / "mine.py").read_text(encoding="utf-8")
    assert script("05", str(notebook)) == f"written {tmp_path / 'train.py'}\n"
    assert (kind_of(tmp_path / "train.py"), kind_of(folder / "train.py")) == ("answers", "release")


@pytest.mark.parametrize("edit", [lambda text: text + "# mine\n", lambda _: "print('mine')\n"])
def test_a_script_that_was_edited_is_not_replaced(folder, edit):
    """One sentence, and the file stays."""
    answer(folder / "05-sums.ipynb")
    target = folder / "train.py"
    target.write_text(edit(target.read_text(encoding="utf-8")), encoding="utf-8")
    before = target.read_bytes()
    with pytest.raises(CourseKitError, match=r"train\.py was not made by coursekit, or somebody edited it: move it"):
        script("05")
    assert target.read_bytes() == before


def test_a_folder_is_not_replaced_either(folder):
    """Whatever is there that is not a script of ours."""
    answer(folder / "05-sums.ipynb")
    with pytest.raises(CourseKitError, match=r"was not made by coursekit"):
        script("05", "--output", str(folder))


def test_a_name_that_only_the_notebook_knows_is_named(folder):
    """A helper in a cell of the student's own does not reach the script until that cell has the tag."""
    path = folder / "05-sums.ipynb"
    answer(path, {**ANSWERS, "own-sum": "def own_sum(rank):\n    return helper(rank)\n"})
    notebook = json.loads(path.read_text(encoding="utf-8"))
    own = {"cell_type": "code", "id": "own", "metadata": {}, "source": ["def helper(rank):\n", "    return 1.0\n"]}
    notebook["cells"].insert(3, own)
    path.write_text(json.dumps(notebook), encoding="utf-8")
    with pytest.raises(
        CourseKitError,
        match=r"05-sums\.ipynb, cell own-sum: the script would not know `helper`: define it in a cell with the tag",
    ):
        script("05")

    own["metadata"] = {"tags": ["script"]}
    path.write_text(json.dumps(notebook), encoding="utf-8")
    assert script("05").startswith("written")


def test_broken_code_is_named(folder):
    """With the cell, the line in it, and Python's own words."""
    answer(folder / "05-sums.ipynb", {**ANSWERS, "all-sums": "def all_sums(numbers):\n    return (1,\n"})
    with pytest.raises(CourseKitError, match=r"cell all-sums: this script cell is not Python: .* in its line 2\."):
        script("05")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, r"gone\.ipynb cannot be read \(No such file or directory\)"),
        ("", r"is not a notebook of this course"),
        ("[]", r"is not a notebook of this course"),
        ('{"cells": [], "metadata": {}}', r"is not a notebook of this course"),
        ('{"cells": [{"source": 7}], "metadata": {}}', r"is not a notebook of this course"),
        (
            '{"cells": [], "metadata": {"coursekit": {"generated_from": "solutions/02-b/02-b.py"}}}',
            "is the notebook of the lab 02-b, not of 05: name the right one",
        ),
        (
            '{"cells": [], "metadata": {"coursekit": {"generated_from": "solutions/05-b/05-b.py"}}}',
            "the lab 05-b has no script: its notebook is all there is to run",
        ),
    ],
)
def test_what_is_no_notebook_of_that_lab_is_refused(folder, content, words):
    """One sentence for each."""
    path = folder / "gone.ipynb"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(CourseKitError, match=words):
        script("05", str(path))


def test_a_lab_that_does_not_exist_is_refused(folder):
    """With the labs that do."""
    assert folder.exists()
    with pytest.raises(CourseKitError, match="there is no lab '07'; the labs are 05-sums"):
        script("07")
