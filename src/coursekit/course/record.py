"""Record a verdict in one transaction of the gradebook, and write the graded notebook for formgrader and feedback."""

from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output
from nbgrader.utils import compute_checksum, determine_grade

from coursekit.course.folder import Course, due_of
from coursekit.course.late_penalty import days_late, penalty
from coursekit.files import write_file
from coursekit.grading.submission.cells import Cells
from coursekit.grading.submission.student_folder import TIMESTAMP, Submission, timestamp_text
from coursekit.grading.verdict import Verdict
from coursekit.labs.build.build import to_bytes
from coursekit.labs.cells import CellScore, cell_name, is_grade, is_solution

READABLE = 0o444  # the mode that nbgrader gives to graded files
NO_RESPONSE = "No response."  # nbgrader's words
LATE = "late penalty"
NUM_DECIMALS = 9  # points are rounded to these, because a sum of floats is not exact


@dataclass(frozen=True)
class Moves:
    """How a submission's points in the gradebook change when its verdict is recorded.

    Attributes:
        points: The change for each cell and for the late penalty, where missing points count as 0; changes of 0 are
            left out.
        is_first: Whether nothing of the submission had been graded before.
    """

    points: Mapping[str, float] = field(default_factory=dict)
    is_first: bool = True


def record(course: Course, verdict: Verdict, submission: Submission) -> Moves:
    """Record a verdict, and return how the points changed; recording the same verdict again changes nothing.

    The gradebook is changed in one transaction or not at all; then the files are written, the notebook last. If a call
    is interrupted, the next call completes the work. Manual points stay. If different work of the student was graded
    before, each cell with manual points is marked for another look, as in nbgrader.
    """
    notebook = graded_notebook(verdict, submission, course.released(verdict.lab))
    files = dict(submission.files)
    if submission.timestamp:
        files[TIMESTAMP] = timestamp_text(submission.timestamp).encode()
    files[f"{verdict.lab}.ipynb"] = to_bytes(notebook)
    moved = _record_points(course, verdict, submission, notebook, is_kept=True)
    for name, data in files.items():
        path = course.autograded(verdict.lab, verdict.student) / name
        if not path.is_file() or path.read_bytes() != data:
            write_file(path, data, READABLE)
    return moved


def foresee(course: Course, verdict: Verdict, submission: Submission) -> Moves:
    """Return how `record` would change the points, without recording anything."""
    graded = graded_notebook(verdict, submission, course.released(verdict.lab))
    return _record_points(course, verdict, submission, graded, is_kept=False)


def _record_points(
    course: Course, verdict: Verdict, handed_in: Submission, graded: NotebookNode, *, is_kept: bool
) -> Moves:
    """Write points and nbgrader's comments into the gradebook, in one transaction; roll it back unless `is_kept`."""
    from nbgrader.api import BaseCell, GradeCell

    answers = [cell for cell in graded.cells if is_solution(cell)]
    untouched = [cell for cell in answers if cell.metadata.nbgrader.get("checksum") == compute_checksum(cell)]
    comments = {cell_name(cell): NO_RESPONSE for cell in untouched}
    # A person grades an answer in words; if the student wrote nothing, it gets 0 points.
    scores = {cell_name(cell): determine_grade(cell)[0] for cell in answers if is_grade(cell)}
    scores |= {score.grade_id: score.points for score in verdict.scores}
    with course.gradebook() as gradebook:
        session = gradebook.db
        submission = _submission(gradebook, verdict.lab, verdict.student)
        is_other_work = submission.timestamp != handed_in.timestamp
        submission.timestamp = handed_in.timestamp
        notebook = next(notebook for notebook in submission.notebooks if notebook.notebook.name == verdict.lab)
        cells = session.query(BaseCell.id, BaseCell.name).filter(BaseCell.notebook_id == notebook.notebook_id)
        names = dict(cells.all())  # in one query; nbgrader's own objects would need one query per cell
        before, is_first = _points(notebook, names), all(grade.auto_score is None for grade in notebook.grades)
        maxima = {score.grade_id: score.max_points for score in verdict.scores}
        for cell in session.query(GradeCell).filter(GradeCell.notebook_id == notebook.notebook_id):
            cell.max_score = maxima.get(cell.name, cell.max_score)  # from now on, this verdict's maxima count
        for grade in notebook.grades:
            grade.auto_score = scores.get(names[grade.cell_id])
            if grade.manual_score is None:
                grade.needs_manual_grade = grade.auto_score is None
            elif is_other_work:
                grade.needs_manual_grade = True
        for comment in notebook.comments:
            comment.auto_comment = comments.get(names[comment.cell_id])
        session.flush()
        session.refresh(notebook)  # its score is a sum that the database computes
        due = due_of(course, verdict.lab, verdict.student)
        num_days = days_late(handed_in.timestamp, due, course.settings.zone)
        lost = penalty(course.settings.late_penalty, notebook.score, num_days)
        notebook.late_submission_penalty = lost if num_days else None
        after = _points(notebook, names)
        (session.commit if is_kept else session.rollback)()
    moved = {name: round(after[name] - before[name], NUM_DECIMALS) for name in (*scores, LATE) if name in after}
    return Moves({name: points for name, points in moved.items() if points}, is_first)


