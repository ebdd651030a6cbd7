"""The two builds: executable sources of all answers in `build/source/`, and students' labs in `labs/`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from coursekit.files import Report, no_report
from coursekit.labs.build.additions import offer_ways_out
from coursekit.labs.build.generated import publish, refuse_edited
from coursekit.labs.build.release import finish, refuse_leaks, release_notebook, texts
from coursekit.labs.build.script import script_files
from coursekit.labs.build.steps import STEPS
from coursekit.labs.build.text_notebook import read_text_notebook
from coursekit.labs.lab import Lab


def build_sources(root: Path, labs: Sequence[Lab], report: Report = no_report) -> dict[str, Path]:
    """Build the notebooks that hold everything, and return lab name to `build/source/<lab>/<lab>.ipynb`.

    Raises:
        CourseKitError: the author's text is wrong; the message begins with file and line.
    """
    parent = root / "build" / "source"
    sources = {lab: source_notebook(lab) for lab in labs}
    files = {lab: {**public_files(lab), **script_files(source, "solution")} for lab, source in sources.items()}
    return {lab.name: publish(parent / lab.name, sources[lab], files[lab], report) for lab in labs}


def build_release(root: Path, labs: Sequence[Lab], report: Report = no_report) -> dict[str, Path]:
    """Build the sources, and from them the notebooks that students open; return lab name to `labs/<lab>/<lab>.ipynb`.

    Nothing is written to `labs/` before every one of these labs is known to give away no answer.

    Raises:
        CourseKitError: the author's text is wrong, a release would leak, or `labs/` holds somebody's own work.
    """
    parent = root / "labs"
    sources = build_sources(root, labs, report)
    releases, files = {}, {}
    for lab in labs:
        refuse_edited(parent / lab.name / f"{lab.name}.ipynb")
        source = nbformat.read(sources[lab.name], as_version=4)
        releases[lab] = finish(release_notebook(lab.name, source))
        files[lab] = {**public_files(lab), **script_files(releases[lab], "release")}
        refuse_leaks(lab.name, source, texts(releases[lab], files[lab]))
    return {lab.name: publish(parent / lab.name, releases[lab], files[lab], report) for lab in labs}


def source_notebook(lab: Lab) -> NotebookNode:
    """Return a lab's notebook as nbgrader's source version."""
    notebook = read_text_notebook(lab)
    for step in STEPS:
        notebook = step(notebook)
    return offer_ways_out(notebook, lab)


def public_files(lab: Lab) -> dict[str, bytes]:
    """Return what the notebook needs beside it: the lab's folder `files/`, as nothing else is public."""
    paths = sorted(path for path in (lab.folder / "files").rglob("*") if path.is_file() and path.name[0] != ".")
    return {path.relative_to(lab.folder).as_posix(): path.read_bytes() for path in paths}
