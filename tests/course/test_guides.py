"""The guides for instructors and students: every command in them is run here, or by the test that is named.

Those for grading a class run as they stand, from roster to feedback, with three students. Rules, where a line alone
says too little: a student's `nbgrader submit` gets `--student`, for in a test all share one account; JupyterLab, which
does not end by itself, gets a port and a token from the home's settings, is asked what its Formgrader knows, and ended.
"""

import csv
import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import pytest

from coursekit.labs.build.build import build_sources
from coursekit.labs.lab import select_labs
from workshop.answers.answer_bank import load_bank

from .accounts import Account

ROOT = Path(__file__).parents[2]
LAB = "01-sgd"
WRONG = "num-updates-rounded-down"  # of the bank of answers
ROSTER = "id,first_name,last_name,email,lms_user_id\nada,Ada,Lovelace,ada@example.org,1001\nbob,,,,\ncyd,,,,\n"
ON_SLURM = "tests/slurm/jobs/test_on_slurm.py::test_a_job_from_its_submission_to_its_points"
KERNEL = "tests/jupyter/kernels/test_command.py::test_installed_kernel_is_started_and_asked"
GUIDES = ("instructor.md", "student.md")
ELSEWHERE = {
    "make hub": "tests/jupyter/hub/test_command.py::test_a_signal_ends_everything",
    "COURSEKIT_SITE=karolina COURSEKIT_COURSE=/srv/course COURSEKIT_INSTRUCTORS=ada jupyterhub -f "
    "hub/jupyterhub_config.py": "tests/jupyter/hub/test_site.py::test_lab_02_runs_on_two_nodes_until_the_time_is_over",
    "coursekit submit 02 --site karolina --follow": ON_SLURM,
    "coursekit jobs": ON_SLURM,
    "coursekit kernel install --site karolina": KERNEL,
    "coursekit students-copy for-students": "tests/labs/build/test_students_copy.py::test_students_commands_run",
}


def blocks(guide):
    """Return the blocks of commands of a guide, without remarks."""
    found = re.findall(r"^```\n(.*?)^```", (ROOT / "docs" / guide).read_text(), re.DOTALL | re.MULTILINE)
    return [[line.partition("  #")[0].rstrip() for line in block.splitlines()] for block in found]


def answered(released, source, answers):
    """Return the released notebook with the solution in every answer cell, but for these answers."""
    solved = {cell.id: cell.source for cell in nbformat.read(source, as_version=4).cells}
    notebook = nbformat.read(released, as_version=4)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = answers.get(cell.id, solved[cell.id])
    return nbformat.writes(notebook)


def at_once(act, names):
    """Let all students act at the same time."""
    with ThreadPoolExecutor() as pool:
        return list(pool.map(act, names))


@pytest.fixture
def root(tmp_path):
    """A checkout with lab 01 alone, and a roster."""
    root = tmp_path / "checkout"
    for folder in (f"solutions/{LAB}", f"labs/{LAB}", "students"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    (root / "pyproject.toml").write_text("")
    (root / "roster.csv").write_text(ROSTER)
    (root / "handed-in" / "cyd").mkdir(parents=True)  # as a platform sorts files
    return root


@pytest.mark.needs("bwrap")
def test_from_roster_to_feedback(root, tmp_path):
    """Everybody's points are those of their answers in the exported tables, and each gets their own feedback."""
    demo, instructors, students, *others = blocks("instructor.md")
    more = [line for block in (demo, *others, *blocks("student.md")) for line in block if line not in ELSEWHERE]
    (packing,) = more
    assert packing == "coursekit hand-in 01"
    assert [line.split()[1] for line in students] == ["fetch_assignment", "submit", "fetch_feedback"]
    source = build_sources(root, select_labs(root, ["01"]))[LAB]
    (wrong,) = (one for one in load_bank(ROOT / "tests" / "answers" / LAB, source) if one.name == WRONG)
    accounts = {name: Account(tmp_path / name, tmp_path / name) for name in ("ada", "bob", "cyd")}
    instructor = Account(tmp_path / "instructor", root)

    answers = {"ada": {}, "bob": wrong.cells, "cyd": {}}

    def hand_in(name):
        fetch, submit, _ = students
        account = accounts[name]
        shutil.copy(root / "course" / "student" / "nbgrader_config.py", account.home / ".jupyter")
        account.run(fetch)
        notebook = account.folder / LAB / f"{LAB}.ipynb"
        assert notebook.read_bytes() == (root / "labs" / LAB / f"{LAB}.ipynb").read_bytes()
        notebook.write_text(answered(notebook, source, answers[name]))
        by_file = f"{packing} && mv {LAB}--*.zip {root / 'handed-in' / name}"
        account.run(by_file if name == "cyd" else f"{submit} --student {name}")

    listed = []
    for line in instructors:
        if "jupyter lab" in line:
            with instructor.formgrader(line) as ask:
                listed = json.loads(ask(f"api/submissions/{LAB}"))
        else:
            instructor.run(line)
        if line.startswith("coursekit course release"):
            at_once(hand_in, accounts)

    points = {"ada": 20.0, "bob": 19.0, "cyd": 20.0}
    assert {one["student"]: one["score"] for one in listed} == points
    for path, name in (("course/grades-csv.csv", "id"), ("grades.csv", "Username")):
        rows = csv.DictReader((root / path).read_text(encoding="utf-8-sig").splitlines())
        assert {row[name]: float(row[LAB]) for row in rows} == points

    missing = {"ada": False, "bob": True}
    at_once(lambda name: accounts[name].run(students[-1]), missing)
    for name, is_told in missing.items():
        (page,) = (accounts[name].folder / LAB / "feedback").rglob("*.html")
        assert f"(Score: {points[name]} / 20.0)" in page.read_text()
        assert ("updates.wrong-number" in page.read_text()) is is_told
        assert "HIDDEN" not in page.read_text()
    assert (root / "class.html").is_file()


def test_what_runs_elsewhere_does():
    """The tests that are named for other lines exist, and the lines are in the guides."""
    assert ELSEWHERE.keys() <= {line for name in GUIDES for block in blocks(name) for line in block}
    for place in ELSEWHERE.values():
        path, _, name = place.partition("::")
        assert f"def {name}(" in (ROOT / path).read_text(), place
