"""A small lab for the tests of grading: two answers, three tests, one picture."""

import textwrap

import pytest

from coursekit.labs.build.build import build_sources
from coursekit.labs.lab import select_labs

from ...made_labs import add_lab

LAB = '''
# %% [markdown] role="readonly" id="intro"
# # A small lab

# %%
import sys
from pathlib import Path

# %% role="answer" id="shard"
def shard(x, rank, size):
    """Return the part of `x` that belongs to this rank (about 1 line)."""
    ### BEGIN SOLUTION
    return x[rank::size]
    ### END SOLUTION

# %% role="answer" id="mean"
def mean(x):
    """Return the mean of `x` (about 1 line)."""
    ### BEGIN SOLUTION
    return sum(x) / len(x)
    ### END SOLUTION

# %% tags=["picture"]
raise RuntimeError("drawing takes long and nothing depends on it")

# %% role="tests" id="shard-tests" points=2
parts = [shard(list(range(6)), rank, 2) for rank in range(2)]
### BEGIN HIDDEN TESTS
assert not set(parts[0]) & set(parts[1]), "the shards of two ranks must be disjoint"
### END HIDDEN TESTS
assert sorted(parts[0] + parts[1]) == list(range(6)), "the shards together must be complete"

# %% role="tests" id="mean-tests" points=1
assert mean([1, 2, 6]) == 3, "the mean of 1, 2 and 6 is 3"

# %% role="tests" id="path-tests" points=0.5
assert Path("a", "b").name == "b", "what the lab imports, its tests can use"
'''


@pytest.fixture(scope="session")
def make_course():
    """Return a function that makes a checkout with one lab, and returns it with the lab's source notebook."""

    def make(root):
        add_lab(root, "01-small", LAB)
        return root, build_sources(root, select_labs(root, ["01"]))["01-small"]

    return make


@pytest.fixture
def course(tmp_path, monkeypatch, make_course):
    """A checkout with one lab, found by every command."""
    root, _ = make_course(tmp_path / "course")
    monkeypatch.setenv("COURSEKIT_ROOT", str(root))
    return root


@pytest.fixture
def source(course):
    """The source notebook of the small lab."""
    return course / "build" / "source" / "01-small" / "01-small.ipynb"


@pytest.fixture
def bank(course):
    """A folder for answers to the small lab, and a function that writes a file of them: for `mean` or `shard`."""
    folder = course / "tests" / "answers" / "01-small"
    folder.mkdir(parents=True)

    def write(name, text):
        path = folder / f"{name}.py"
        path.write_text(textwrap.dedent(text))
        return path

    write.folder = folder
    return write
