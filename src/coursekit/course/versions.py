"""Keep every version that a student handed in, unchanged, in `hand-ins/<lab>/<student>/<time>-<digest>/`."""

import hashlib
import json
import shutil
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path

from coursekit.course.folder import Course
from coursekit.course.roster import username_key
from coursekit.files import write_file
from coursekit.grading.submission.cells import Cells
from coursekit.grading.submission.student_folder import TIMESTAMP, Submission, timestamp_text, to_submission
from coursekit.grading.submission.students_files import Contents, RefusedFileError, Unchanged, read_contents
from coursekit.grading.verdict import Flag

GRADED = "graded.json"
NUM_DIGITS = 12
_marks, _submissions = Unchanged[str](), Unchanged[Submission]()


@dataclass(frozen=True)
class Version:
    """One version of a student's hand-in, and what was known about it when it was kept.

    The version that is graded also holds what was reported when it was collected.

    Attributes:
        folder: Where the version's files are.
        received: How the version arrived; for example, the name of its folder in the exchange.
        timestamp: When the version was handed in, in UTC without an offset.
        refused: One sentence for each thing that was not copied, such as a link.
        flags: Things that an instructor should look at.
        notes: One sentence for each thing to report if this version is graded.
        number: The version's position in the order in which versions were kept; if a folder changed, its version with
            the highest number counts.
    """

    folder: Path
    received: str
    timestamp: datetime
    refused: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()
    notes: tuple[str, ...] = ()
    number: int = 0

    @property
    def mark(self) -> str:
        """The fingerprint of the version's files."""
        return self.folder.name.rpartition("-")[2]


def keep(  # noqa: PLR0913, PLR0917  # what is known about a version
    source: Contents,
    received: str,
    timestamp: datetime,
    flags: tuple[Flag, ...],
    into: Path,
    notes: tuple[str, ...] = (),
) -> Version:
    """Store a version's plain files and return the version; a version with the same files and time is stored only once.

    If nbgrader's file with the time is missing, it is added. `received` says how the version arrived, as in `Version`;
    `into` is `hand-ins/<lab>/<student>`.
    """
    contents = with_time(source, timestamp).files
    name = f"{timestamp.isoformat(timespec='seconds').replace(':', '-')}-{digest(contents)}"
    number = 1 + max((one.number for one in read_versions(into) if one.folder.name != name), default=-1)
    version = Version(into / name, received, timestamp, source.refused, flags, notes, number)
    if not version.folder.is_dir():
        unfinished = into / f".{name}.tmp"
        shutil.rmtree(unfinished, ignore_errors=True)
        write_files(unfinished, contents)
        unfinished.rename(version.folder)
    write_file(into / f"{name}.json", _to_bytes(version))
    return version


def with_time(contents: Contents, moment: datetime) -> Contents:
    """Return the same files; if nbgrader's file with the time is missing, add it with the time `moment`."""
    return replace(contents, files={TIMESTAMP: timestamp_text(moment).encode(), **contents.files})


def _to_bytes(version: Version) -> bytes:
    record = {**asdict(version), "folder": version.folder.name, "timestamp": version.timestamp.isoformat()}
    return json.dumps(record, indent=1).encode()


def _read(path: Path) -> Version:
    record = json.loads(path.read_bytes())
    return Version(
        path.parent / (record.get("folder") or record["version"]),  # earlier releases wrote this key into `GRADED`
        record.get("received", ""),
        datetime.fromisoformat(record["timestamp"]),
        tuple(record.get("refused", ())),
        tuple(Flag(**flag) for flag in record["flags"]),
        tuple(record.get("notes", ())),
        record.get("number", 0),
    )


def read_versions(folder: Path) -> tuple[Version, ...]:
    """Return all versions kept in `hand-ins/<lab>/<student>`, the oldest first."""
    versions = [_read(path) for path in folder.glob("*.json") if path.name != GRADED]
    return tuple(sorted(versions, key=lambda version: (version.timestamp, version.number, version.folder.name)))


