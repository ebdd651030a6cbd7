"""Find out, for each folder in the exchange, who handed it in and when, and whether it has arrived completely.

nbgrader copies a hand-in file by file, and writes the file with the time and the file with the secret last. Other
programs may write the files in another order. A folder counts as arrived if it has both of these files and a complete
notebook; any other folder counts as arrived once it has stopped changing. If a folder changes later, its new content
becomes another version. Changes are found by comparing contents, so finding them does not depend on clocks or file
systems.
"""

from __future__ import annotations

import json
import pwd
import re
import time
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from coursekit.course.folder import Course
from coursekit.course.late_penalty import late_s
from coursekit.course.roster import username_key
from coursekit.course.versions import digest, keep, read_versions, with_time
from coursekit.errors import CourseKitError
from coursekit.files import write_file
from coursekit.grading.submission.student_folder import (
    ID,
    NOTEBOOK,
    SECRET,
    TIMESTAMP,
    parse_moment,
    read_timestamp,
)
from coursekit.grading.submission.students_files import (
    Contents,
    RefusedFileError,
    Stamp,
    is_old,
    read_contents,
    stamp_of,
)
from coursekit.grading.verdict import Flag
from coursekit.labs.notebook import DamagedNotebookError, parse
from coursekit.times import shown, utc

# nbgrader's submit names a folder <student>+<lab>+<time>+<random>.
INBOUND = re.compile(r"(?P<student>.+)\+(?P<lab>[^+]+)\+(?P<time>\d{4}-[^+]+?)(\+(?P<random>[^+]*))?")
UNFINISHED = ".arriving.json"
STILL = "still arriving"
# How long a folder must stay unchanged, by this machine's clock: as long as `grade --watch` waits between two looks or,
# if only little can be missing, for a time shorter than `PAUSE_S`, which is the pause between the two looks of one
# call.
QUIET_S, SHORTLY_S, PAUSE_S = 20.0, 1.0, 1.5
LONG_AGO_S = 300  # a folder whose newest file is older than this has arrived; file times may come from another clock
_kept: dict[Path, Stamp] = {}  # folders whose present state is kept, so that `grade --watch` does not read them again


def find_arrivals(course: Course, lab: str, canonical: Callable[[str], str]) -> tuple[dict[str, list[Path]], list[str]]:
    """Return each student's folders for this lab in the exchange, and a message for each folder that is not a hand-in.

    `canonical` returns a student's id as the course spells it.
    """
    if faults := [fault for fault in course.faults_of_exchange() if fault.code == "exchange.other-owner"]:
        raise CourseKitError(
            f"{faults[0].words}: this course did not release what is there; look for the course's own folder, "
            "which another account may have moved, and put it back.",
            faults[0].code,
        )
    course.require_exchange()
    arrived: dict[str, list[Path]] = {}
    strays = []
    for path in sorted(course.inbound.iterdir()):
        found = INBOUND.fullmatch(unicodedata.normalize("NFC", path.name))
        if not found or not ID.fullmatch(found["student"]):
            strays.append(f"{ascii(path.name)[1:-1][:100]} in the exchange is not a hand-in: it was left there")
        elif not (course.root / "solutions" / found["lab"]).is_dir():
            strays.append(f"{found['student']} handed in {found['lab']!a}, which is not a lab: it was left there")
        elif found["lab"] == lab:
            arrived.setdefault(canonical(found["student"]), []).append(path)
    return arrived, strays


def take_arrivals(
    course: Course, lab: str, arrived: Mapping[str, Sequence[Path]], due: Mapping[str, datetime | None]
) -> list[str]:
    """Keep each folder that has arrived as a version, and return messages about the folders that were not collected.

    One message names all students whose folders are still arriving; every folder that cannot be read gets its own
    message. The function looks twice, so that it also takes folders that become complete a moment after the first look.
    """
    arriving = _Arriving(course.folder / "hand-ins" / lab / UNFINISHED)
    owners = {path: student for student, paths in arrived.items() for path in paths}
    said: dict[Path, str] = {}
    left = [*owners]
    for pause_s in (0.0, PAUSE_S):
        time.sleep(pause_s if left else 0.0)
        said |= {path: _take(course, lab, owners[path], path, due[owners[path]], arriving) for path in left}
        left = [path for path in left if said[path] == STILL]
    whose = {path.name: owners[path] for path in left}
    arriving.save(whose)
    sentences = [f"{owners[path]}, {lab}: not collected, {why}" for path, why in said.items() if why not in {"", STILL}]
    if whose:
        again = "collect again in half a minute to take them as they are then"
        sentences.append(f"{STILL}: {', '.join(sorted({*whose.values()}))}; {again}")
    return sentences


