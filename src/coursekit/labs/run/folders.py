"""Where a run keeps what it has: `build/runs/<time>/`, one result file per lab, and `latest`."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import count
from typing import TYPE_CHECKING, Any

from coursekit.errors import CourseKitError
from coursekit.files import locked
from coursekit.labs.run.results import SCHEMA, LabResult, write_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

LATEST = "latest"
REQUEST = "request.json"


@dataclass(frozen=True)
class Request:
    """What was asked for, kept so that `--resume` can ask for the same.

    Attributes:
        labs: Names of the chosen labs; empty for all of them.
        num_ranks: Value of `--ranks`, if given.
        given: Names and texts of `-p`.
    """

    labs: tuple[str, ...]
    num_ranks: int | None
    given: Mapping[str, str]

    def changed_by(self, newer: Request) -> Request:
        """Return this request with the labs of a newer one added and its options put in."""
        # All labs stay all labs.
        labs = tuple(sorted({*self.labs, *newer.labs})) if self.labs else ()
        num_ranks = self.num_ranks if newer.num_ranks is None else newer.num_ranks
        return Request(labs, num_ranks, {**self.given, **newer.given})


def runs_folder(root: Path) -> Path:
    """Return the folder of all runs of a course checkout."""
    return root / "build" / "runs"


def create_run(root: Path, request: Request) -> Path:
    """Make a folder for a new run, named after the local time."""
    stem = datetime.now().astimezone().strftime("%Y-%m-%dT%H-%M-%S")
    for attempt in count(1):
        folder = runs_folder(root) / (stem if attempt == 1 else f"{stem}-{attempt}")
        with suppress(FileExistsError):
            folder.mkdir(parents=True)
            break
    save_request(folder, request)
    return folder


def save_request(folder: Path, request: Request) -> None:
    """Note what was asked for."""
    write_json(folder / REQUEST, {"schema": SCHEMA, **asdict(request)})


def newest_run(root: Path) -> tuple[Path, Request]:
    """Return the folder of the newest run and what was asked for then.

    Raises:
        CourseKitError: If there is no run to go on with.
    """
    for folder in sorted(runs_folder(root).glob("[0-9]*"), key=lambda path: path.name, reverse=True):
        if _read(folder / REQUEST) is not None:
            return named_run(root, folder.name)
    raise CourseKitError(f"--resume: there is no run in {runs_folder(root)} yet: leave --resume out.")


def named_run(root: Path, name: str) -> tuple[Path, Request]:
    """Return the folder of one run and what was asked for then.

    Raises:
        CourseKitError: If there is no such run.
    """
    folder = runs_folder(root) / name
    data = _read(folder / REQUEST)
    if data is None:
        raise CourseKitError(f"--run: there is no run {name!r} in {runs_folder(root)}.")
    return folder, Request(tuple(data["labs"]), data["num_ranks"], data["given"])


def claimed(folder: Path) -> AbstractContextManager[None]:
    """Keep a run's folder to one process; the claim ends with the process, however it ends.

    Raises:
        CourseKitError: If another process works in the folder.
    """
    return locked(folder / ".claim", f"{folder} is still being worked on by another `coursekit run`: wait for it.")


def point_latest(folder: Path) -> None:
    """Let `build/runs/latest` lead to this run, without a moment in which it leads nowhere."""
    fresh = folder.parent / f".{LATEST}-{folder.name}"
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(folder.name)
    fresh.replace(folder.parent / LATEST)


def save_result(folder: Path, result: LabResult) -> None:
    """Keep the result of one lab."""
    write_json(_result_path(folder, result.lab), result.to_json())


def read_result(folder: Path, lab: str) -> LabResult | None:
    """Return the result of one lab, or None if this version can read no result."""
    data = _read(_result_path(folder, lab))
    return LabResult.from_json(data) if data else None


def forget_result(folder: Path, lab: str) -> None:
    """Remove the result of a lab that is about to run again, so that a kill leaves no result of other files."""
    _result_path(folder, lab).unlink(missing_ok=True)


def _result_path(folder: Path, lab: str) -> Path:
    return folder / f"{lab}.json"


def _read(path: Path) -> dict[str, Any] | None:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return data if isinstance(data, dict) and data.get("schema") == SCHEMA else None
