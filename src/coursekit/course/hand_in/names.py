"""Names of files that students sent: where odd characters are refused, taken out, or allowed.

A zip of `coursekit hand-in` with an odd name in it is refused here. In other zips, such as a platform's download, what
leads elsewhere is taken out of a name. The name of the file itself may hold anything: it says whose the file is, see
`owner.py`. Of the files themselves `is_plain` in `grading/submission/students_files.py` decides, for all ways of a
hand-in.
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
# What browsers and mail programs add to a name, beside what a hand-in's own ends with.
ENDING = re.compile(r"(\.(ipynb|zip|json|txt|download)| ?\(\d+\))+$", re.IGNORECASE)
LITTER = ("__MACOSX", "Thumbs.db", "desktop.ini", MANIFEST)  # beside everything that begins with a dot
MAX_CHARACTERS = 500  # of a name in a zip


class NotImportedError(CourseKitError):
    """A file is not imported; the message says why, and what to do."""


def refuse_odd_name(name: str, lab: str) -> None:
    """Refuse a path in a packed hand-in that is neither the lab's notebook nor the record of a job."""
    record = re.fullmatch(RECORD, name)
    if name != f"{lab}{NOTEBOOK}" and not (record and is_plain(record["job"])):
        odd = ascii(name)[1:-1][:100]
        raise NotImportedError(f"it holds {odd}, which `coursekit hand-in` does not pack: {ASK}", "zip.odd-file")


def name_in_zip(entry: zipfile.ZipInfo) -> str:
    """Return a path in a zip, which names no place on this machine."""
    name = entry.filename
    if not entry.flag_bits & 0x800:  # nothing says that it is in UTF-8, as on a Mac it is all the same
        with suppress(UnicodeError):
            name = name.encode("cp437").decode()
    parts = (part for part in name.replace("\\", "/").split("/") if part not in {"", ".", ".."})
    return "/".join(parts)[-MAX_CHARACTERS:]


def is_litter(path: PurePath, released: Collection[str]) -> bool:
    """Whether nobody has to look at a file: programs left it behind, or it was released with a lab."""
    of_a_job = JOBS_FOLDER in path.parts[:-1] and path.suffix != NOTEBOOK
    return of_a_job or path.name in released or any(part.startswith(".") or part in LITTER for part in path.parts)
