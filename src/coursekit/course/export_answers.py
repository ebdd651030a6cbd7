"""Write students' answers as plain files for a program that compares them; a person must judge its findings."""

from pathlib import Path

import nbformat

from coursekit.course.folder import PRIVATE_MODE, Course
from coursekit.course.status.points import count_for_teams
from coursekit.course.versions import find_submissions
from coursekit.files import write_file
from coursekit.labs.build.build import build_sources
from coursekit.labs.build.regions import without_markers
from coursekit.labs.cells import cell_name, is_solution
from coursekit.labs.lab import Lab

ANSWERS = "answers"


def write_answers(course: Course, lab: Lab) -> tuple[Path, int]:
    """Write each hand-in's answers to `answers/<lab>/<student>.py`, and the given code to `answers/given/<lab>/`.

    The given code is the code that all students can see: the released notebook, and the solution, which they can
    unfold. A short answer that equals the solution proves nothing, because correct short answers look alike anyway. For
    a team, only the hand-in that counts is written.

    Returns:
        The folder with the answers, and the number of hand-ins that were written to it.
    """
    released = course.released(lab.name)
    source = nbformat.read(build_sources(course.root, [lab])[lab.name], as_version=4)
    given = {"released": released.cells, "solution": [cell for cell in source.cells if is_solution(cell)]}
    folder = course.folder / ANSWERS
    folder.mkdir(mode=PRIVATE_MODE, exist_ok=True)
    for name, cells in given.items():
        text = "\n\n".join(without_markers(cell.source) for cell in cells if cell.cell_type == "code")
        write_file(folder / "given" / lab.name / f"{name}.py", text.encode())
    code = {cell_name(cell) for cell in released.cells if cell.cell_type == "code"}
    found = {(one.student, one.lab): one for one in find_submissions(course, [lab.name]) if one.notebook}
    hand_ins = {one.student: one for one in count_for_teams(course, found).values()}
    for one in hand_ins.values():
        text = "\n\n".join(f"# {name}\n{answer}" for name, answer in one.cells.answers.items() if name in code)
        write_file(folder / lab.name / f"{one.student}.py", text.encode("utf-8", "replace"))
    return folder / lab.name, len(hand_ins)
