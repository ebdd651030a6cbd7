"""The folder that is published for students: all they need, and no answer."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from coursekit.errors import CourseKitError
from coursekit.labs.build.students_copy import MANIFEST, students_files, write_copy
from coursekit.labs.lab import find_labs

ROOT = Path(__file__).parents[3]
COPIED = ("labs", "solutions", "slurm", "tools", "docs", "src")
REGION = re.compile(r"### BEGIN (SOLUTION|HIDDEN TESTS)\n(.*?)### END \1", re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")
SHORTEST = 20  # shorter lines stand in many places


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """Return a students' copy of this checkout."""
    folder = tmp_path_factory.mktemp("students") / "copy"
    write_copy(ROOT, students_files(ROOT), folder)
    return folder


@pytest.fixture
def checkout(tmp_path):
    """Return a checkout of one's own, to spoil."""
    root = tmp_path / "checkout"
    root.mkdir()
    for name in COPIED:
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for path in ROOT.glob("*"):
        if path.is_file():
            shutil.copy2(path, root)
    shutil.copy2(ROOT / ".gitignore", root)
    return root


def coursekit(folder, *words, **variables):
    """Call the command in a folder of the copy, and return status, output and error output."""
    environ = {name: value for name, value in os.environ.items() if name != "COURSEKIT_ROOT"}
    done = subprocess.run(
        [sys.executable, "-m", "coursekit", *words],
        cwd=folder / "labs",
        env={**environ, **variables},
        timeout=900,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def lines_of(kind, lab="*"):
    """Return the lines of a lab's regions of a kind that stand nowhere outside of regions."""
    found = set()
    for source in ROOT.glob(f"solutions/{lab}/*.py"):
        text = source.read_text()
        public = REGION.sub("", text)
        inside = "".join(region[2] for region in REGION.finditer(text) if region[1] == kind)
        found |= {line.strip() for line in inside.splitlines() if line.strip() not in public}
    return {line for line in found if len(line) >= SHORTEST}


def texts(folder, *names):
    """Return the text of all files by path; of notebooks also what their JSON says, line by line."""
    paths = [path for name in names for path in sorted((folder / name).rglob("*")) if path.is_file()]
    found = {path.relative_to(folder).as_posix(): path.read_text(errors="replace") for path in paths}
    for name in [name for name in found if name.endswith(".ipynb")]:
        cells = nbformat.reads(found[name], as_version=4).cells
        found[name] += "\n".join(f"{cell.source}\n{json.dumps(cell.get('outputs', ''))}" for cell in cells)
    return found


def test_no_hidden_test_and_no_answer_is_in_it(copy):
    """No file has a line of a hidden test, no lab a line of its answers; labs, scripts and pages have no marker."""
    hidden, everywhere, shown = lines_of("HIDDEN TESTS"), texts(copy, "."), texts(copy, "labs", "slurm", "docs")
    answers = {lab.name: lines_of("SOLUTION", lab.name) for lab in find_labs(ROOT)}

    assert (len(hidden) > 20, min(map(len, answers.values())) > 10) == (True, True)  # there is something to find
    assert [(name, line) for line in hidden for name, text in everywhere.items() if line in text] == []
    for lab, lines in answers.items():
        own = texts(copy, f"labs/{lab}")
        assert [(name, line) for line in lines for name, text in own.items() if line in text] == []
    assert [name for name, text in shown.items() if "### BEGIN" in text] == []
    assert not {"solutions", "tests", "course", "build", "jobs"} & {path.name for path in copy.iterdir()}


def test_everything_else_of_the_package_and_the_jobs_is_in_it(copy):
    """What git knows in src/, slurm/ and tools/ is there, with its bytes and its right to be called."""
    words = ["git", "ls-files", "src", "slurm", "tools", "labs"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    others = {name for name in done.stdout.split() if not name.endswith(("/solutions.sbatch", "/grade.sbatch"))}

    assert len(others) > 300
    assert {name for name in others if (copy / name).read_bytes() != (ROOT / name).read_bytes()} == set()
    assert {name for name in others if os.access(copy / name, os.X_OK) != os.access(ROOT / name, os.X_OK)} == set()
    names = {path.name for path in (copy / "slurm" / "jobs" / "local").iterdir()}
    assert names >= {"jupyter.sbatch", "03-keras-cnn-train.sbatch", *(f"{lab.name}.sbatch" for lab in find_labs(ROOT))}
    assert names == {path.name for path in (ROOT / "slurm/jobs/local").iterdir()} - {"solutions.sbatch", "grade.sbatch"}


def test_pages_show_and_name_what_is_there(copy):
    """No link of a page, and no picture, leads to what students do not have."""
    pages = [*copy.glob("*.md"), *copy.glob("docs/*.md"), *copy.glob("labs/**/*.md")]
    links = {(page, link) for page in pages for link in LINK.findall(page.read_text())}
    pictures = [link for _, link in links if link.endswith(".png")]

    assert (len(pages) >= 6, len(pictures) > 10) == (True, True)
    assert sorted(f"{page}: {link}" for page, link in links if not (page.parent / link).exists()) == []


def test_labs_are_known_without_answers(copy):
    """The copy's labs are those of the checkout, with the same title, needs and parameters."""
    assert [replace(lab, folder=ROOT) for lab in find_labs(copy)] == [
        replace(lab, folder=ROOT) for lab in find_labs(ROOT)
    ]


def test_students_commands_work_in_it(copy):
    """Labs and sites are known; a notebook without answers is not submitted, as in a checkout."""
    assert coursekit(copy, "submit", "--help", PYTHONPATH=str(copy / "src"))[0] == 0  # with the copy's own package
    status, _, errors = coursekit(copy, "submit", "02", "--site", "karolina")
    assert (status, errors.split(" yet in ")[0]) == (
        1,
        "coursekit: labs/02-horovod-sgd/02-horovod-sgd.ipynb has no answer",
    )
    link = ("link", "--hub", "https://a.org", "--repo", "https://b.org/c")
    assert coursekit(copy, *link, "03")[1].endswith("labs%2F03-keras-cnn%2F03-keras-cnn.ipynb\n")
    names = ", ".join(lab.name for lab in find_labs(ROOT))
    assert coursekit(copy, *link, "77")[2] == f"coursekit: there is no lab '77'; the labs are {names}.\n"


def test_instructors_commands_say_what_is_missing(copy):
    """What needs the answers ends in a sentence."""
    assert coursekit(copy, "build")[::2] == (
        1,
        "coursekit: labs/01-sgd/01-sgd.py is not there: a students' copy of the course has no answers to build from.\n",
    )


def test_it_can_be_installed(copy, tmp_path):
    """`make env` finds its programs and locks there, and the package's own metadata can be made."""
    code = "import sys; sys.path.insert(0, 'tools'); import make_env; print(make_env.ingredients()['folder'])"
    said = subprocess.run([sys.executable, "-c", code], cwd=copy, capture_output=True, text=True, check=True)
    own = shutil.copytree(copy, tmp_path / "own")
    code = f"from setuptools import build_meta; build_meta.prepare_metadata_for_build_editable({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", code], cwd=own, capture_output=True, check=True)

    assert said.stdout.strip() == str(copy)
    assert "Name: coursekit\n" in next(tmp_path.glob("coursekit-*.dist-info/METADATA")).read_text()


