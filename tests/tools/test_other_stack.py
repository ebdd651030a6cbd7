"""The kit works with each TensorFlow that it can be made for: here with the one that is not in `.venv`."""

import re
from importlib.metadata import version

import pytest

from coursekit.labs.lab import find_labs
from coursekit.labs.needs import OTHERS
from coursekit.paths import find_root

from .conftest import made_checkout

OTHER = "2.21" if version("tensorflow-cpu").startswith("2.15") else "2.15"
pytestmark = pytest.mark.needs("git", "mpicc")


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    """A function that runs a program in a copy of this checkout, with the other TensorFlow; it must succeed."""
    with made_checkout(tmp_path_factory.mktemp("other-stack"), f"TENSORFLOW={OTHER}") as run:
        yield run


def test_the_environment_is_what_was_asked_for(make):
    """It has that TensorFlow, and Keras 2 in it."""
    ask = "import coursekit, tensorflow as tf; print(tf.__version__, hasattr(tf.keras, '__version__'))"
    found, is_keras_3 = make(".venv/bin/python", "-c", ask).split()

    assert (found.startswith(f"{OTHER}."), is_keras_3) == (True, "False")


def test_all_solutions_have_full_points(make):
    """As by `make run`, which ends well only so; with the smallest network, as the speed is not asked for."""
    passed = re.findall(r"(\d\d-[\w-]+): passed", make(".venv/bin/coursekit", "run", "-p", "model", "SmallCNN"))

    assert passed == [lab.name for lab in find_labs(find_root()) if lab.framework not in OTHERS]


def test_what_asks_for_the_version_works(make):
    """The modules that do one thing with one TensorFlow and another with the other pass their tests."""
    folders = ("tests/test_tensorflow.py", "tests/test_estimator.py")

    assert " passed" in make(".venv/bin/python", "-m", "pytest", "-q", *folders)
