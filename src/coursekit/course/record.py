"""Record a verdict: one transaction into nbgrader's gradebook, and the graded notebook for formgrader and feedback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coursekit.course.due import due_of, late_s
from coursekit.course.graded_notebook import graded_files
from coursekit.files import write_file
from coursekit.grading.submission.student_folder import staged_cells

if TYPE_CHECKING:
    from coursekit.course.folder import Course
    from coursekit.course.graded_notebook import GradedWork
    from coursekit.grading.submission.student_folder import HandIn
    from coursekit.grading.verdict import Verdict

READABLE = 0o444  # as nbgrader leaves what it graded


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
    if (
        not is_new
        and submission.timestamp == hand_in.timestamp
        and all(grade.auto_score == scores.get(grade.cell.name) for grade in notebook.grades)
        and not any(grade.auto_score is None and not _waits(grade) for grade in notebook.grades)
        and all(comment.auto_comment == comments.get(comment.cell.name) for comment in notebook.comments)
        and (notebook.late_submission_penalty or 0) == (_late_penalty(course, gradebook, submission, notebook) or 0)
    ):
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


def _waits(grade: Any) -> bool:
    """Whether a cell that only a person can grade waits for a person, or was graded by one."""
    return bool(grade.needs_manual_grade or grade.manual_score is not None)


def _submission(gradebook: Any, lab: str, student: str) -> tuple[Any, bool]:
    """Return a student's submission, and whether it was made within this transaction, with grades that are empty yet.

    nbgrader's own `add_submission` would commit before there are points.
    """
    from nbgrader.api import (  # noqa: PLC0415 - heavy
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
    from nbgrader.preprocessors import AssignLatePenalties  # noqa: PLC0415 - heavy

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
