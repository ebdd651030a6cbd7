"""The two guides: every command in them is run here as it stands, or its verb is by the test that is named."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest

from coursekit.labs.build.build import build_sources
from coursekit.labs.lab import select_labs

ROOT = Path(__file__).parents[3]
LAB = "01-sgd"
LINE_S = 900
ON_SLURM = "tests/slurm/jobs/test_on_slurm.py::test_a_job_from_its_submission_to_its_points"
EXCHANGE = "tests/course/test_readme_lines.py::test_from_roster_to_feedback"
KERNEL = "tests/jupyter/kernels/test_command.py::test_installed_kernel_is_started_and_asked"
ELSEWHERE = {
    "make hub": "tests/jupyter/hub/test_command.py::test_a_signal_ends_everything",
    "COURSEKIT_SITE=karolina COURSEKIT_COURSE=/srv/course COURSEKIT_INSTRUCTORS=ada jupyterhub -f "
    "hub/jupyterhub_config.py": "tests/jupyter/hub/test_site.py::test_lab_02_runs_on_two_nodes_until_the_time_is_over",
    "coursekit submit 02 --site karolina --follow": ON_SLURM,
    "coursekit jobs": ON_SLURM,
    "(cd course && jupyter lab)": EXCHANGE,
    **dict.fromkeys([f"nbgrader {verb} {LAB}" for verb in ("fetch_assignment", "submit", "fetch_feedback")], EXCHANGE),
    "coursekit kernel install --site local": KERNEL,
    "coursekit kernel check": KERNEL,
    "coursekit students-copy for-students": "tests/labs/build/test_students_copy.py::test_students_commands_work_in_it",
}


def lines(guide):
    """Return the commands of a guide's blocks, without remarks."""
    blocks = re.findall(r"^```\n(.*?)^```", (ROOT / "docs" / guide).read_text(), re.DOTALL | re.MULTILINE)
    return [line.partition("  #")[0].rstrip() for block in blocks for line in block.splitlines()]


@pytest.fixture
def shell(tmp_path):
    """A function that runs a line in a checkout with lab 01 alone, and returns what it says."""
    root = tmp_path / "checkout"
    for folder in ("solutions", "labs"):
        shutil.copytree(ROOT / folder / LAB, root / folder / LAB, ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    (root / "pyproject.toml").write_text("")
    (root / "roster.csv").write_text("id,first_name,last_name\nada,Ada,Lovelace\n")
    (root / "handed-in" / "ada").mkdir(parents=True)
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("JUPYTER", "COURSEKIT"))}
    (tmp_path / "home").mkdir()

    def run(line):
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=root,
            env={**kept, "HOME": str(tmp_path / "home")},
            capture_output=True,
            text=True,
            timeout=LINE_S,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout

    run.root = root
    return run


@pytest.mark.needs("bwrap")
def test_every_command_of_the_guides_works(shell):
    """The student packs a solved lab, the instructor collects, grades and looks at the class, line by line."""
    instructor, student = lines("instructor.md"), lines("student.md")
    mine = [line for line in student if line not in ELSEWHERE]
    assert mine == ["coursekit hand-in 01"]
    solve(shell.root)
    said = {}
    for line in [line for line in instructor if line not in ELSEWHERE]:
        if line.startswith("coursekit take"):
            said[mine[0]] = shell(f"{mine[0]} -o handed-in/ada")  # as a platform sorts them
        said[line] = shell(line)

    assert len(list((shell.root / "handed-in" / "ada").iterdir())) == 1
    assert "1 student, 1 of them new; 1 lab" in said["coursekit course init --name dl-2026 --roster roster.csv"]
    assert "ada 01-sgd: 20 of 20" in said["coursekit grade 01"]
    assert "01-sgd: 1/1 ada" in said["coursekit course feedback 01"]
    (link,) = [line for line in said if line.startswith("coursekit link")]
    assert said[link].startswith("https://jupyter.example.org/hub/user-redirect/git-pull?")


def test_what_runs_elsewhere_does():
    """The tests that are named for other lines exist, and the lines are in the guides."""
    assert ELSEWHERE.keys() <= {*lines("instructor.md"), *lines("student.md")}
    for place in ELSEWHERE.values():
        path, _, name = place.partition("::")
        assert (ROOT / path).is_file(), place
        assert f"def {name}(" in (ROOT / path).read_text(), place


@pytest.mark.parametrize("guide", ["instructor.md", "student.md"])
def test_pictures_of_the_guides_are_there_and_have_words(guide):
    """Every picture is there and says in words what it shows."""
    found = re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", (ROOT / "docs" / guide).read_text())
    assert found
    for words, path in found:
        assert len(words.split()) >= 8, path
        assert (ROOT / "docs" / path).read_bytes()[:4] == b"\x89PNG", path


def solve(root):
    """Put the solution into the student's notebook."""
    source = build_sources(root, select_labs(root, ["01"]))[LAB]
    solved = {cell.id: cell.source for cell in nbformat.read(source, as_version=4).cells}
    path = root / "labs" / LAB / f"{LAB}.ipynb"
    # Not in labs/ itself, which the instructor releases from.
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = solved[cell.id]
    folder = root / LAB
    folder.mkdir()
    (folder / f"{LAB}.ipynb").write_text(nbformat.writes(notebook))
