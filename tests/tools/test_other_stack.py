"""The kit works with each TensorFlow that it can be made for: here with the one that is not in `.venv`."""

import os
import re
import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest

from coursekit.labs.lab import find_labs
from coursekit.labs.needs import OTHERS

ROOT = Path(__file__).parents[2]
OTHER = "2.21" if version("tensorflow-cpu").startswith("2.15") else "2.15"
LIMIT_S = 3000  # of a command that hangs; a busy machine compiles Horovod for half an hour

pytestmark = pytest.mark.needs("git", "mpicc")


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    """A function that runs a program in a copy of this checkout, with the other TensorFlow; it must succeed."""
    folder = tmp_path_factory.mktemp("other-stack") / "checkout"
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).exists():  # not deleted, and not committed yet
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)

    def run(*command):
        # Nothing of the run around this one.
        environ = {name: value for name, value in os.environ.items() if not re.match("PYTEST|TENSORFLOW", name)}
        done = subprocess.run(
            command, cwd=folder, env=environ, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    run("make", "env", f"TENSORFLOW={OTHER}")
    yield run
    shutil.rmtree(folder)  # it has a gigabyte


def test_the_environment_is_what_was_asked_for(make):
    """It has that TensorFlow, and Keras 2 in it."""
    ask = "import coursekit, tensorflow as tf; print(tf.__version__, hasattr(tf.keras, '__version__'))"
    found, is_keras_3 = make(".venv/bin/python", "-c", ask).split()

    assert (found.startswith(f"{OTHER}."), is_keras_3) == (True, "False")


def test_all_solutions_have_full_points(make):
    """As by `make run`, which ends well only so; with the smallest network, as the speed is not asked for."""
    passed = re.findall(r"(\d\d-[\w-]+): passed", make(".venv/bin/coursekit", "run", "-p", "model", "SmallCNN"))

    assert passed == [lab.name for lab in find_labs(ROOT) if lab.framework not in OTHERS]


def test_what_asks_for_the_version_works(make):
    """The modules that do one thing with one TensorFlow and another with the other pass their tests."""
    folders = ("tests/test_tensorflow.py", "tests/test_estimator.py", "tests/ranks/test_memory_logger.py")

    assert " passed" in make(".venv/bin/python", "-m", "pytest", "-q", *folders)
