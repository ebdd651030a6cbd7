"""Make the folder to publish for students: labs, job scripts, pages, and the package without the instructors' parts.

The copy lacks `solutions/`, where the kit otherwise finds the labs, so each lab's `lab.toml` is next to its notebook.
A second copy of each notebook shows how it was released.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

import nbformat

from coursekit.errors import CourseKitError
from coursekit.files import write_file, write_json
from coursekit.labs.build.build import refuse_edited, source_notebook
from coursekit.labs.build.release import refuse_leaks, texts
from coursekit.labs.lab import Lab, find_labs
from coursekit.labs.students_notebook import RELEASED

# Files that `make env`, `make lab` and the students' commands need. The folders do not include solutions/ and tests/.
FOLDERS = ("slurm", "src/coursekit", "tools")
LOCKS = ("requirements-2.15.lock", "requirements-2.21.lock")
FILES = (".gitignore", "environment.yml", "labs/README.md", "pyproject.toml", *LOCKS)
OWN = (".gitattributes", "AGENTS.md", "Makefile", "README.md")  # from students/ to the top level of the copy
PAGES = ("clusters", "commands", "glossary", "gpus", "scaling", "site-format", "sites", "student", "troubleshooting")
MAYBE = ("LICENSE", "LICENSE-CC-BY-4.0", *(f"docs/{page}.md" for page in PAGES))
PICTURE = re.compile(rb"\]\((?:\.\./docs/)?(pictures/[^)]+)\)")  # in a page of docs/ or in labs/README.md
# From these folders of the package, students get only these files: their commands and the modules that those import.
PARTS = {
    "src/coursekit/cli": (
        *("__init__", "shared", "execute", "submit", "jobs", "predict", "script", "hand_in"),
        *("doctor", "data", "kernel", "sites"),
    ),
    "src/coursekit/course": ("__init__", "hand_in/__init__", "hand_in/names", "hand_in/pack", "hand_in/unpack"),
    "src/coursekit/grading": (
        *("__init__", "verdict", "submission/__init__"),
        *("submission/cells", "submission/job_records", "submission/student_folder", "submission/students_files"),
    ),
    "src/coursekit/jupyter": (
        *("__init__", "kernel", "settings/nbgrader_config"),
        "settings/labconfig/default_setting_overrides",
    ),
    "src/coursekit/labs/build": ("__init__", "regions", "script", "script_frame"),
}
# Job scripts that only instructors can use, and tools that only authors need.
NOT_FOR_STUDENTS = (
    *("solutions.sbatch", "grade.sbatch", "solutions.sbatch.j2", "grade.sbatch.j2", "hub.sbatch.j2"),
    *("book-requirements.lock", "count_networks.py", "horovod_tests.py"),
)
# The sections of pages, and the lists at their top, about commands that students do not have.
OTHERS = rb"(For instructors|For authors|The authors' program: workshop)"
SECTION = re.compile(rb"^## %b\n.*?(?=^## |\Z)|^%b:\n\n.*?\n\n" % (OTHERS, OTHERS), re.MULTILINE | re.DOTALL)
BY_PRODUCTS = ("__pycache__", "node_modules")
MANIFEST = ".students-copy.json"


def students_files(root: Path) -> dict[str, bytes]:
    """Return the contents of all files that students get, by path.

    Raises:
        CourseKitError: the checkout is itself a students' copy, or a notebook in `labs/` was edited, is missing,
            or would show an answer or a hidden test.
    """
    files = {name: _read(root, name) for name in FILES}
    files |= {name: _read(root, f"students/{name}") for name in OWN}
    files |= {name: _read(root, name) for name in MAYBE if (root / name).is_file()}
    files = {name: SECTION.sub(b"", data) if name.endswith(".md") else data for name, data in files.items()}
    pictures = {picture.decode() for page in files.values() for picture in PICTURE.findall(page)}
    files |= {f"docs/{name}": _read(root, f"docs/{name}") for name in sorted(pictures)}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and _is_for_students(path.relative_to(root)):
                files[path.relative_to(root).as_posix()] = path.read_bytes()
    for lab in find_labs(root):
        files |= _files_of_lab(root, lab)
    return files


def write_copy(root: Path, files: Mapping[str, bytes], folder: Path) -> int:
    """Write files into a folder, remove files that only an earlier copy had, and return how many files were written.

    Raises:
        CourseKitError: the folder is inside a folder of the checkout, or holds other files or an edited notebook.
    """
    target = folder.resolve()
    if root in target.parents and target.parent != root:
        raise CourseKitError(f"{folder} is in a folder of the checkout: name a separate folder.", "copy.in-checkout")
    manifest = target / MANIFEST
    former = json.loads(manifest.read_text(encoding="utf-8"))["files"] if manifest.is_file() else []
    is_new = not target.exists() or (target.is_dir() and all(path.name == ".git" for path in target.iterdir()))
    if not (manifest.is_file() or is_new):
        raise CourseKitError(
            f"{folder} holds files that are not a students' copy: name a new or empty folder.", "copy.other-files"
        )
    for name in files:
        if name.endswith(".ipynb"):
            refuse_edited(folder / name)
    # If this call is stopped half-way, the next call knows all files that may be there.
    write_json(manifest, {"files": sorted({*former, *files})})
    changed = [
        name for name, data in files.items() if not (folder / name).is_file() or (folder / name).read_bytes() != data
    ]
    for name in changed:
        write_file(folder / name, files[name], 0o755 if os.access(root / name, os.X_OK) else 0o644)
    for name in former:
        if name not in files and target in (target / name).resolve().parents:
            (target / name).unlink(missing_ok=True)
    write_json(manifest, {"files": sorted(files)})
    return len(changed)


def _files_of_lab(root: Path, lab: Lab) -> dict[str, bytes]:
    """Return a lab's notebook, the files that belong to the notebook, and `lab.toml`, but no other files."""
    source = source_notebook(lab)  # raises an error in a students' copy, which has no source
    place = f"labs/{lab.name}"
    notebook = _read(root, f"{place}/{lab.name}.ipynb")
    refuse_edited(root / place / f"{lab.name}.ipynb")
    release = nbformat.reads(notebook.decode(), as_version=4)
    others = {name: _read(root, f"{place}/{name}") for name in release.metadata.coursekit.files}
    facts = {"lab.toml": (lab.folder / "lab.toml").read_bytes(), RELEASED: notebook}
    refuse_leaks(lab.name, source, texts(release, {**others, **facts}))
    files = {f"{lab.name}.ipynb": notebook, **others, **facts}
    return {f"{place}/{name}": data for name, data in files.items()}


def _is_for_students(path: Path) -> bool:
    if any(part[0] == "." or part in BY_PRODUCTS or part.endswith(".egg-info") for part in path.parts):
        return False
    place = next((folder for folder in PARTS if Path(folder) in path.parents), "")
    is_imported = not place or path.relative_to(place).with_suffix("").as_posix() in PARTS[place]
    return is_imported and path.name not in NOT_FOR_STUDENTS and path.suffix != ".in"


def _read(root: Path, name: str) -> bytes:
    if not (root / name).is_file():
        raise CourseKitError(
            f"{name} is missing in the checkout: run `coursekit build`, or restore it from git.", "copy.missing-file"
        )
    return (root / name).read_bytes()
