"""Parameters of a lab as words behind its job script, checked before the job waits in the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coursekit.errors import CourseKitError
from coursekit.labs.build.answered_twin import answered_twin, read_notebook
from coursekit.labs.build.twin import TWIN_NAME
from coursekit.labs.run import parameters

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from coursekit.labs.lab import Scalar


def notebook_options(notebook: Path, given: Mapping[str, str]) -> list[str]:
    """Return what to put behind a notebook's job script: `-p NAME VALUE` for each parameter.

    Raises:
        CourseKitError: the notebook has no such parameter, or a value does not fit.
    """
    return [word for name, value in _checked(notebook, given).items() for word in ("-p", name, str(value))]


def train_options(notebook: Path, given: Mapping[str, str]) -> list[str]:
    """Return what to put behind the job script of a lab's train.py: an option of it for each parameter.

    Raises:
        CourseKitError: the answers make no script, it has no such parameter, or a value does not fit.
    """
    lab = notebook.stem
    script = answered_twin(read_notebook(notebook, lab), notebook, lab, TWIN_NAME, allow_unanswered=False)
    words = []
    for name, value in _checked(notebook, given).items():
        option = name.replace("_", "-")
        if f'"--{option}"' not in script:
            raise CourseKitError(f"-p: the script of {lab} does not use {name}: leave it out, or submit the notebook.")
        if isinstance(value, bool):
            words.append(f"--{option}" if value else f"--no-{option}")
        else:
            words.append(f"--{option}={value}")
    return words


def _checked(notebook: Path, given: Mapping[str, str]) -> dict[str, Scalar]:
    defaults = parameters.read_defaults(notebook) if given else {}
    values = {}
    for name, text in given.items():
        if name not in defaults:
            known = parameters.list_names(defaults)
            raise CourseKitError(f"-p: {notebook.name} has no parameter {name}; it has {known}.")
        values[name] = parameters.check(name, parameters.parse(name, text, defaults[name]), defaults[name], "-p")
    return values