def _points(notebook: Any, names: Mapping[int, str]) -> dict[str, float]:
    """Return the points of each cell of a submitted notebook, as nbgrader counts them; `LATE` is the late penalty.

    The late penalty is a negative number, or 0.
    """
    points = {LATE: -(notebook.late_submission_penalty or 0.0)}
    for grade in notebook.grades:
        given = grade.auto_score if grade.manual_score is None else grade.manual_score
        points[names[grade.cell_id]] = (given or 0.0) + (grade.extra_credit or 0.0)
    return points


def _submission(gradebook: Any, lab: str, student: str) -> Any:
    """Return a student's submission from the gradebook, or create one with empty grades in the current transaction.

    nbgrader's own `add_submission` would commit before there are points.
    """
    from nbgrader.api import Comment, Grade, MissingEntry, Student, SubmittedAssignment, SubmittedNotebook

    session = gradebook.db
    with suppress(MissingEntry):
        return gradebook.find_submission(lab, student)
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
    return submission


def graded_notebook(verdict: Verdict, submission: Submission, released: NotebookNode) -> NotebookNode:
    """Return the notebook that formgrader and feedback show; `released`, the students' version, stays unchanged."""
    notebook, cells = deepcopy(released), submission.cells
    scores = {score.grade_id: score for score in verdict.scores}
    for cell in notebook.cells:
        if is_solution(cell):
            cell.source = cells.answers.get(cell_name(cell), cell.source)
            if cell.cell_type == "markdown" and (pictures := cells.pictures.get(cell_name(cell))):
                cell.attachments = {name: dict(data) for name, data in pictures.items()}
        if cell_name(cell) in scores and cell.cell_type == "code":
            cell.outputs = _outputs(scores[cell_name(cell)])
    flags = dict.fromkeys((*submission.flags, *cells.flags, *verdict.flags))  # a verdict may repeat some of them
    first = next((cell for cell in notebook.cells if is_grade(cell)), None)
    if first is not None and flags:  # metadata stay in formgrader's notebook, but no page shows them
        first.metadata["coursekit"] = {"flags": [asdict(flag) for flag in flags]}
    notebook.cells = _with_extra(notebook.cells, cells)
    return notebook


def _outputs(score: CellScore) -> list[NotebookNode]:
    if score.passed:
        return []
    name, _, text = score.message.partition(": ")
    return [new_output("error", ename=name, evalue=text, traceback=[score.message])]


def _with_extra(known: list[NotebookNode], cells: Cells) -> list[NotebookNode]:
    """Return all cells for a person who grades by hand, including the cells that the student added.

    Each added cell comes after the same known cell as in the student's notebook.
    """
    after: dict[str, list[NotebookNode]] = {}
    for i, (name, source) in enumerate(cells.extra, 1):
        cell = new_code_cell(source, id=f"added-{i}", metadata={"coursekit": {"added": True}})
        after.setdefault(name, []).append(cell)
    return [*after.get("", []), *(one for cell in known for one in (cell, *after.get(cell_name(cell), [])))]
