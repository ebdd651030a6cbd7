"""From labs and options to a checked list of what will run; every mistake is found here, before anything starts."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import coursekit
from coursekit.errors import CourseKitError
from coursekit.labs.run import parameters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coursekit.labs.lab import Lab, Scalar

NUM_DIGITS = 16


@dataclass(frozen=True)
class LabRun:
    """One lab, ready to be executed.

    Attributes:
        name: Name of the lab's folder.
        notebook: The built source notebook, with answers and hidden tests.
        num_ranks: Number of ranks it will start, 1 where the notebook has no such parameter.
        time_limit_s: Seconds that it may take, of its own time.
        fingerprint: Digest of everything its result depends on, by the name that messages use.
    """

    name: str
    title: str
    notebook: Path
    parameters: Mapping[str, Scalar]
    num_ranks: int
    time_limit_s: float
    fingerprint: Mapping[str, str]


def plan_runs(
    labs: Sequence[Lab], notebooks: Mapping[str, Path], num_ranks: int | None, given: Mapping[str, str]
) -> tuple[LabRun, ...]:
    """Check all labs and options (`--ranks`, and the texts of `-p`) against each other.

    Raises:
        CourseKitError: If a parameter is unknown to all chosen labs or a value is out of place.
    """
    if not labs:
        raise CourseKitError("there are no labs in solutions/: write one, or change to a checkout that has some.")
    defaults = {lab.name: parameters.read_defaults(notebooks[lab.name]) for lab in labs}
    if num_ranks is not None:
        # Also refused when no chosen lab has ranks to start: the number is nonsense anyway.
        parameters.check(parameters.NUM_RANKS, num_ranks, 1, "--ranks")
    known = {name: None for names in defaults.values() for name in names}
    unknown = sorted(given.keys() - known.keys())
    if unknown:
        raise CourseKitError(
            f"-p: no chosen lab has a parameter {', '.join(unknown)}; known are {parameters.list_names(known)}."
        )
    return tuple(_plan(lab, notebooks[lab.name], defaults[lab.name], num_ranks, given) for lab in labs)


def _plan(
    lab: Lab, notebook: Path, defaults: Mapping[str, Scalar], num_ranks: int | None, given: Mapping[str, str]
) -> LabRun:
    values = parameters.merge(defaults, lab.small_run, num_ranks, given, f"{lab.folder.name}/lab.toml")
    time_limit_s = lab.resources.time_limit_min * 60
    return LabRun(
        name=lab.name,
        title=lab.title,
        notebook=notebook,
        parameters=values,
        num_ranks=int({**defaults, **values}.get(parameters.NUM_RANKS, 1)),
        time_limit_s=time_limit_s,
        fingerprint={
            "parameters": digest_text(json.dumps([values, time_limit_s])),
            "notebook": digest_folder(notebook.parent, "*"),
            "package": _digest_package(),
        },
    )


def digest_text(text: str) -> str:
    """Return a short digest of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:NUM_DIGITS]


def digest_folder(folder: Path, pattern: str) -> str:
    """Return a short digest of the names and bytes of a folder's files, in whatever order they are listed."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob(pattern) if path.is_file()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(folder).as_posix()}\0{content}\0".encode())
    return digest.hexdigest()[:NUM_DIGITS]


@lru_cache(maxsize=1)
def _digest_package() -> str:
    """Return a digest of this package: labs import it, so their results depend on it."""
    return digest_folder(Path(coursekit.__file__).parent, "*.py")