def test_copy_is_brought_up_to_date(checkout, tmp_path):
    """Again, nothing changes; what a later copy lacks is removed; git's folder and one's own files stay."""
    folder = tmp_path / "copy"
    (folder / ".git").mkdir(parents=True)
    files = students_files(checkout)
    assert write_copy(checkout, files, folder) == len(files)
    assert write_copy(checkout, files, folder) == 0

    (folder / "notes.md").write_text("my own")
    (folder / "Makefile").write_text("old")
    later = {name: data for name, data in files.items() if name != "environment.yml"}

    assert write_copy(checkout, later, folder) == 1
    assert (folder / "Makefile").read_bytes() == files["Makefile"]
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert there == {*later, "notes.md", MANIFEST}
    assert (folder / ".git").is_dir()


def test_other_folders_are_left_alone(checkout, tmp_path):
    """A folder with something else in it, or a part of the checkout, is refused and stays as it is."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    for folder, words in (
        (tmp_path / "mine", "holds something that is not a students' copy: name a new or empty folder."),
        (checkout, "is a part of the checkout itself: name a folder of its own."),
        (checkout / "labs" / "x", "is a part of the checkout itself: name a folder of its own."),
    ):
        with pytest.raises(CourseKitError) as caught:
            write_copy(checkout, {"README.md": b""}, folder)
        assert str(caught.value) == f"{folder} {words}"
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]
    assert not (checkout / "labs" / "x").exists()


def test_notebook_that_somebody_answered_is_not_published(checkout, tmp_path):
    """An answer written into labs/ stops the copy; so does one that is left in an output; and one in the copy stays."""
    notebook = checkout / "labs" / "01-sgd" / "01-sgd.ipynb"
    clean = notebook.read_bytes()
    write_copy(checkout, students_files(checkout), tmp_path / "copy")

    notebook.write_bytes(clean.replace(b"raise NotImplementedError", b"return 1"))
    with pytest.raises(CourseKitError, match=r"01-sgd\.ipynb was edited since it was built"):
        students_files(checkout)

    content = nbformat.reads(clean.decode(), as_version=4)
    code = next(cell for cell in content.cells if cell.cell_type == "code")
    answer = min(lines_of("SOLUTION", "01-sgd"))
    code.outputs = [nbformat.v4.new_output("stream", text=answer)]
    notebook.write_text(nbformat.writes(content))
    with pytest.raises(CourseKitError, match=r"^01-sgd: cell .* would show students "):
        students_files(checkout)

    notebook.write_bytes(clean)
    answered = tmp_path / "copy" / "labs" / "01-sgd" / "01-sgd.ipynb"
    answered.write_bytes(clean.replace(b"raise NotImplementedError", b"return 1"))
    with pytest.raises(CourseKitError, match=r"01-sgd\.ipynb was edited since it was built"):
        write_copy(checkout, students_files(checkout), tmp_path / "copy")
