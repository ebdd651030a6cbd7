"""The course folder: its paths, due dates and gradebook, and nbgrader's own interface to it."""

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from coursekit.course.exchange import faults_of_exchange
from coursekit.course.roster import ROSTER, Student, columns_of, new_students, read_roster, username_key
from coursekit.course.settings import SETTINGS, Settings, due_date, load_settings
from coursekit.errors import Cause, CourseKitError
from coursekit.labs.lab import find_labs
from coursekit.waiting import AwayError

COURSE = "course"
REPORTS = "reports"
PRIVATE_MODE = 0o700  # needed because students can pass through the course folder
NUM_LOG_LINES = 12


@dataclass(frozen=True)
class Course:
    """One event: `folder` holds `course.toml` and everything that nbgrader keeps; `root` is the course's checkout."""

    root: Path
    folder: Path
    settings: Settings
    config: Any = field(hash=False, compare=False, repr=False)

    def released(self, lab: str) -> NotebookNode:
        """Return a lab's notebook as students got it (from the release or labs/); callers must not change it."""
        for folder in (self.folder / "release", self.root / "labs"):
            path = folder / lab / f"{lab}.ipynb"
            if path.is_file():
                return _read_notebook(path, path.stat().st_mtime_ns)
        raise CourseKitError(
            f"{lab} was never released: run `coursekit course release {lab[:2]}`.", "lab.never-released"
        )

    def public(self, lab: str) -> tuple[str, ...]:
        """Return the paths, within the lab's folder, of all files that students got with the lab."""
        folder = self.folder / "release" / lab
        return tuple(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())

    def submitted(self, lab: str, student: str) -> Path:
        """Return the path of the folder from which nbgrader grades a student's hand-in."""
        return self.folder / "submitted" / student / lab

    def autograded(self, lab: str, student: str) -> Path:
        """Return the path of nbgrader's folder for a student's graded hand-in."""
        return self.folder / "autograded" / student / lab

    def hand_ins(self, lab: str, student: str) -> Path:
        """Return the path of the folder with every version that a student handed in for a lab."""
        return self.folder / "hand-ins" / lab / student

    def students_in(self, step: str, path: str) -> set[str]:
        """Return the students whose folder for one of nbgrader's steps, such as `submitted`, contains this path."""
        folder = self.folder / step
        return {found.relative_to(folder).parts[0] for found in folder.glob(f"[!.]*/{path}")}

    @property
    def inbound(self) -> Path:
        """The path of the exchange's folder for hand-ins."""
        return self.folder / "exchange" / self.settings.name / "inbound"

    def faults_of_exchange(self) -> tuple[Cause, ...]:
        """Return faults that let another account replace this course's exchange, or show that another account did."""
        return tuple(faults_of_exchange(self.folder / "exchange", self.settings.name))

    def require_exchange(self) -> None:
        """Raise an error if the exchange is missing, because nbgrader would create an empty one in its place.

        Raises:
            AwayError: the exchange is missing.
        """
        if not self.inbound.is_dir():
            raise AwayError(
                f"there is no {self.inbound}: run `coursekit course release` if no lab has been released yet; "
                "otherwise, its file system is away, or somebody has moved the exchange.",
                "exchange.missing",
            )

    def outbound(self, lab: str) -> Path:
        """Return the path of the exchange's folder for a released lab."""
        return self.folder / "exchange" / self.settings.name / "outbound" / lab

    def report(self, kind: str, now: datetime) -> Path:
        """Return the path for a new report, and create its folder, which only the instructor may read."""
        folder = self.folder / REPORTS
        folder.mkdir(mode=PRIVATE_MODE, exist_ok=True)
        return folder / f"{kind}-{now:%Y-%m-%dT%H-%M-%S}.html"

    def due(self, lab: str) -> datetime | None:
        """Return when a lab is due, in UTC without an offset; None if `course.toml` has no date for it."""
        text = self.settings.due.get(lab)
        return due_date(text, f"{SETTINGS} [due]: {lab}", self.settings.zone) if text else None

    def extension(self, lab: str, student: str) -> datetime | None:
        """Return a student's extended due date for a lab, in UTC without an offset; None if there is no extension."""
        own = {username_key(name): text for name, text in self.settings.extensions.get(lab, {}).items()}
        text = own.get(username_key(student))
        return due_date(text, f"{SETTINGS} [extensions.{lab}]: {student}", self.settings.zone) if text else None

    def students(self, gradebook: Any) -> tuple[Student, ...]:
        """Return the students in the class.

        These are the students on the roster or, if there is no roster, all who are in the gradebook or have handed in
        work.

        Raises:
            CourseKitError: the roster is wrong, or spells an id differently from the gradebook.
        """
        known = {student.id: Student(**columns_of(student)) for student in gradebook.students}
        if (path := self.folder / ROSTER).is_file():
            roster = read_roster(path)
            new_students(known, roster)
            return roster
        return tuple(({student: Student(student) for student in self.students_in("submitted", "*")} | known).values())

    @cached_property
    def teams(self) -> Mapping[str, tuple[str, ...]]:
        """A mapping from the id of each student in a team to the ids of all its members, in the roster's order."""
        path, teams = self.folder / ROSTER, defaultdict(list)
        for student in read_roster(path) if path.is_file() else ():
            teams[student.team].append(student.id)
        return {one: tuple(members) for team, members in teams.items() if team for one in members}

    @contextmanager
    def gradebook(self) -> Iterator[Any]:
        """Open nbgrader's gradebook.

        Raises:
            CourseKitError: there is no driver for the database.
            AwayError: the database cannot be reached, or fails.
        """
        # Importing nbgrader takes a second; a mistake in the arguments should be reported without that delay.
        from nbgrader.api import Gradebook
        from sqlalchemy.exc import DBAPIError, OperationalError

        from coursekit.course.nbgrader_config import CONFIG

        settings = self.config.CourseDirectory
        try:
            gradebook = Gradebook(settings.db_url, settings.course_id)
        except (ModuleNotFoundError, OperationalError) as error:  # a server or its driver is missing
            reason = str(error).partition("\n")[0]
            kind = AwayError if isinstance(error, OperationalError) else CourseKitError
            raise kind(
                f"the gradebook cannot be opened ({reason}): start its server, install its driver, "
                f"or correct `c.CourseDirectory.db_url` in {self.folder.name}/{CONFIG}.",
                "gradebook.unreachable",
            ) from None
        with gradebook:
            try:
                yield gradebook
            except DBAPIError as error:
                reason = str(error.orig).strip().partition("\n")[0]
                after = "fix that, then run the command again; finished gradings are kept"
                raise AwayError(f"the gradebook's database failed ({reason}): {after}.", "gradebook.failed") from None

    def api(self) -> Any:
        """Return nbgrader's own interface to this folder."""
        from nbgrader.apps.api import NbGraderAPI
        from nbgrader.coursedir import CourseDirectory

        return NbGraderAPI(CourseDirectory(config=self.config), config=self.config)


