"""Check whether the framework of a lab is installed; the course's own installation does not include PyTorch."""

from collections.abc import Callable, Sequence
from importlib.util import find_spec

from coursekit.errors import CourseKitError
from coursekit.labs.lab import Lab

# The frameworks that the course does not install: for each, its usual name, and how to get it.
OTHERS = {"torch": ("PyTorch", "run `make torch`, or see docs/install.md#pytorch")}


def lacking(lab: Lab) -> str:
    """Return a sentence that names the framework which this lab needs and this Python lacks; '' if the lab can run."""
    if lab.framework not in OTHERS or find_spec(lab.framework):
        return ""
    called, remedy = OTHERS[lab.framework]
    return f"{lab.name} needs {called}, which is not installed here: {remedy}. [framework.missing]"


def runnable(labs: Sequence[Lab], names: Sequence[str], say: Callable[[str], object]) -> tuple[Lab, ...]:
    """Return the labs that can run here; call `say` with a sentence for each lab that cannot.

    Raises:
        CourseKitError: a lab that cannot run was requested by name.
    """
    missing = {lab.name: sentence for lab in labs if (sentence := lacking(lab))}
    for sentence in missing.values():
        if names:
            raise CourseKitError(sentence)
        say(sentence)
    return tuple(lab for lab in labs if lab.name not in missing)
