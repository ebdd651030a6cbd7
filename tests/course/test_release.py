"""Releasing labs: what lies in labs/ reaches students, byte by byte, and the gradebook knows the cells."""

import shutil
import subprocess
import sys

from coursekit.course.folder import find_course
from coursekit.course.release import release
from coursekit.labs.build.build import build_release
from coursekit.labs.lab import select_labs

from .conftest import NAME, refused, tree


def test_students_find_what_lies_in_labs(course):
    """The exchange and nbgrader's release hold the committed files, and how an AI assistant should help."""
    given = tree(course.root / "labs" / NAME) | tree(course.root / "students")
    assert sorted(given) == [f"{NAME}.ipynb", "AGENTS.md"]
    assert tree(course.folder / "exchange" / "dl" / "outbound" / NAME) == given
    assert tree(course.folder / "release" / NAME) == given


def test_a_second_version_must_be_built_and_needs_force(own_checkout):
    """The same files again change nothing; other files replace what students fetch only when told to."""
    course, (lab,) = find_course(own_checkout), select_labs(own_checkout, ["01"])
    assert release(course, lab) == "unchanged"
    lab.source.write_text(lab.source.read_text().replace("# A small lab", "# A changed lab"))
    with refused("labs.stale", "`coursekit build 01`"):
        release(course, lab)
    build_release(own_checkout, [lab])
    with refused("release.other-version"):
        release(course, lab)
    assert release(course, lab, force=True) == "released again"
    assert "A changed lab" in (own_checkout / f"course/exchange/dl/outbound/{NAME}/{NAME}.ipynb").read_text()


def test_a_release_can_be_taken_back(course):
    """With nbgrader's own command, as the instructor's guide says; it can be released again."""
    (lab,) = select_labs(course.root, ["1"])
    command = [sys.executable, "-m", "nbgrader", "list", "--remove", "--assignment", NAME]
    subprocess.run(command, cwd=course.folder, check=True, timeout=900)
    assert not course.outbound(NAME).exists()
    assert release(course, lab) == "released"


def test_nbgraders_own_command_gives_no_solution_away(own_checkout):
    """`nbgrader generate_assignment` in the folder makes a release without answers, the script twin included."""
    course = own_checkout / "course"
    shutil.rmtree(course / "release" / "02-other")
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", "generate_assignment", "02-other", "--force"],
        cwd=course,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    released = tree(course / "release" / "02-other")
    assert sorted(released) == ["02-other.ipynb", "train.py"]
    assert released["train.py"] == (own_checkout / "labs" / "02-other" / "train.py").read_bytes()
    assert b"2 * x" in (own_checkout / "build" / "source" / "02-other" / "train.py").read_bytes()
    assert not any(b"2 * x" in content for content in released.values())
