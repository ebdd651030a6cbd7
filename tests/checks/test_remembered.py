"""A trial remembers what it tried: another definition of it, or of what it uses, is noticed."""

from __future__ import annotations

import pytest
from IPython.core.interactiveshell import InteractiveShell

from coursekit.checks import CheckError, check, trial
from coursekit.checks.remembered import remember

FIRST = """\
import numpy as np
rate = 0.5
size = 3
def step(x):
    return [x.size - rate * y for y in x]
class Recorder:
    def record(self):
        return 1
def train(x):
    return Recorder().record() + step(x)
"""


@pytest.fixture
def notebook():
    """Return a shell in which the first cell has run."""
    shell = InteractiveShell()
    shell.user_module.__name__ = "__main__"
    shell.user_ns["__name__"] = "__main__"
    shell.run_cell(FIRST)
    return shell


@pytest.mark.parametrize(
    "cell",
    [
        "def train(x):\n    return 2 * step(x)",
        "def train(x, scale=2):\n    return Recorder().record() + step(x)",
        "def step(x):\n    return [x.size - 2 * rate * y for y in x]",
        "class Recorder:\n    def record(self):\n        return 2",
        "rate = 0.25",
    ],
)
def test_another_definition_is_noticed(notebook, cell):
    """Of the function, its defaults, a function or class that it uses, or a number."""
    changed = remember(notebook.user_ns["train"], 3, "text")
    notebook.run_cell(cell)

    assert changed() == "train"


@pytest.mark.parametrize(
    "cell", [FIRST, "# words\n\n" + FIRST.replace("\nclass", "\n# more\nclass"), "size = 4", "x = 1"]
)
def test_the_same_again_is_no_change(notebook, cell):
    """Cells that run again, comments, and names that only look alike change nothing."""
    changed = remember(notebook.user_ns["train"])
    notebook.run_cell(cell)

    assert changed() == ""


def test_a_check_of_a_trial_says_that_the_function_is_another_one_now():
    """A ✓ on a training that is no longer there would be worth nothing."""
    tried = trial.Trial(1, {"real": [0]}, changed=lambda: "train_horovod")
    with pytest.raises(CheckError) as caught, check("same start", section="4"):
        tried.history("real")

    assert str(caught.value) == (
        "same start: train_horovod was changed after its trial: "
        "run the cell of the trial again, then this one → section 4"
    )
