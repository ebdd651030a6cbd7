"""Every version that a student handed in, kept untouched: `hand-ins/<lab>/<student>/<time>-<digest>/`."""

import hashlib
import json
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path

from coursekit.course.folder import Course
from coursekit.course.roster import folded
from coursekit.files import write_file
from coursekit.grading.submission.student_folder import TIMESTAMP, HandIn, classify, timestamp_text
from coursekit.grading.submission.students_files import RefusedFileError, list_folder, read_file
from coursekit.grading.verdict import Flag

GRADED = "graded.json"
NUM_DIGITS = 12


@dataclass(frozen=True)
class Version:
    """One version and what was known when it was kept.

    Attributes:
        folder: Where its files lie.
        received: Name of the folder in the exchange that it came in.
        timestamp: When it was handed in, UTC without an offset.
        refused: One sentence for each thing that was not copied, such as links.
        flags: What an instructor should look at.
        notes: One sentence for each thing to say of it where it is graded.
        number: Counts from the version that was kept first: of a folder that has changed, the last content counts.
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
        """The fingerprint of its files."""
        return self.folder.name.rpartition("-")[2]


@dataclass(frozen=True)
class Contents:
    """A student's folder as it was read.

    Attributes:
        files: Path within it to content, of plain files.
        refused: One sentence for each thing that was not read, such as links.
    """

    files: Mapping[str, bytes]
    refused: tuple[str, ...]

    def with_time(self, moment: datetime) -> "Contents":
        """Return the same with this time, if nbgrader's file with it is missing."""
        return replace(self, files={TIMESTAMP: timestamp_text(moment).encode(), **self.files})


@dataclass(frozen=True)
class Choice:
    """Which version is graded, when it was handed in, and what there is to say about that, and about what it lacks."""

    version: str = ""
    timestamp: str = ""
    notes: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()
    refused: tuple[str, ...] = ()


def read_contents(folder: Path) -> Contents:
    """Read a folder of a student.

    Raises:
        RefusedFileError: it is not a folder, or a file changes while it is read.
        OSError: it vanishes, or may not be read.
    """
    listing = list_folder(folder)
    return Contents({name: read_file(folder, name) for name in listing.files}, listing.refused)


def keep(  # noqa: PLR0913, PLR0917  # what is known of a version
    source: Contents,
    received: str,
    timestamp: datetime,
    flags: tuple[Flag, ...],
    into: Path,
    notes: tuple[str, ...] = (),
) -> Version:
    """Keep a version's plain files, with its time if that was lost; equal versions are kept once.

    `received` is the name where it came in, `into` is `hand-ins/<lab>/<student>`.
    """
    contents = source.with_time(timestamp).files
    name = f"{timestamp.isoformat(timespec='seconds').replace(':', '-')}-{digest(contents)}"
    number = 1 + max((one.number for one in read_versions(into) if one.folder.name != name), default=-1)
    version = Version(into / name, received, timestamp, source.refused, flags, notes, number)
    if not version.folder.is_dir():
        unfinished = into / f".{name}.tmp"
        shutil.rmtree(unfinished, ignore_errors=True)
        write_files(unfinished, contents)
        unfinished.rename(version.folder)
    record = {**asdict(version), "folder": name, "timestamp": timestamp.isoformat()}
    write_file(into / f"{name}.json", json.dumps(record, indent=1).encode())
    return version


def read_versions(folder: Path) -> tuple[Version, ...]:
    """Return all versions kept in `hand-ins/<lab>/<student>`, the oldest first."""
    records = [json.loads(path.read_bytes()) for path in folder.glob("*.json") if path.name != GRADED]
    versions = [
        Version(
            folder / record["folder"],
            record["received"],
            datetime.fromisoformat(record["timestamp"]),
            tuple(record["refused"]),
            tuple(Flag(**flag) for flag in record["flags"]),
            tuple(record.get("notes", ())),
            record.get("number", 0),
        )
        for record in records
    ]
    return tuple(sorted(versions, key=lambda version: (version.timestamp, version.number, version.folder.name)))


