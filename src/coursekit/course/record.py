"""Record a verdict: one transaction into nbgrader's gradebook, and the graded notebook for formgrader and feedback."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import asdict, dataclass
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from nbgrader.utils import compute_checksum, determine_grade

from coursekit.course.due import due_of, late_s
from coursekit.course.folder import Course
from coursekit.course.roster import speller
from coursekit.errors import CourseKitError
from coursekit.files import write_file
from coursekit.grading.submission.cells import Cells
from coursekit.grading.submission.student_folder import ASKS, SECRET, TIMESTAMP, HandIn, staged_cells, timestamp_text
from coursekit.grading.submission.students_files import RefusedFileError, read_file
from coursekit.grading.verdict import Verdict
from coursekit.labs.build.generated import to_bytes
from coursekit.labs.cells import CellScore, cell_name, is_grade, is_solution

READABLE = 0o444  # as nbgrader leaves what it graded
NO_RESPONSE = "No response."  # nbgrader's words
MAX_SECRET_BYTES = 1000


@dataclass(frozen=True)
class GradedWork:
    """What is recorded beside the judge's points.

    Attributes:
        files: Name to content of what goes to `autograded/<student>/<lab>`, the notebook last.
        manual_scores: Cell that a person grades to 0 when nothing was written, else None.
        comments: Answer cell to nbgrader's own comment, or None.
    """

    files: Mapping[str, bytes]
    manual_scores: Mapping[str, float | None]
    comments: Mapping[str, str | None]


def record(course: Course, verdict: Verdict, hand_in: HandIn) -> bool:
    """Record a verdict on a hand-in.

    The gradebook changes in one transaction or not at all, then the files are written, the notebook last;
    a call that was cut short is completed by the next one.
    Manual points stay; where there were any and the work has changed, the cell asks for another look, as in nbgrader.

    Returns:
        Whether anything changed: False when this was recorded already, or has a fault.
    """
    if verdict.fault:
        return False
    released = course.released(verdict.lab)
    graded = graded_files(verdict, hand_in, released, staged_cells(hand_in, released))
    with course.gradebook() as gradebook:
        changed = _record_in_gradebook(course, gradebook, verdict, hand_in, graded)
    return _write_files(course, verdict, graded) or changed


def _record_in_gradebook(course: Course, gradebook: Any, verdict: Verdict, hand_in: HandIn, graded: GradedWork) -> bool:
    session = gradebook.db
    submission, is_new = _submission(gradebook, verdict.lab, verdict.student)
    notebook = next(notebook for notebook in submission.notebooks if notebook.notebook.name == verdict.lab)
    scores = {**{score.grade_id: score.points for score in verdict.scores}, **graded.manual_scores}
    comments = graded.comments
    recorded = (
        submission.timestamp,
        {grade.cell.name: grade.auto_score for grade in notebook.grades},
        {comment.cell.name: comment.auto_comment for comment in notebook.comments},
        notebook.late_submission_penalty or 0,
    )
    wanted = (
        hand_in.timestamp,
        {grade.cell.name: scores.get(grade.cell.name) for grade in notebook.grades},
        {comment.cell.name: comments.get(comment.cell.name) for comment in notebook.comments},
        _late_penalty(course, gradebook, submission, notebook) or 0,
    )
    # A cell that only a person can grade waits for one, or was graded by one.
    is_open = any(
        grade.auto_score is None and not grade.needs_manual_grade and grade.manual_score is None
        for grade in notebook.grades
    )
    if not is_new and not is_open and recorded == wanted:
        session.rollback()
        return False
    submission.timestamp = hand_in.timestamp
    for grade in notebook.grades:
        grade.auto_score = scores.get(grade.cell.name)
        grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
    for comment in notebook.comments:
        comment.auto_comment = comments.get(comment.cell.name)
    session.flush()
    session.refresh(notebook)  # its score is a sum that the database makes
    notebook.late_submission_penalty = _late_penalty(course, gradebook, submission, notebook)
    session.commit()
    return True


def _submission(gradebook: Any, lab: str, student: str) -> tuple[Any, bool]:
    """Return a student's submission, and whether it was made within this transaction, with grades that are empty yet.

    nbgrader's own `add_submission` would commit before there are points.
    """
    from nbgrader.api import (
        Comment,
        Grade,
        MissingEntry,
        Student,
        SubmittedAssignment,
        SubmittedNotebook,
    )

    session = gradebook.db
    try:
        return gradebook.find_submission(lab, student), False
    except MissingEntry:
        pass
    if session.get(Student, student) is None:
        there = speller(one.id for one in gradebook.students)(student)
        if there != student:  # nbgrader's own collect names folders as accounts are spelled
            raise CourseKitError(
                f"{student} and {there} are one student: run `coursekit course collect {lab[:2]}` first."
            )
        session.add(Student(id=student))
    assignment = gradebook.find_assignment(lab)
    with session.no_autoflush:
        submission = SubmittedAssignment(assignment_id=assignment.id, student_id=student)
        for notebook in assignment.notebooks:
            submitted = SubmittedNotebook(notebook_id=notebook.id, assignment=submission)
            for cell in (*notebook.grade_cells, *notebook.task_cells):
                Grade(cell_id=cell.id, notebook=submitted)
            for cell in (*notebook.solution_cells, *notebook.task_cells):
                Comment(cell_id=cell.id, notebook=submitted)
        session.add(submission)
    session.flush()
    return submission, True


def _late_penalty(course: Course, gradebook: Any, submission: Any, notebook: Any) -> float | None:
    """Return the points that nbgrader's plugin takes off, from 0 to all."""
    from nbgrader.preprocessors import AssignLatePenalties

    seconds = late_s(submission.timestamp, due_of(course, gradebook, submission.name, submission.student_id))
    if not seconds:
        return None
    step = AssignLatePenalties(config=course.config)
    step.init_plugin()
    penalty = step.plugin_inst.late_submission_penalty(submission.student.id, notebook.score, seconds)
    return None if penalty is None else min(max(float(penalty), 0.0), notebook.score)


