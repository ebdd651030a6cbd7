"""Answers as files, for a program that shows which are alike."""

import pytest

from coursekit.course.collect import collect
from coursekit.course.folder import find_course
from coursekit.course.roster import Student, write_roster

from .conftest import NAME, later

# As the solution has them: who keeps the description of a function writes nothing else.
SOLVED = {
    "shard": """def shard(x, rank, size):
    \"\"\"Return the part of `x` that belongs to this rank (about 1 line).\"\"\"
    return x[rank::size]""",
    "mean": """def mean(x):
    \"\"\"Return the mean of `x` (about 1 line).\"\"\"
    return sum(x) / len(x)""",
}
OWN = """def mean(x):
    total, number = 0, 0
    for one in x:
        if one is not None:
            total = total + one
            number = number + 1
    return total / number if number > 0 else 0"""
RENAMED = OWN.replace("total", "so_far").replace("number", "seen").replace("one", "value")


@pytest.fixture
def written(course, enrol, hand_in, call):
    """Six students, of whom fay is in a team with ada, and cyd's file is damaged."""
    enrol("cyd", "dan", "eve", "fay")
    students = [
        Student(name, team="x" if name in {"ada", "fay"} else "") for name in ("ada", "bob", "cyd", "dan", "fay")
    ]
    write_roster(course.folder / "roster.csv", students)
    for student, mean in (("dan", OWN), ("eve", RENAMED)):
        hand_in(student, answers={**SOLVED, "mean": mean})
    for hour, student in enumerate(("ada", "bob", "fay")):
        hand_in(student, answers=SOLVED, at=later(hour))
    hand_in("cyd", notebook="{ damaged")
    collect(find_course(course.root, course.folder), NAME)
    assert call("course", "answers", "01")[1] == [f"{NAME}: 4 files: {course.folder}/answers/{NAME}"]
    return course.folder / "answers"


def test_code_answers_are_written_once_for_a_team(written):
    """Code only, by cell; neither a damaged file nor what does not count of a team."""
    texts = {path.name: path.read_text() for path in (written / NAME).iterdir()}
    assert sorted(texts) == ["bob.py", "dan.py", "eve.py", "fay.py"]
    assert texts["dan.py"] == f"# shard\n{SOLVED['shard']}\n\n# mean\n{OWN}"
    given = {path.name: path.read_text() for path in (written / "given" / NAME).iterdir()}
    assert ["num_samples = 6" in given["released.py"], "return x[rank::size]" in given["solution.py"]] == [True, True]
    assert written.stat().st_mode & 0o777 == 0o700