def install(version: Version, submitted: Path) -> bool:
    """Copy this version to `submitted/<student>/<lab>`; return False if that folder already has the same files.

    The folder is replaced, so its former content must already have been kept.
    """
    if submitted.is_dir() and mark_of(submitted) == version.mark:
        return False
    unfinished, former = (submitted.with_name(f".{submitted.name}.{kind}") for kind in ("new", "former"))
    for leftover in (unfinished, former):
        shutil.rmtree(leftover, ignore_errors=True)
    files = [path for path in version.folder.rglob("*") if path.is_file()]
    write_files(unfinished, {path.relative_to(version.folder).as_posix(): path.read_bytes() for path in files})
    if submitted.exists() or submitted.is_symlink():
        submitted.rename(former)
    unfinished.rename(submitted)
    if former.is_symlink():
        former.unlink()
    shutil.rmtree(former, ignore_errors=True)
    return True


def mark_of(folder: Path) -> str:
    """Return the fingerprint of the plain files in a student's folder, computed as for a version.

    Raises:
        RefusedFileError: the path is not a folder, or a file in it changes while it is read.
    """
    return _marks.get(folder, lambda: digest(read_contents(folder).files))


def digest(contents: Mapping[str, bytes]) -> str:
    """Return a short fingerprint of files, which are given as a mapping from names to contents."""
    parts = [f"{name} {hashlib.sha256(data).hexdigest()}" for name, data in sorted(contents.items())]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:NUM_DIGITS]


def write_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Create a folder and write files into it; `contents` maps their names to their contents."""
    folder.mkdir(parents=True)
    for name, data in contents.items():
        write_file(folder / name, data)


def read_choice(folder: Path) -> Version | None:
    """Return the version in `hand-ins/<lab>/<student>` that was chosen for grading; None if nothing was collected."""
    path = folder / GRADED
    return _read(path) if path.is_file() else None


def write_choice(folder: Path, version: Version) -> None:
    """Record in `hand-ins/<lab>/<student>` that this version was chosen for grading."""
    path, data = folder / GRADED, _to_bytes(version)
    if not path.is_file() or path.read_bytes() != data:
        write_file(path, data)


def find_submissions(
    course: Course, labs: Iterable[str], students: Collection[str] = (), known: Iterable[Submission] = ()
) -> tuple[Submission, ...]:
    """Return all submissions for these labs, sorted by student; submissions in `known` are not read again.

    If `students` is not empty, only the submissions from these students are returned.
    """
    read = {(one.student, one.lab): one for one in known}
    wanted = set(map(username_key, students))
    names = sorted(path.name for path in (course.folder / "submitted").glob("[!.]*") if path.is_dir())
    pairs = [(name, lab) for name in names for lab in labs if not wanted or username_key(name) in wanted]
    there = [(name, lab) for name, lab in pairs if course.submitted(lab, name).is_dir()]
    return tuple(read.get((name, lab)) or read_submission(course, lab, name) for name, lab in there)


def look_at(course: Course, lab: str, student: str, folder: Path, version: Version | None) -> Submission:
    """Return the submission in a folder, which is either a kept version or the folder that nbgrader grades.

    The folder is read again only if it has changed. If it holds the files of `version`, the result also names the files
    that collecting did not copy.
    """
    copies, released, public = course.settings.worked_copies, course.released(lab), course.public(lab)

    def read() -> Submission:
        contents = read_contents(folder)
        mark = digest(contents.files)
        refused = version.refused if version and version.mark == mark else ()
        found = to_submission(contents, student, lab, released, public, refused, worked_copies=copies)
        # `--watch` looks at every kept version, but only the graded version needs its cells and their pictures.
        is_kept = version is not None and version.folder == folder
        return replace(found, mark=mark, cells=Cells() if is_kept else found.cells)

    try:
        return _submissions.get(folder, read, version, copies, released, public)
    except RefusedFileError as error:
        return Submission(student, lab, flags=(Flag("files", f"The folder {folder.name} is ignored: {error}."),))


def read_submission(course: Course, lab: str, student: str) -> Submission:
    """Return a student's submission from `submitted/`, with the notes and flags from collecting."""
    choice = read_choice(course.hand_ins(lab, student))
    found = look_at(course, lab, student, course.submitted(lab, student), choice)
    if not choice or choice.mark != found.mark:  # nbgrader's own collect command put something else there
        return found
    notes, flags = (*choice.notes, *found.notes), (*choice.flags, *found.flags)
    return replace(found, timestamp=choice.timestamp, notes=notes, flags=flags)
