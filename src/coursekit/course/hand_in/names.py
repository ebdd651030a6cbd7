"""Names of files that students sent: when odd characters are refused, removed or allowed.

A zip from `coursekit hand-in` with an odd name in it is refused here. In other zips, such as a platform's download,
parts of a name that lead elsewhere are removed. The name of the sent file itself may contain anything, because it
identifies the student (see `owner.py`). `is_plain` in `grading/submission/students_files.py` decides which names are
accepted within a hand-in, however the hand-in arrives.
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
# What browsers and mail programs add to a name, and the endings of a hand-in's own name.
ENDING = re.compile(r"(\.(ipynb|zip|json|txt|download)| ?\(\d+\))+$", re.IGNORECASE)
LITTER = ("__MACOSX", "Thumbs.db", "desktop.ini", MANIFEST)  # and everything that begins with a dot
MAX_CHARACTERS = 500  # of a name in a zip


class NotImportedError(CourseKitError):
    """A file is not imported; the message says why, and what to do."""


def refuse_odd_name(name: str, lab: str) -> None:
    """Refuse a path in a packed hand-in that is neither the lab's notebook nor the record of a job."""
    record = re.fullmatch(RECORD, name)
    if name != f"{lab}{NOTEBOOK}" and not (record and is_plain(record["job"])):
        odd = ascii(name)[1:-1][:100]
        raise NotImportedError(f"it contains {odd}, which `coursekit hand-in` does not pack: {ASK}", "zip.odd-file")


def name_in_zip(entry: zipfile.ZipInfo) -> str:
    """Return the path of a file in a zip, without parts that lead elsewhere on this machine."""
    name = entry.filename
    if not entry.flag_bits & 0x800:  # not marked as UTF-8, although names from a Mac are UTF-8
        with suppress(UnicodeError):
            name = name.encode("cp437").decode()
    parts = (part for part in name.replace("\\", "/").split("/") if part not in {"", ".", ".."})
    return "/".join(parts)[-MAX_CHARACTERS:]


def is_litter(path: PurePath, released: Collection[str]) -> bool:
    """Return whether a file can be ignored, because a program left it behind or because it was released with a lab."""
    of_a_job = JOBS_FOLDER in path.parts[:-1] and path.suffix != NOTEBOOK
    return of_a_job or path.name in released or any(part.startswith(".") or part in LITTER for part in path.parts)