@lru_cache
def _read_notebook(path: Path, _: int) -> NotebookNode:
    """Return a notebook; it is cached until it changes, because each hand-in is compared with it several times."""
    return nbformat.read(path, as_version=4)


def find_course(root: Path, folder: Path | None = None) -> Course:
    """Return the course in `folder` or, if that is None, in `root`/course.

    Raises:
        CourseKitError: no course folder was found, or its files are wrong.
    """
    folder = (folder or root / COURSE).resolve()
    if not (folder / SETTINGS).is_file():
        how = "`coursekit course init` creates one, and `--course DIR` names another"
        raise CourseKitError(f"{folder} is not a course folder: {how}.", "course.no-folder")
    return Course(root, folder, read_settings(root, folder), _load_config(folder))


def read_settings(root: Path, folder: Path) -> Settings:
    """Read the settings of the course in `folder` for the labs of the checkout `root`.

    Raises:
        CourseKitError: the file is missing or wrong, or has a date for something that is not a lab.
    """
    settings = load_settings(folder)
    if named := {*settings.due, *settings.extensions}:
        labs = [lab.name for lab in find_labs(root)]
        if unknown := ", ".join(sorted(named.difference(labs))):
            raise CourseKitError(
                f"{SETTINGS} names {unknown}, which is not one of the labs: {', '.join(labs)}.", "settings.unknown-lab"
            )
    return settings


def succeed(what: str, outcome: dict[str, Any]) -> None:
    """If a call of nbgrader's interface failed, raise an error that shows the end of nbgrader's log.

    `what` says what nbgrader was asked to do; `outcome` is the result of the call. nbgrader also catches Ctrl-C and
    continues; in that case, this function raises KeyboardInterrupt again.
    """
    if outcome["success"]:
        return
    told = f"{outcome.get('log', '')}\n{outcome.get('error', '')}".splitlines()
    if any(line.strip() in {"KeyboardInterrupt", "[ERROR] Canceled"} for line in told):
        raise KeyboardInterrupt
    log = [line for line in outcome.get("log", "").splitlines() if not line.startswith(("[INFO]", "[DEBUG]"))]
    lines = log or outcome.get("error", "").strip().splitlines()
    last = "\n".join(lines[-NUM_LOG_LINES:])
    raise AwayError(f"nbgrader could not {what}; its log says:\n{last}", "nbgrader.failed")


def _load_config(folder: Path) -> Any:
    """Read the course's configuration the way nbgrader reads it."""
    from traitlets.config.loader import PyFileConfigLoader

    from coursekit.course.nbgrader_config import CONFIG

    if not (folder / CONFIG).is_file():
        raise CourseKitError(
            f"{folder / CONFIG} is missing: `coursekit course init {os.fspath(folder)}` writes it again.",
            "course.no-configuration",
        )
    return PyFileConfigLoader(CONFIG, path=str(folder)).load_config()


def due_of(course: Course, lab: str, student: str) -> datetime | None:
    """Return when a lab is due for a student, in UTC without an offset; None if it has no due date.

    This is the latest of the lab's due date and the extensions of all members of the student's team. Only `course.toml`
    decides; the gradebook follows it (`course/follow_settings.py`).
    """
    team = course.teams.get(student, (student,))
    dates = (course.due(lab), *(course.extension(lab, one) for one in team))
    return max((date for date in dates if date), default=None)
