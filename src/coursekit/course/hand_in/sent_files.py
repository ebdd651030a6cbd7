"""Read the files that students sent, in a folder and in its zips, and find the lab to which each hand-in belongs."""

import zipfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path, PurePosixPath
from zoneinfo import ZoneInfo

from nbformat import NotebookNode

from coursekit.course.hand_in.names import ASK, ENDING, NotImportedError, is_litter, name_in_zip
from coursekit.course.hand_in.unpack import (
    MAX_NUM_FILES,
    SUFFIX,
    HandInManifest,
    is_of_others,
    read_entries,
    read_zip,
)
from coursekit.course.late_penalty import to_utc
from coursekit.grading.submission.cells import find_answers
from coursekit.grading.submission.student_folder import NOTEBOOK
from coursekit.grading.submission.students_files import (
    MAX_FOLDER_BYTES,
    RefusedFileError,
    parse_notebook,
    read_file,
)
from coursekit.labs.notebook import MAX_NOTEBOOK_BYTES, DamagedNotebookError
from coursekit.times import utc

MAX_ZIP_BYTES = MAX_FOLDER_BYTES + 1_000_000  # incompressible data grows a little
# Limits on the number and size of files: for the zip of a class, and for a zip inside it, perhaps one student's.
BOUNDS = ((5000, 10 * MAX_FOLDER_BYTES), (MAX_NUM_FILES, MAX_FOLDER_BYTES))
UNPACK = "unpack it, and take the folder that results"
NO_TIME = datetime(1980, 1, 1)  # noqa: DTZ001  # the earliest time that a zip can store


@dataclass(frozen=True)
class SentFile:
    """A file that a student sent.

    Attributes:
        name: The file's path within the instructor's folder; a zip counts as a folder.
        written: When the file last changed, in UTC without an offset.
        data: The file's content.
        fault: The reason why the content was not read, with what to do; None if it was read.
    """

    name: str
    written: datetime
    data: bytes = b""
    fault: NotImportedError | None = None

    @property
    def ending(self) -> str:
        """All endings of the file's name, in lower case, such as `.ipynb.txt`."""
        found = ENDING.search(self.name)
        return found[0].lower() if found else ""


def find_sent_files(
    source: Path, earliest: datetime, released: Collection[str], zone: ZoneInfo | None
) -> Iterator[SentFile]:
    """Yield the file `source`, or the files below that folder and in its zips, the oldest first.

    The order matters because, of equal files, the oldest counts. Times before `earliest` cannot be true, so files with
    such times come last. The function skips files that programs leave behind, all files of jobs except notebooks, and
    files whose names are in `released`.
    """
    folder = source if source.is_dir() else source.parent
    files = [path for path in (source, *source.rglob("*")) if path.is_symlink() or path.is_file()]
    found = [(utc(path.lstat().st_mtime), path.relative_to(folder)) for path in files]
    for written, path in sorted(found, key=lambda one: (one[0] < earliest, *one)):
        if not is_litter(path, released):
            yield from _opened(read_from(folder, path.as_posix(), written), released, zone)


def read_from(folder: Path, name: str, written: datetime) -> SentFile:
    """Read one file below the instructor's folder."""
    sent = SentFile(name, written)
    if (folder / name).is_symlink():
        return replace(sent, fault=NotImportedError("it is a link: copy the file here", "file.link"))
    is_zip = SUFFIX in sent.ending
    try:
        return replace(sent, data=read_file(folder, name, MAX_ZIP_BYTES if is_zip else MAX_NOTEBOOK_BYTES))
    except RefusedFileError as error:
        return replace(
            sent, fault=NotImportedError(f"{error}: {UNPACK if is_zip else 'check what it is'}", "file.not-readable")
        )


def _opened(sent: SentFile, released: Collection[str], zone: ZoneInfo | None, depth: int = 0) -> Iterator[SentFile]:
    """Yield a file as it is or, if it is a zip that is not itself a hand-in, yield the files in it."""
    if SUFFIX not in sent.ending or not is_of_others(sent.data):
        yield sent
        return
    try:
        yield from _inside(sent, released, zone, depth)
    except NotImportedError as error:
        yield replace(sent, data=b"", fault=error)


def _inside(sent: SentFile, released: Collection[str], zone: ZoneInfo | None, depth: int) -> Iterator[SentFile]:
    if depth == len(BOUNDS):
        raise NotImportedError(f"it is a zip in a zip in a zip: {ASK}", "zip.too-deep")
    is_empty = True
    for entry, content in read_entries(sent.data, *BOUNDS[depth], UNPACK):
        name = name_in_zip(entry)
        if not is_litter(PurePosixPath(name), released):
            is_empty = False
            inside = SentFile(f"{sent.name}/{name}", _time_of(entry, zone), content)
            yield from _opened(inside, released, zone, depth + 1)
    if is_empty:
        raise NotImportedError(f"it contains nothing to take: {ASK}", "zip.empty")


def _time_of(entry: zipfile.ZipInfo, zone: ZoneInfo | None) -> datetime:
    """Return when a file in a zip last changed, in UTC without an offset; a zip stores this as local time."""
    try:
        return to_utc(datetime(*entry.date_time), zone)  # noqa: DTZ001  # as clocks show it
    except (ValueError, OverflowError, OSError):
        return NO_TIME


def read_sent_file(
    sent: SentFile, released: Mapping[str, NotebookNode]
) -> tuple[str, dict[str, bytes], HandInManifest | None]:
    """Return the hand-in that a file contains; `released` maps each released lab to its notebook.

    Returns:
        The lab, the content of each file by its path in the hand-in, and the manifest (None for a plain notebook).

    Raises:
        NotImportedError: the file is not a hand-in of this course.
    """
    if sent.fault:
        raise sent.fault
    manifest: HandInManifest | None = None
    if SUFFIX in sent.ending or (sent.data.startswith(b"PK") and not is_of_others(sent.data)):
        manifest, contents = read_zip(sent.data)
        lab = manifest.lab
    else:
        lab = _lab_of(sent, released)
        contents = {f"{lab}{NOTEBOOK}": sent.data}
    if lab not in released:
        raise NotImportedError(
            f"{ascii(lab)[1:-1][:100]} was not released in this course "
            f"(released: {', '.join(released) or 'nothing'}): "
            "release it with `coursekit course release`, or ask the student for the right lab",
            "lab.not-released",
        )
    return lab, contents, manifest


def _lab_of(sent: SentFile, released: Mapping[str, NotebookNode]) -> str:
    """Return the lab to which a notebook belongs, whatever the notebook's name.

    This is the lab named in the notebook's metadata or, if none is named, the lab to which it holds the most answers.
    """
    try:
        notebook = parse_notebook(sent.data)
    except DamagedNotebookError as error:
        if NOTEBOOK in sent.ending:
            raise NotImportedError(
                f"the notebook is damaged, {error}: ask the student for it again", "notebook.damaged"
            ) from None
        raise NotImportedError(
            f"it is neither a hand-in ({SUFFIX}) nor a notebook ({NOTEBOOK}): "
            "ask the student for the file that `coursekit hand-in` makes, or for the notebook",
            "file.no-hand-in",
        ) from None
    if made_from := notebook.made_from.split("/")[1:2]:
        return made_from[0]
    num_answers = {lab: len(find_answers(notebook, one).answers) for lab, one in released.items()}
    lab = max(num_answers, key=lambda lab: num_answers[lab], default="")
    if not num_answers.get(lab):
        raise NotImportedError(
            "the notebook contains no answer to any lab of this course: ask the student for the right one",
            "notebook.no-answer",
        )
    return lab
