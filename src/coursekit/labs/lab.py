"""The labs of the course: each is a folder in `solutions/`, and `lab.toml` in that folder describes it.

A students' copy has no `solutions/`; there, `lab.toml` is next to the notebook in `labs/`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from coursekit import toml_files
from coursekit.errors import CourseKitError
from coursekit.framework import HOROVOD, MODULES
from coursekit.toml_files import MAY_BE_EMPTY, AtLeast

NAME = re.compile(r"\d\d-[a-z0-9]+(-[a-z0-9]+)*")
SOLUTIONS = "solutions"

Scalar = bool | int | float | str  # the possible types of a notebook's parameter


@dataclass(frozen=True)
class Resources:
    """The resources that one run of a lab needs; memory is for all ranks of a node together."""

    num_ranks: Annotated[int, AtLeast(1)]
    memory_gb: Annotated[int, AtLeast(1)]
    time_limit_min: Annotated[int, AtLeast(1)]


@dataclass(frozen=True)
class Lab:
    """One lab: where it is, what it is about, and what it needs."""

    name: str
    folder: Path
    title: str
    summary: str
    minutes: Annotated[int, AtLeast(1)]  # the time that a student needs
    objectives: tuple[str, ...]
    resources: Resources
    # The papermill parameters for a run on a laptop. A mapping has no hash; the hashes of the other fields suffice.
    small_run: Annotated[Mapping[str, Scalar], MAY_BE_EMPTY] = field(hash=False)
    framework: str = HOROVOD  # of its ranks: one of `framework.MODULES`, which must be installed
    resumes: bool = False  # whether its training job continues from its last checkpoint after a restart
    picture: str = ""  # the cell whose picture labs/README.md shows; '' if it shows none
    lectures: Annotated[tuple[str, ...], MAY_BE_EMPTY] = ()  # decks to show before it; if empty, all decks
    # The answers that a stuck student may take from the solution, without getting points for them.
    ways_out: Annotated[tuple[str, ...], MAY_BE_EMPTY] = ()

    @property
    def source(self) -> Path:
        """The authored notebook: `solutions/<lab>/<lab>.py`."""
        return self.folder / f"{self.name}.py"


def load_lab(folder: Path) -> Lab:
    """Read one lab's folder: `solutions/<lab>`, or `labs/<lab>` in a students' copy, which has no answers.

    Raises:
        CourseKitError: the folder's name is not a lab name, `lab.toml` is missing or wrong, or `<lab>.py` is missing.
    """
    shown = f"{folder.parent.name}/{folder.name}"
    if not NAME.fullmatch(folder.name):
        raise CourseKitError(
            f"{shown} is not a valid name for a lab: use two digits and lower-case words, such as 02-horovod-sgd.",
            "lab.name",
        )
    lab = toml_files.load(Lab, folder / "lab.toml", f"{shown}/lab.toml", name=folder.name, folder=folder)
    if lab.framework not in MODULES:
        raise CourseKitError(
            f"{shown}/lab.toml: framework must be one of {', '.join(MODULES)}, not {lab.framework!r}.", "lab.framework"
        )
    if folder.parent.name == SOLUTIONS and not lab.source.is_file():
        raise CourseKitError(
            f"{shown}/{lab.source.name} is missing: a lab's notebook must have the name of its folder.", "lab.no-source"
        )
    return lab


def find_labs(root: Path) -> tuple[Lab, ...]:
    """Return all labs of a checkout, sorted by name; every folder in `solutions/` must be a lab.

    Without `solutions/`, the labs are those folders in `labs/` that have a `lab.toml`; a student may add other folders.
    """
    folders = [path for path in (root / SOLUTIONS).glob("*") if path.is_dir() and path.name[0] not in "._"]
    if not (root / SOLUTIONS).is_dir():
        folders = [path.parent for path in root.glob("labs/*/lab.toml")]
    return tuple(map(load_lab, sorted(folders)))


def select_labs(root: Path, names: Sequence[str]) -> tuple[Lab, ...]:
    """Return the labs with these names, or with unique prefixes such as "02" or "2"; all labs if no name is given.

    Raises:
        CourseKitError: a name matches no lab, or several labs.
    """
    labs = find_labs(root)
    known = [lab.name for lab in labs]
    chosen = set()
    for name in names:
        matches = matching(known, name)
        if not matches:
            raise CourseKitError(
                f"there is no lab {name!r}; the labs are {', '.join(known) or '(none)'}.", "lab.unknown"
            )
        if len(matches) > 1:
            raise CourseKitError(f"{name!r} fits several labs: {', '.join(matches)}.", "lab.ambiguous")
        chosen.add(matches[0])
    return tuple(lab for lab in labs if not names or lab.name in chosen)


def matching(names: Sequence[str], wanted: str) -> list[str]:
    """If `wanted` is a name, return only that; otherwise, return all names that it abbreviates, as "02" and "2" do."""
    if wanted in names:
        return [wanted]
    starts = [wanted.zfill(2), wanted] if wanted.isdecimal() else [wanted]  # 1 means 01-sgd, not 10-last
    return next(filter(None, ([name for name in names if start and name.startswith(start)] for start in starts)), [])
