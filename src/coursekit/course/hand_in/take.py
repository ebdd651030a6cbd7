"""Take files that students sent by e-mail or through a platform into the course, beside those of the exchange."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path, PurePosixPath

from nbformat import NotebookNode

from coursekit.course.collect import Collected, settle
from coursekit.course.folder import Course, due_of, late_s, sync_due_dates
from coursekit.course.hand_in.owner import find_owner
from coursekit.course.hand_in.packed import SUFFIX, HandInManifest, NotTakenError, read_zip
from coursekit.course.roster import Student, columns_of
from coursekit.course.versions import digest, keep, read_versions, write_files
from coursekit.errors import CourseKitError
from coursekit.grading.submission.cells import find_answers
from coursekit.grading.submission.student_folder import NOTEBOOK, TIMESTAMP, classify, shown, timestamp_text, utc
from coursekit.grading.submission.students_files import MAX_FOLDER_BYTES, RefusedFileError, read_file, read_notebook
from coursekit.grading.verdict import Flag
from coursekit.labs.lab import find_labs

TAKEN, KNOWN, NOT_TAKEN = "taken", "known", "not taken"
RECEIVED = "file"  # so a version says how it came in, followed by what it is known by
MAX_ZIP_BYTES = MAX_FOLDER_BYTES + 1_000_000  # what cannot be made smaller grows a little
LITTER = ("__MACOSX", "Thumbs.db", "desktop.ini")  # beside everything that begins with a dot


@dataclass(frozen=True)
class Taken:
    """One file and what became of it.

    Attributes:
        file: Its path within the instructor's folder.
        outcome: `TAKEN`, `KNOWN` when it was taken before, or `NOT_TAKEN`.
        written: When the file last changed, UTC without an offset.
        student: Whose it is; empty when that is not known.
        lab: Name of the lab; empty when that is not known.
        packed: When it claims to have been packed, likewise; None when it claims nothing.
        lines: What there is to say, one sentence each.
    """

    file: str
    outcome: str
    written: datetime
    student: str = ""
    lab: str = ""
    packed: datetime | None = None
    lines: tuple[str, ...] = ()


def take_all(course: Course, folder: Path, *, late: bool = False) -> tuple[list[Taken], list[Collected]]:
    """Take every file below a folder, and let the best version of each hand-in be the one that is graded.

    The files stay where they are. Killed at any moment, a second call goes on: what was kept is known by its content.

    Returns:
        One entry per file, sorted by path, and one for each student and lab that has any of them.

    Raises:
        CourseKitError: the folder is part of the course.
    """
    folder = folder.resolve()
    if folder in {course.folder, *course.folder.parents} or course.folder in folder.parents:
        raise CourseKitError(
            f"{folder} holds the course itself or is a part of it: name the folder with the files that students sent."
        )
    with course.gradebook() as gradebook:
        roster = tuple(Student(**columns_of(one)) for one in gradebook.students)
    labs = [lab.name for lab in find_labs(course.root) if (course.folder / "release" / lab.name).is_dir()]
    released = {lab: course.released(lab) for lab in labs}
    taken = [_take(course, folder, name, roster, released) for name in list_files(folder)]
    with course.gradebook() as gradebook:
        sync_due_dates(course, gradebook)
        pairs = sorted({(one.lab, one.student) for one in taken if one.outcome != NOT_TAKEN})
        due = {pair: due_of(course, gradebook, *pair) for pair in pairs}
    settled = [settle(course, *pair, due[pair], late=late) for pair in pairs]
    return sorted(taken, key=lambda one: one.file), settled


def _take(
    course: Course, folder: Path, name: str, roster: Sequence[Student], released: Mapping[str, NotebookNode]
) -> Taken:
    taken = Taken(name, NOT_TAKEN, utc((folder / name).lstat().st_mtime))
    try:
        lab, contents, manifest = read_arrival(folder, name, released)
        taken = replace(taken, lab=lab, packed=manifest.time if manifest else None)
        parts = PurePosixPath(name).with_suffix("").parts
        owner = find_owner(parts, manifest.user if manifest else "", roster)
    except NotTakenError as error:
        return replace(taken, lines=(f"{error}.",))
    taken = replace(taken, student=owner.student)
    into = course.hand_ins(lab, owner.student)
    received = f"{RECEIVED} {digest(contents)}"
    if received in {version.received for version in read_versions(into)}:
        return replace(taken, outcome=KNOWN)
    moment, time_flags = _time_of(taken)
    flags = (*owner.flags, *time_flags)
    with tempfile.TemporaryDirectory(prefix="coursekit-take-") as place:
        unpacked = Path(place) / "hand-in"
        write_files(unpacked, {**contents, TIMESTAMP: timestamp_text(moment).encode()})
        hand_in = classify(unpacked, owner.student, lab, released[lab])
        if hand_in.notebook is None:
            return replace(taken, lines=(f"{'; '.join(hand_in.notes)}: ask the student for the right notebook.",))
        keep(unpacked, received, moment, flags, into)
    remarks = (owner.remark,) if owner.remark else ()
    return replace(taken, outcome=TAKEN, lines=(*(flag.text for flag in flags), *remarks))


def _time_of(taken: Taken) -> tuple[datetime, tuple[Flag, ...]]:
    """Return when a file counts as handed in: not in the future, or no later version would ever count."""
    now = datetime.now(timezone.utc).replace(tzinfo=None)
    claimed = taken.packed or taken.written
    if not late_s(claimed, now):
        return claimed, ()
    counted = min(taken.written, now)
    text = f"It claims to be of {shown(claimed)}, in the future: {shown(counted)} counts, when the file was written."
    return counted, (Flag("time", text),)


def list_files(folder: Path) -> list[str]:
    """Return the files below a folder, the oldest first, so that of equal ones the time of the first counts."""
    files = [path for path in folder.rglob("*") if path.is_symlink() or path.is_file()]
    names = {path.relative_to(folder): path.lstat().st_mtime for path in files}
    shown_names = [name for name in names if not any(part.startswith(".") or part in LITTER for part in name.parts)]
    return [name.as_posix() for name in sorted(shown_names, key=lambda name: (names[name], name))]


def read_arrival(
    folder: Path, name: str, released: Mapping[str, NotebookNode]
) -> tuple[str, dict[str, bytes], HandInManifest | None]:
    """Read one file of the instructor's folder, by its path within it; `released` holds the labs that students got.

    Returns:
        The lab, path within the hand-in to content, and the manifest, which a plain notebook has not.

    Raises:
        NotTakenError: it is not a hand-in of this course.
    """
    if (folder / name).is_symlink():
        raise NotTakenError("it is a link: copy the file here")
    suffix = PurePosixPath(name).suffix.lower()
    if suffix not in {SUFFIX, NOTEBOOK}:
        raise NotTakenError(f"it is neither a hand-in ({SUFFIX}) nor a notebook ({NOTEBOOK}): put it elsewhere")
    try:
        data = read_file(folder, name, MAX_ZIP_BYTES if suffix == SUFFIX else None)
    except RefusedFileError as error:
        raise NotTakenError(f"{error}: look at what it is") from None
    if suffix == NOTEBOOK:
        lab, manifest = _lab_of(folder, name, released), None
        contents = {f"{lab}{NOTEBOOK}": data}
    else:
        manifest, contents = read_zip(data)
        lab = manifest.lab
    if lab not in released:
        raise NotTakenError(
            f"{ascii(lab)[1:-1][:100]} was not released in this course "
            f"(only {', '.join(released) or 'nothing'} was): "
            "release it with `coursekit course release`, or ask the student for the right lab"
        )
    return lab, contents, manifest


def _lab_of(folder: Path, name: str, released: Mapping[str, NotebookNode]) -> str:
    """Return the lab of a notebook, which may be called anything: what it was made from, else whose answers it has."""
    try:
        notebook = read_notebook(folder, name)
    except RefusedFileError as error:
        raise NotTakenError(f"the notebook is damaged, {error}: ask the student for it again") from None
    if made_from := notebook.made_from.split("/")[1:2]:
        return made_from[0]
    num_answers = {lab: len(find_answers(notebook, one).answers) for lab, one in released.items()}
    lab = max(num_answers, key=lambda lab: num_answers[lab], default="")
    if not num_answers.get(lab):
        raise NotTakenError("the notebook holds no answer of any lab of this course: ask the student for the right one")
    return lab
