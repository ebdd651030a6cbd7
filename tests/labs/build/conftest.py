"""Small courses written on the spot."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from coursekit.labs.lab import Lab, load_lab

from ...made_labs import add_lab

# One cell of each kind. The answer doubles a number, which its tests know too.
EXAMPLE = """\
# %% [markdown] role="readonly" id="intro"
# # Doubling
#
# Write a function.

# %% tags=["parameters"]
num_epochs = 1

# %% role="answer" id="double"
def double(number):
    # about 2 lines
    ### BEGIN SOLUTION
    twice = number + number
    return twice
    ### END SOLUTION

# %% role="tests" id="double-tests" points=2
assert double(2) == 4
### BEGIN HIDDEN TESTS
assert double(21) == 42
### END HIDDEN TESTS

# %%
# %%time
print(double(1))

# %% [markdown] role="manual" id="explain" points=0.5
# Why is it right?
#
# ### BEGIN SOLUTION
# Because addition does it.
# ### END SOLUTION
"""

# A lab with a script: rank r adds up its own numbers over some steps, then all ranks do together.
SCRIPT_EXAMPLE = """\
# %% [markdown] role="readonly" id="intro"
# # Lab 05: Sums "on" ranks

# %% tags=["parameters"]
num_ranks = 2  # the launcher's business
num_steps = 3  # of each rank, 100 %
rate = 0.5
# What to call it.
title = "sums"  # or 'a "better" name'
fast = False  # skip the first step

# %% role="readonly" id="imports" tags=["script"]
# %matplotlib inline
import horovod.tensorflow as hvd
import numpy as np

# %% role="readonly" id="notebook-imports"
from coursekit import ranks

# %% role="answer" id="own-sum" tags=["script"]
def own_sum(rank):
    \"""Return the sum over this rank's steps.\"""
    # about 2 lines
    ### BEGIN SOLUTION
    steps = range(1 if fast else 0, num_steps)
    return sum(rate * (rank + step) for step in steps)
    ### END SOLUTION

# %% role="tests" id="own-sum-tests" points=1
assert own_sum(0) == 1.5

# %% role="answer" id="all-sums" tags=["script"]
def all_sums(numbers):
    # about 1 line
    ### BEGIN SOLUTION
    return hvd.allreduce(numbers, op=hvd.Sum).numpy()
    ### END SOLUTION

# %% role="readonly" id="main" tags=["script"]
def main():
    hvd.init()
    numbers = np.array([own_sum(hvd.rank()), 1.0])
    return {"title": title, "numbers": all_sums(numbers), "size": hvd.size(), "first": np.float32(numbers[0])}

# %%
print(ranks.run(main, num_ranks=num_ranks))
"""


@dataclass(frozen=True)
class Course:
    """A checkout under construction."""

    root: Path

    def add_lab(self, name: str, text: str = EXAMPLE) -> Lab:
        """Write the lab `name` with this source, or write it anew."""
        add_lab(self.root, name, text, title=name[3:].title())
        return load_lab(self.root / "solutions" / name)

    def files(self, folder: str) -> dict[str, bytes]:
        """Return every file below a folder of the checkout: path within the folder to content."""
        top = self.root / folder
        return {path.relative_to(top).as_posix(): path.read_bytes() for path in top.rglob("*") if path.is_file()}


@pytest.fixture
def new_course(tmp_path):
    """Return a function that makes an empty checkout in a folder of its own."""

    def make(name: str) -> Course:
        root = tmp_path / name
        (root / "solutions").mkdir(parents=True)
        (root / "pyproject.toml").touch()
        return Course(root)

    return make


@pytest.fixture
def course(new_course) -> Course:
    """Return an empty checkout."""
    return new_course("course")


@pytest.fixture
def example() -> str:
    """Return the text of a lab with a cell of each kind."""
    return EXAMPLE


@pytest.fixture
def script_example() -> str:
    """Return the text of a lab with a script."""
    return SCRIPT_EXAMPLE
