"""Decide which odd file names in students' hand-ins are refused, changed or allowed.

This module refuses a zip from `coursekit hand-in` if any file in it has a name that the command would not give it. In
other zips, such as a platform's download, it removes the parts of names that lead outside the zip's own folder. The
name of the sent file itself may contain anything, because it identifies the student (see `owner.py`). `is_plain` in
`grading/submission/students_files.py` decides which names are accepted within a hand-in, however the hand-in arrives.
"""

import re
import zipfile
from collections.abc import Collection
from contextlib import suppress
from pathlib import PurePath

from coursekit.errors import CourseKitError
from coursekit.grading.submission.student_folder import MANIFEST, NOTEBOOK
from coursekit.grading.submission.students_files import is_plain
from coursekit.labs.run.jobs_folder import JOBS_FOLDER, RECORD

ASK = "ask the student for a new one, made by `coursekit hand-in`"
# What browsers and mail programs add to a file's name, and the endings of the names of hand-ins.
ENDING = re.compile(r"(\.(ipynb|zip|json|txt|download)| ?\(\d+\))+$", re.IGNORECASE)
LITTER = ("__MACOSX", "Thumbs.db", "desktop.ini", MANIFEST)  # and all names that begin with a dot
MAX_CHARACTERS = 500  # of a name in a zip


class NotImportedError(CourseKitError):
    """A file was not imported; the message says why, and what to do."""


def refuse_odd_name(name: str, lab: str) -> None:
    """Raise an error if a path in a packed hand-in is neither the lab's notebook nor the record of a job."""
    record = re.fullmatch(RECORD, name)
    if name != f"{lab}{NOTEBOOK}" and not (record and is_plain(record["job"])):
        odd = ascii(name)[1:-1][:100]
        raise NotImportedError(f"it contains {odd}, which `coursekit hand-in` does not pack: {ASK}", "zip.odd-file")


def name_in_zip(entry: zipfile.ZipInfo) -> str:
    """Return the path of a file in a zip, without the parts that could lead out of the folder where it is unpacked."""
    name = entry.filename
    if not entry.flag_bits & 0x800:  # not marked as UTF-8, although names from a Mac are UTF-8
        with suppress(UnicodeError):
            name = name.encode("cp437").decode()
    parts = (part for part in name.replace("\\", "/").split("/") if part not in {"", ".", ".."})
    return "/".join(parts)[-MAX_CHARACTERS:]


def is_litter(path: PurePath, released: Collection[str]) -> bool:
    """Return whether a file can be ignored: a program left it behind, a job wrote it, or it was released with a lab."""
    of_a_job = JOBS_FOLDER in path.parts[:-1] and path.suffix != NOTEBOOK
    return of_a_job or path.name in released or any(part.startswith(".") or part in LITTER for part in path.parts)