def install(version: Version, submitted: Path) -> bool:
    """Let `submitted/<student>/<lab>` hold this version; return whether it did not yet.

    What lay there must have been kept before.
    """
    files = [path for path in version.folder.rglob("*") if path.is_file()]
    contents = {path.relative_to(version.folder).as_posix(): path.read_bytes() for path in files}
    if submitted.is_dir() and folder_digest(submitted) == digest(contents):
        return False
    unfinished, former = (submitted.with_name(f".{submitted.name}.{kind}") for kind in ("new", "former"))
    for leftover in (unfinished, former):
        shutil.rmtree(leftover, ignore_errors=True)
    write_files(unfinished, contents)
    if submitted.exists() or submitted.is_symlink():
        submitted.rename(former)
    unfinished.rename(submitted)
    if former.is_symlink():
        former.unlink()
    shutil.rmtree(former, ignore_errors=True)
    return True


def folder_digest(folder: Path) -> str:
    """Return the fingerprint of the plain files in a folder of a student.

    Raises:
        RefusedFileError: it is not a folder, or a file changes while it is read.
    """
    return digest(read_contents(folder).files)


def digest(contents: Mapping[str, bytes]) -> str:
    """Return a short fingerprint of files."""
    parts = [f"{name} {hashlib.sha256(data).hexdigest()}" for name, data in sorted(contents.items())]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:NUM_DIGITS]


def write_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write files into a new folder of our own."""
    folder.mkdir(parents=True)
    for name, data in contents.items():
        write_file(folder / name, data)


def read_choice(folder: Path) -> Choice:
    """Return which version of those in `hand-ins/<lab>/<student>` is graded."""
    path = folder / GRADED
    if not path.is_file():
        return Choice()
    record = json.loads(path.read_bytes())
    flags = tuple(Flag(**flag) for flag in record["flags"])
    refused = tuple(record.get("refused", ()))
    return Choice(record["version"], record["timestamp"], tuple(record["notes"]), flags, refused)


def write_choice(folder: Path, choice: Choice) -> None:
    """Remember which version is graded."""
    data = json.dumps(asdict(choice), indent=1).encode()
    path = folder / GRADED
    if not path.is_file() or path.read_bytes() != data:
        write_file(path, data)


def find_hand_ins(course: Course, labs: Iterable[str], students: Collection[str] = ()) -> tuple[HandIn, ...]:
    """Return the hand-ins of these labs, of these students or of all, sorted by student and lab."""
    wanted = set(map(folded, students))
    names = sorted(path.name for path in (course.folder / "submitted").glob("[!.]*") if path.is_dir())
    pairs = [(name, lab) for name in names for lab in labs if not wanted or folded(name) in wanted]
    return tuple(read_hand_in(course, lab, name) for name, lab in pairs if course.submitted(lab, name).is_dir())


def look_at(course: Course, lab: str, student: str, folder: Path, refused: Sequence[str]) -> HandIn:
    """Return what a folder holds, a version that was kept or what nbgrader grades; `refused` as for `classify`."""
    copies, released, public = course.settings.worked_copies, course.released(lab), course.public(lab)
    return classify(folder, student, lab, released, public, refused, worked_copies=copies)


def read_hand_in(course: Course, lab: str, student: str) -> HandIn:
    """Return a student's hand-in from `submitted/`, with the notes and flags of collecting."""
    submitted, choice = course.submitted(lab, student), read_choice(course.hand_ins(lab, student))
    try:
        collected = choice.version.endswith(f"-{folder_digest(submitted)}")
    except RefusedFileError:
        collected = False
    hand_in = look_at(course, lab, student, submitted, choice.refused if collected else ())
    if not collected:  # nbgrader's own collect put something else there
        return hand_in
    return replace(
        hand_in,
        timestamp=datetime.fromisoformat(choice.timestamp),
        notes=(*choice.notes, *hand_in.notes),
        flags=(*choice.flags, *hand_in.flags),
    )