def _write_files(course: Course, verdict: Verdict, graded: GradedWork) -> bool:
    folder = course.autograded(verdict.lab, verdict.student)
    changed = False
    for name, data in graded.files.items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != data:
            write_file(path, data, READABLE)
            changed = True
    return changed


def graded_files(verdict: Verdict, hand_in: HandIn, released: NotebookNode, cells: Cells) -> GradedWork:
    """Return the graded notebook and what nbgrader wants beside it; `released`, as students got it, is not changed."""
    notebook = deepcopy(released)
    scores = {score.grade_id: score for score in verdict.scores}
    for cell in notebook.cells:
        if is_solution(cell):
            cell.source = cells.answers.get(cell_name(cell), cell.source)
        if cell_name(cell) in scores and cell.cell_type == "code":
            cell.outputs = _outputs(scores[cell_name(cell)])
    answers = [cell for cell in notebook.cells if is_solution(cell)]
    manual = {cell_name(cell): determine_grade(cell)[0] for cell in answers if is_grade(cell)}
    untouched = {
        cell_name(cell) for cell in answers if cell.metadata.nbgrader.get("checksum") == compute_checksum(cell)
    }
    comments = {cell_name(cell): NO_RESPONSE if cell_name(cell) in untouched else None for cell in answers}
    flags = dict.fromkeys((*hand_in.flags, *cells.flags, *verdict.flags))  # each once: a verdict may hold them all
    first = next((cell for cell in notebook.cells if is_grade(cell)), None)
    if first is not None and flags:  # its metadata are where formgrader's notebook has them and no page shows them
        first.metadata["coursekit"] = {"flags": [asdict(flag) for flag in flags]}
    asked = [new_markdown_cell(note, id="request") for note in hand_in.notes if note.startswith(ASKS)]
    notebook.cells = [*asked, *_with_extra(notebook.cells, cells)]

    files = {}
    if hand_in.timestamp:
        files[TIMESTAMP] = timestamp_text(hand_in.timestamp).encode()
    with suppress(RefusedFileError):  # it did not come through the exchange: its feedback cannot go back that way
        files[SECRET] = read_file(hand_in.folder, SECRET, MAX_SECRET_BYTES)
    return GradedWork({**files, f"{verdict.lab}.ipynb": to_bytes(notebook)}, manual, comments)


def _outputs(score: CellScore) -> list[NotebookNode]:
    if score.passed:
        return []
    name, _, text = score.message.partition(": ")
    return [new_output("error", ename=name, evalue=text, traceback=[score.message])]


def _with_extra(known: list[NotebookNode], cells: Cells) -> list[NotebookNode]:
    """Return the cells with those that the student added at their places, for a person who grades."""
    after: dict[str, list[NotebookNode]] = {}
    for i, (name, source) in enumerate(cells.extra, 1):
        cell = new_code_cell(source, id=f"added-{i}", metadata={"coursekit": {"added": True}})
        after.setdefault(name, []).append(cell)
    return [*after.get("", []), *(one for cell in known for one in (cell, *after.get(cell_name(cell), [])))]
