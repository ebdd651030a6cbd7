"""Pack a student's notebook and the records of its newest jobs into one file, using only the standard library."""

import io
import os
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import count
from operator import itemgetter
from pathlib import Path
from typing import Any

from coursekit.course.hand_in.unpack import SUFFIX, HandInManifest
from coursekit.errors import CourseKitError
from coursekit.files import write_file
from coursekit.grading.submission.job_records import JobRecord, read_records
from coursekit.grading.submission.student_folder import MANIFEST, NOTEBOOK
from coursekit.grading.submission.students_files import RefusedFileError, is_plain, read_file
from coursekit.labs.build.regions import CODE_STUB, TEXT_STUB
from coursekit.labs.cells import cell_name
from coursekit.labs.lab import NAME, matching
from coursekit.labs.run.jobs_folder import JOBS_FOLDER, RESULT
from coursekit.labs.students_notebook import lab_of, load, restore
from coursekit.paths import ROOT_VARIABLE
from coursekit.solution_snippet import checks_of_pieces

NUM_JOBS = 3
START_OF_ZIP_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class StudentWork:
    """The work that a student hands in.

    Attributes:
        notebook: Where the notebook is.
        num_answers: Number of exercises in the lab.
        missing: Names of exercises that still hold the stub.
        taken: Names of exercises that hold a piece of the solution, which earns no points.
        jobs: Records of the newest jobs, the newest first.
        contents: The content of each file, keyed by its path within the packed file.
    """

    lab: str
    notebook: Path
    num_answers: int
    missing: Sequence[str]
    taken: Sequence[str]
    jobs: Sequence[JobRecord]
    contents: Mapping[str, bytes]


def find_work(named: str, start: Path) -> StudentWork:
    """Find a student's notebook for a lab and its job records, searching from the folder `start`.

    `named` is the lab's name, the beginning of its name, or the path of a notebook.

    Raises:
        CourseKitError: there is no such notebook, or it cannot be handed in.
    """
    path = _find_notebook(named, start)
    lab, answers, content = _read(path)
    missing = [cell_name(cell) for cell in answers if CODE_STUB in cell["source"] or TEXT_STUB in cell["source"]]
    taken = [cell_name(cell) for cell in answers if checks_of_pieces(cell["source"])]
    contents = {f"{lab}{NOTEBOOK}": content}
    jobs = _newest_jobs(lab, path, start)
    contents |= {name: content for _, name, content in jobs}
    return StudentWork(lab, path, len(answers), missing, taken, [record for record, *_ in jobs], contents)


def pack(work: StudentWork, user: str, folder: Path, now: datetime | None = None) -> Path:
    """Write the work that `find_work` found into one file to hand in, under an unused name, and return the file's path.

    `now` is the time stated in the file, in UTC without an offset; by default, it is the time of the call.

    Raises:
        CourseKitError: the folder cannot be written.
    """
    now = now or datetime.now(timezone.utc).replace(tzinfo=None)
    manifest = HandInManifest(work.lab, user, now)
    clock = max(now.replace(tzinfo=timezone.utc).astimezone().timetuple()[:6], START_OF_ZIP_TIME)
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in {MANIFEST: manifest.to_bytes(), **work.contents}.items():
            packed.writestr(zipfile.ZipInfo(name, clock), content, zipfile.ZIP_DEFLATED)
    names = (manifest.file_name + (SUFFIX if i == 1 else f"-{i}{SUFFIX}") for i in count(1))
    path = next(folder / name for name in names if not (folder / name).exists())
    try:
        write_file(path, data.getvalue(), mode=None)
    except OSError as error:
        raise CourseKitError(
            f"{folder} cannot be written ({error.strerror}): "
            "change to one of your own folders, and give the notebook's path.",
            "folder.not-writable",
        ) from None
    return path


def _find_notebook(named: str, start: Path) -> Path:
    if named.endswith(NOTEBOOK) or os.sep in named:
        path = start / named
        inner = path / f"{path.name}{NOTEBOOK}"
        return (inner if path.is_dir() else path).resolve()
    # A student's copy has no solutions/ folder, so `find_root` would not recognise it as a checkout.
    root = os.environ.get(ROOT_VARIABLE)
    checkouts = [*([Path(root)] if root else []), start, *start.parents]
    places = [(start, ""), (start, "*/"), *((folder, "labs/*/") for folder in checkouts)]
    found = [path for folder, inner in places for path in _notebooks(folder, inner)]
    labs = matching(sorted({path.stem for path in found}), named)
    if len(labs) > 1:
        raise CourseKitError(f"{named!r} fits several labs ({', '.join(labs)}): name one.", "lab.ambiguous")
    if not labs:
        raise CourseKitError(
            f"there is no notebook of a lab {named!r} in {start}, in a folder of that name there, or in labs/: "
            "change to the folder with your notebook, or give its path instead of the lab.",
            "notebook.not-found",
        )
    return next(path.resolve() for path in found if path.stem == labs[0])


def _notebooks(folder: Path, inner: str) -> list[Path]:
    pattern = f"{inner}[0-9][0-9]-*{NOTEBOOK}"
    paths = [path for path in sorted(folder.glob(pattern)) if NAME.fullmatch(path.stem) and path.is_file()]
    return [path for path in paths if not inner or path.parent.name == path.stem]


def _read(path: Path) -> tuple[str, list[Mapping[str, Any]], bytes]:
    """Return the notebook's lab, its answers, and the content of its file."""
    if not path.is_file():
        raise CourseKitError(
            f"{path} is not a notebook: give the path of your notebook, which ends in {NOTEBOOK}.", "notebook.no-file"
        )
    notebook, content = load(path)
    by_name = path.stem if NAME.fullmatch(path.stem) else ""
    lab = made_from if NAME.fullmatch(made_from := lab_of(notebook)) else by_name
    if lab and not any(map(_is_answer, notebook["cells"])):
        restore(notebook, path, lab)
    answers = [*filter(_is_answer, notebook["cells"])]
    if not answers:
        raise CourseKitError(
            f"{path} contains no exercise of the course: hand in the notebook that the course gave you.",
            "notebook.no-exercise",
        )
    if by_name and by_name != lab:
        raise CourseKitError(
            f"{path} is the notebook of another lab ({lab}): put your notebook for {by_name} there.",
            "notebook.wrong-lab",
        )
    return lab, answers, content


def _is_answer(cell: Mapping[str, Any]) -> bool:
    return cell["metadata"].get("nbgrader", {}).get("solution") is True


def _newest_jobs(lab: str, notebook: Path, start: Path) -> list[tuple[JobRecord, str, bytes]]:
    """Return the newest job records for this lab, newest first, each with its path within the packed file and its text.

    The folder `jobs/` may be in `start`, in the notebook's folder, or at the top of the checkout that contains it.
    """
    places = dict.fromkeys([start.resolve(), *notebook.parents[:3]])
    files = [file for place in places for file in (place / JOBS_FOLDER).glob(f"*/{RESULT}")]
    found = []
    for file in filter(lambda file: is_plain(file.parent.name), files):
        name = f"{JOBS_FOLDER}/{file.parent.name}/{RESULT}"
        with suppress(RefusedFileError):
            content = read_file(file.parents[2], name)
            changed_s = file.stat().st_mtime
            found += [
                (record.started, changed_s, record, name, content) for record in read_records({name: content}, lab)
            ]
    newest: dict[str, tuple[JobRecord, str, bytes]] = {}
    for *_, record, name, content in sorted(found, key=itemgetter(0, 1), reverse=True):
        newest.setdefault(name, (record, name, content))
    return list(newest.values())[:NUM_JOBS]
