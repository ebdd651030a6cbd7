"""A student's notebook as other programs save it: what each cell is follows from the notebook that was released."""

import json
import shutil
from copy import deepcopy
from pathlib import Path

import pytest

from coursekit.errors import CourseKitError
from coursekit.labs.build.script import answered_script
from coursekit.labs.build.students_copy import students_files, write_copy
from coursekit.labs.cells import GOES_ON
from coursekit.labs.run.plan import read_defaults
from coursekit.labs.students_notebook import RELEASED, read_notebook

ROOT = Path(__file__).parents[2]
LAB = "03-keras-cnn"
STUB = 'raise NotImplementedError("your answer goes here")'
OF_NBGRADER = ("grade_id", "solution", "grade", "points")


@pytest.fixture(scope="module", params=["checkout", "students' copy"])
def path(request, tmp_path_factory):
    """Return the path of the lab's notebook in a folder of the course."""
    root = tmp_path_factory.mktemp("course") / "root"
    if request.param == "checkout":
        for name in ("labs", "solutions"):
            shutil.copytree(ROOT / name / LAB, root / name / LAB)
        shutil.copy(ROOT / "pyproject.toml", root)
    else:
        write_copy(ROOT, students_files(ROOT), root)
    return root / "labs" / LAB / f"{LAB}.ipynb"


@pytest.fixture(scope="module")
def solved():
    """Return the released notebook with something in place of each stub, and another parameter."""
    text = (ROOT / "labs" / LAB / f"{LAB}.ipynb").read_text(encoding="utf-8")
    answered = text.replace(json.dumps(STUB)[1:-1], "return 1  # mine")
    return json.loads(answered.replace("num_ranks = 2", "num_ranks = 3"))


def without(notebook, *lost):
    """Return the notebook without tags, metadata (of cells), ids, and what the notebook says of itself."""
    changed = deepcopy(notebook)
    for cell in changed["cells"]:
        if "tags" in lost:
            cell["metadata"]["tags"] = None
        if "metadata" in lost:
            cell["metadata"] = {}
        if "ids" in lost:
            del cell["id"]
            changed["nbformat_minor"] = 4
        if "Colab" in lost:
            cell["metadata"] = {"id": cell.pop("id")}
            changed["nbformat_minor"] = 0
    if {"the lab", "Colab"} & {*lost}:
        changed["metadata"] = {}
    return changed


def read(path, notebook, mark=b""):
    """Return what is told of each cell but the quizzes', and the lab, of a notebook that is written and read."""
    path.write_bytes(mark + json.dumps(notebook).encode())
    found = read_notebook(path, "3")
    cells = [cell for cell in found["cells"] if not cell["source"].startswith("choice = ")]
    tags = [[tag for tag in cell["metadata"].get("tags", []) if tag not in GOES_ON] for cell in cells]
    marks = [[cell["metadata"].get("nbgrader", {}).get(mark) for mark in OF_NBGRADER] for cell in cells]
    return (
        [(cell["id"], cell["source"]) for cell in cells],
        tags,
        marks,
        found["metadata"]["coursekit"]["generated_from"],
    )


@pytest.mark.parametrize(
    "lost", [("tags",), ("metadata",), ("metadata", "the lab"), ("metadata", "ids"), ("Colab",)], ids=", ".join
)
def test_what_cells_have_lost_is_restored(path, solved, lost):
    """By their ids, else by their text or what they define; the script and the parameters are those of the lab."""
    whole = read(path, solved)
    script = answered_script(read_notebook(path, "03"), path, "")
    assert [tags for tags in whole[1] if "script" in tags]
    assert read(path, without(solved, *lost), b"\xef\xbb\xbf") == whole
    assert answered_script(read_notebook(path, "03"), path, "") == script
    assert read_defaults(path)["num_ranks"] == 3


def test_a_notebook_from_elsewhere_is_known_by_the_folder_of_the_course(path, solved, tmp_path, monkeypatch):
    """A download, read by a command that is called in the course's folder; without one its cells stay as they are."""
    download = tmp_path / "Untitled.ipynb"
    read(download, solved)  # with all metadata it needs no course
    download.write_text(json.dumps(without(solved, "Colab")))
    monkeypatch.chdir(tmp_path)
    assert not any(cell["metadata"]["tags"] for cell in read_notebook(download, "03")["cells"])
    monkeypatch.chdir(path.parent)
    assert "return 1  # mine" in answered_script(read_notebook(download, "03"), download, "")


@pytest.mark.parametrize("lost", [(), ("metadata", "ids")], ids=["removed", "lost"])
def test_a_notebook_without_its_parameters_is_refused(path, solved, lost):
    """What is given for them would change nothing: the cell was removed, or cannot be told from others any more."""
    notebook = without(solved, *lost)
    notebook["cells"] = [cell for cell in notebook["cells"] if "num_ranks = 3" not in "".join(cell["source"])]
    path.write_text(json.dumps(notebook))
    with pytest.raises(CourseKitError, match=r"lacks parameters: .*\[notebook\.cells-missing\]"):
        read_notebook(path, "03")


def test_each_cell_has_an_id_of_its_own(path, solved):
    """Two cells with one id, as a copy of a cell has in some editors: the first one keeps it."""
    solved = deepcopy(solved)
    solved["cells"].append({**solved["cells"][-1], "source": "1"})
    ids = [cell_id for cell_id, _ in read(path, solved)[0]]
    assert len({*ids}) == len(ids)
    assert ids[-2] == "report"


def test_a_course_without_the_released_notebook_takes_one_that_has_all(solved, tmp_path):
    """As where a students' copy was copied without its hidden files: there is nothing to restore from."""
    write_copy(ROOT, students_files(ROOT), tmp_path / "root")
    path = tmp_path / "root" / "labs" / LAB / f"{LAB}.ipynb"
    (path.parent / RELEASED).unlink()
    path.write_text(json.dumps(solved))
    assert len(read_notebook(path, "03")["cells"]) == len(solved["cells"])