class _Arriving:
    """Remembers in a file, from call to call, how long each folder that is still arriving has been unchanged."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._since: dict[str, tuple[str, float]] = json.loads(path.read_bytes()) if path.is_file() else {}

    def unchanged_s(self, name: str, mark: str) -> float:
        """Return for how many seconds a folder has had this content; 0 if the content is new or the clock was set back.

        `name` is the name of the folder, and `mark` is the digest of its files.
        """
        now = time.time()
        known, since = self._since.get(name, (mark, now))
        since = since if known == mark and since <= now else now
        self._since[name] = (mark, since)
        return now - since

    def save(self, names: Collection[str]) -> None:
        """Save how long the folders with these names have been unchanged, and forget all other folders."""
        if names:
            write_file(self._path, json.dumps({name: self._since[name] for name in names}).encode())
        else:
            self._path.unlink(missing_ok=True)


@dataclass(frozen=True)
class _Folder:
    """A folder of the exchange as it was read; each of its two times is the newest in the folder."""

    path: Path
    contents: Contents
    modified_s: float  # of the last modification; a copied file may keep its original's time
    changed: datetime  # of the last change in the file system, which nobody can set

    @classmethod
    def read(cls, path: Path) -> _Folder:
        contents = read_contents(path)
        files = [path / name for name in contents.files]
        stats = [place.lstat() for place in {path, *files, *(file.parent for file in files)}]
        return cls(path, contents, max(one.st_mtime for one in stats), utc(max(one.st_ctime for one in stats)))

    @property
    def claimed(self) -> datetime | None:
        """When the folder was handed in, according to its name."""
        found = INBOUND.fullmatch(self.path.name)
        return parse_moment(found["time"]) if found else None


def _take(  # noqa: PLR0913, PLR0917  # all that is known about a folder
    course: Course, lab: str, student: str, path: Path, due: datetime | None, arriving: _Arriving
) -> str:
    """Keep a folder as a version if it has arrived and its content is new; return why it was not collected.

    The result is `STILL` if the folder is still arriving, and '' if its content has been kept, by this call or an
    earlier one.
    """
    try:
        stamp = stamp_of(path)
        if stamp == _kept.get(path) and course.hand_ins(lab, student).is_dir():
            return ""
        folder = _Folder.read(path)
    except OSError as error:  # it has gone, or nbgrader has not yet made it readable
        return f"it cannot be read ({error.strerror}): the next call tries again"
    except RefusedFileError as error:
        return f"{error}"
    into, files = course.hand_ins(lab, student), folder.contents.files
    there = {TIMESTAMP: read_timestamp(files) is not None, SECRET: bool(files.get(SECRET))}
    missing = [name for name, is_there in there.items() if not is_there]
    contents = with_time(folder.contents, folder.claimed or folder.changed)
    mark, versions = digest(contents.files), read_versions(into)
    own = [version for version in versions if version.received == path.name]
    same = max(own, key=lambda version: version.number).mark if own else ""
    if mark == same or (not own and mark in {version.mark for version in versions}):
        if is_old(stamp):
            _kept[path] = stamp
        return ""
    quiet_s = _quiet_s(missing, is_whole=_is_whole(files.get(f"{lab}{NOTEBOOK}", b"")))
    if arriving.unchanged_s(path.name, mark) < quiet_s and time.time() - folder.modified_s < LONG_AGO_S:
        return STILL
    # If an earlier version of this folder already had all of nbgrader's files, its owner has changed the folder since
    # then.
    timestamp, flags = _time_of(folder, due, was_whole=not all(version.notes for version in own))
    notes = (f"it came without {' and '.join(missing)}: taken as it is",) if missing else ()
    keep(contents, path.name, timestamp, (*flags, *_owner_flags(course, student, path)), into, notes)
    return ""


def _quiet_s(missing: Sequence[str], *, is_whole: bool) -> float:
    """Return for how many seconds a folder must stay unchanged before it counts as arrived.

    `missing` lists nbgrader's files that the folder lacks; `is_whole` says whether its notebook is complete.
    """
    if not missing and is_whole:
        return 0.0
    return QUIET_S if TIMESTAMP in missing or (missing and not is_whole) else SHORTLY_S


def _is_whole(notebook: bytes) -> bool:
    with suppress(DamagedNotebookError):
        return bool(parse(notebook))
    return False


def _time_of(folder: _Folder, due: datetime | None, *, was_whole: bool) -> tuple[datetime, tuple[Flag, ...]]:
    """Return when a folder of the exchange counts as handed in, and a flag if that time is in doubt.

    Usually, the time in the folder's name counts. Students choose that name, but they cannot choose the time at which
    the file system records a change. So there is a flag if the name has no time, or if it claims to be on time but the
    folder was changed after the due date. `was_whole` says whether a complete version had already arrived; if so, a
    folder that was changed after the due date is late.
    """
    claimed, changed = folder.claimed, folder.changed
    if claimed is None:
        return changed, (Flag("time", f"The name {folder.path.name!a} has no time: the file system's time counts."),)
    if late_s(claimed, due) or not late_s(changed, due):
        return claimed, ()
    text = f"It claims to be on time, at {shown(claimed)}, but was written at {shown(changed)}."
    return changed if was_whole else claimed, (Flag("time", text),)


def _owner_flags(course: Course, student: str, path: Path) -> list[Flag]:
    """Return a list with one flag if a folder belongs to an account other than the student's, and otherwise [].

    The list is also empty if the course's configuration turns this check off.
    """
    if not course.config.get("ExchangeCollect", {}).get("check_owner", True):
        return []
    uid = path.lstat().st_uid
    try:
        owner = pwd.getpwuid(uid).pw_name
    except KeyError:
        owner = f"account {uid}"
    if username_key(owner) == username_key(student):
        return []
    return [Flag("owner", f"It claims to come from {student} and belongs to {owner}.")]
