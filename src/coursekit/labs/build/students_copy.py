"""The folder to publish for students, with everything but the answers.

Where `solutions/` would say what labs there are, the copy has each lab's `lab.toml` beside its notebook.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat

from coursekit.errors import CourseKitError
from coursekit.files import write_file
from coursekit.labs.build.build import source_notebook
from coursekit.labs.build.generated import refuse_edited
from coursekit.labs.build.leaks import refuse_leaks, texts
from coursekit.labs.lab import find_labs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coursekit.labs.lab import Lab

# What `make env`, `make lab` and the students' commands need. Nothing of solutions/ and tests/ is ever looked at.
FOLDERS = ("slurm", "src", "tools")
FILES = (".gitignore", "Makefile", "environment.yml", "labs/README.md", "pyproject.toml", "requirements.lock")
PAGES = ("glossary", "scaling", "site-format", "sites", "student")
MAYBE = ("LICENSE", "LICENSE-CC-BY-4.0", *(f"docs/{page}.md" for page in PAGES))
PICTURE = re.compile(rb"\]\((pictures/[^)]+)\)")  # in a page of docs/
# Job scripts that only instructors can use.
NOT_FOR_STUDENTS = ("solutions.sbatch", "grade.sbatch")
BY_PRODUCTS = ("__pycache__", "node_modules")
MANIFEST = ".students-copy.json"
README = """\
# The course's labs

1. `make env` makes the environment: Linux with a Python from 3.9 to 3.11, a C++ compiler and `make`.
2. `make lab` opens JupyterLab on [labs/](labs/README.md).
3. On a supercomputer: `source .venv/bin/activate`, then `coursekit sites` lists the machines that are known,
   and `coursekit submit 02 --site NAME` submits your notebook of lab 02 as a job.

[A student's day](docs/student.md) goes through a lab, [the glossary](docs/glossary.md) has the words,
and [a page](docs/scaling.md) says how far to trust the predictions of lab 07.

Made by `coursekit students-copy`.
"""


def students_files(root: Path) -> dict[str, bytes]:
    """Return path to content of everything that students get.

    Raises:
        CourseKitError: this is a students' copy itself, a notebook in `labs/` was edited or is missing,
            or it would show an answer or a hidden test.
    """
    files = {name: _read(root, name) for name in FILES}
    files |= {name: _read(root, name) for name in MAYBE if (root / name).is_file()}
    pictures = {picture.decode() for page in files.values() for picture in PICTURE.findall(page)}
    files |= {f"docs/{name}": _read(root, f"docs/{name}") for name in sorted(pictures)}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and _is_for_students(path.relative_to(root)):
                files[path.relative_to(root).as_posix()] = path.read_bytes()
    for lab in find_labs(root):
        files |= _files_of_lab(root, lab)
    return {**files, "README.md": README.encode()}


def write_copy(root: Path, files: Mapping[str, bytes], folder: Path) -> int:
    """Make a folder hold these files, remove what an earlier copy put there, and return how many files changed.

    Raises:
        CourseKitError: the folder holds something else, a part of the checkout, or a notebook that somebody edited.
    """
    former = _former_files(root, folder)
    for name in files:
        if name.endswith(".ipynb"):
            refuse_edited(folder / name)
    # Should it be stopped half-way, the next call knows all that may be there.
    _write_manifest(folder, {*former, *files})
    changed = [
        name for name, data in files.items() if not (folder / name).is_file() or (folder / name).read_bytes() != data
    ]
    for name in changed:
        write_file(folder / name, files[name], 0o755 if os.access(root / name, os.X_OK) else 0o644)
    for name in sorted(former - set(files)):
        (folder / name).unlink(missing_ok=True)
    _write_manifest(folder, set(files))
    return len(changed)


def _files_of_lab(root: Path, lab: Lab) -> dict[str, bytes]:
    """Return a lab's notebook, what belongs to it, and what is known of the lab; nothing else that lies there."""
    source = source_notebook(lab)  # refuses a students' copy, which has no source
    place = f"labs/{lab.name}"
    notebook = _read(root, f"{place}/{lab.name}.ipynb")
    refuse_edited(root / place / f"{lab.name}.ipynb")
    release = nbformat.reads(notebook.decode(), as_version=4)
    others = {name: _read(root, f"{place}/{name}") for name in release.metadata.coursekit.files}
    facts = {"lab.toml": (lab.folder / "lab.toml").read_bytes()}
    refuse_leaks(lab.name, source, texts(release, {**others, **facts}))
    files = {f"{lab.name}.ipynb": notebook, **others, **facts}
    return {f"{place}/{name}": data for name, data in files.items()}


def _is_for_students(path: Path) -> bool:
    hidden = any(part[0] == "." or part in BY_PRODUCTS or part.endswith(".egg-info") for part in path.parts)
    return not hidden and path.name not in NOT_FOR_STUDENTS


def _former_files(root: Path, folder: Path) -> set[str]:
    """Return the files that an earlier copy put into a folder."""
    target = folder.resolve()
    parts = target.relative_to(root).parts if root in target.parents else ()
    if target == root or parts[:1] in {(name,) for name in (*FOLDERS, "labs", "solutions", "tests", "docs")}:
        raise CourseKitError(f"{folder} is a part of the checkout itself: name a folder of its own.")
    manifest = target / MANIFEST
    if manifest.is_file():
        try:
            names = json.loads(manifest.read_text(encoding="utf-8"))["files"]
            return {name for name in names if ".." not in Path(name).parts and not Path(name).is_absolute()}
        except (ValueError, KeyError, TypeError):
            raise CourseKitError(f"{folder}/{MANIFEST} is damaged: name another folder.") from None
    if target.exists() and (not target.is_dir() or any(path.name != ".git" for path in target.iterdir())):
        raise CourseKitError(f"{folder} holds something that is not a students' copy: name a new or empty folder.")
    return set()


def _write_manifest(folder: Path, names: set[str]) -> None:
    text = json.dumps({"files": sorted(names)}, indent=1)
    write_file(folder / MANIFEST, f"{text}\n".encode(), 0o644)


def _read(root: Path, name: str) -> bytes:
    if not (root / name).is_file():
        raise CourseKitError(f"{name} is missing in the checkout: run `coursekit build`, or take it back from git.")
    return (root / name).read_bytes()
