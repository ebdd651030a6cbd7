"""Plan a run: check labs, options and parameters against each other before anything starts."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coursekit.errors import CourseKitError
from coursekit.labs.build.script import parameters_of
from coursekit.labs.lab import Lab, Scalar
from coursekit.labs.students_notebook import read_notebook

NUM_RANKS = "num_ranks"
MAX_RANKS = 64
WORDS_FOR_BOOL = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
EXAMPLES = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


@dataclass(frozen=True)
class LabRun:
    """One lab, ready to be executed."""

    name: str
    title: str
    notebook: Path
    parameters: Mapping[str, Scalar]
    num_ranks: int  # 1 if its notebook has no such parameter
    time_limit_s: float  # corrected time
    goes_on: bool = False  # whether it continues after errors, as nbgrader does with a student's notebook


def plan_runs(
    labs: Sequence[Lab], notebooks: Mapping[str, Path], num_ranks: int | None, given: Mapping[str, str]
) -> tuple[LabRun, ...]:
    """Return the planned runs after checking them; `-p` overrides `--ranks`, which overrides the lab's small run.

    Raises:
        CourseKitError: no chosen lab has a given parameter, or a value is not allowed.
    """
    defaults = {lab.name: read_defaults(notebooks[lab.name]) for lab in labs}
    if num_ranks is not None:
        # Check it even if no chosen lab starts ranks: an impossible number is a mistake anyway.
        check(NUM_RANKS, num_ranks, 1, "--ranks")
    known = {name: None for names in defaults.values() for name in names}
    unknown = given.keys() - known.keys()
    if unknown:
        raise CourseKitError(
            f"-p: no chosen lab has a parameter {', '.join(sorted(unknown))}; choose from {list_names(known)}.",
            "parameter.unknown",
        )
    return tuple(_plan(lab, notebooks[lab.name], defaults[lab.name], num_ranks, given) for lab in labs)


def _plan(
    lab: Lab, notebook: Path, defaults: Mapping[str, Scalar], num_ranks: int | None, given: Mapping[str, str]
) -> LabRun:
    origin = f"{lab.folder.name}/lab.toml [small_run]"
    unknown = lab.small_run.keys() - defaults.keys()
    if unknown:
        names = ", ".join(sorted(unknown))
        raise CourseKitError(
            f"{origin}: the notebook has no parameter {names}; it has {list_names(defaults)}.", "parameter.unknown"
        )
    values = {name: check(name, value, defaults[name], origin) for name, value in lab.small_run.items()}
    if num_ranks is not None and NUM_RANKS in defaults:
        values[NUM_RANKS] = num_ranks
    values.update(given_values(given, defaults))
    return LabRun(
        name=lab.name,
        title=lab.title,
        notebook=notebook,
        parameters=dict(sorted(values.items())),
        num_ranks=int({**defaults, **values}.get(NUM_RANKS, 1)),
        time_limit_s=lab.resources.time_limit_min * 60,
    )


def read_defaults(notebook: Path) -> dict[str, Scalar]:
    """Return the default of each parameter in a notebook; refuse a default that is not a bool, number or text."""
    defaults: dict[str, Scalar] = {}
    for name, default, _ in parameters_of(read_notebook(notebook, notebook.stem)):
        try:
            value = ast.literal_eval(default)
        except (ValueError, SyntaxError):
            value = None
        if not isinstance(value, (bool, int, float, str)):
            raise CourseKitError(
                f"{notebook.name}: the default of parameter {name!r} is {default!r}; "
                "make it a single boolean, number or text, so that given values can be checked.",
                "parameter.default",
            )
        defaults[name] = value
    return defaults


def given_values(given: Mapping[str, str], defaults: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """Return the values that `-p` gives to one notebook's parameters; ignore the names of other notebooks' parameters.

    Raises:
        CourseKitError: a given value is not valid for its parameter.
    """
    values = {}
    for name in sorted(given.keys() & defaults.keys()):
        text, default = given[name], defaults[name]
        try:
            value = WORDS_FOR_BOOL[text.lower()] if isinstance(default, bool) else type(default)(text)
        except (KeyError, ValueError) as error:
            raise _wrong_type(name, text, default, "-p") from error
        values[name] = check(name, value, default, "-p")
    return values


def check(name: str, value: Scalar, default: Scalar, origin: str) -> Scalar:
    """Check that a parameter's value has the type of its default, and return it; an integer is accepted for a float.

    `origin` tells the user where the value comes from.

    Raises:
        CourseKitError: the type differs, or a number of ranks is out of range.
    """
    if type(value) is int and type(default) is float:
        value = float(value)
    if type(value) is not type(default) or (isinstance(value, float) and not math.isfinite(value)):
        raise _wrong_type(name, value, default, origin)
    if name == NUM_RANKS and not 1 <= int(value) <= MAX_RANKS:
        raise CourseKitError(f"{origin}: {name} is {value}, but must be from 1 to {MAX_RANKS}.", "ranks.out-of-range")
    return value


def list_names(names: Mapping[str, object]) -> str:
    """Return the names in order, separated by commas, for a message."""
    return ", ".join(sorted(names)) or "none"


def _wrong_type(name: str, value: object, default: Scalar, origin: str) -> CourseKitError:
    return CourseKitError(
        f"{origin}: {name} must be {EXAMPLES[type(default)]}, like its default {default!r}, not {value!r}.",
        "parameter.type",
    )
