"""The kit does the course's work on the stack that is furthest from `.venv`, as conda and many centres have it.

That is the other TensorFlow, the Horovod that was released, built with MPI alone, and the oldest nbgrader that
environment.yml admits. Horovod's released Python files beside the newer TensorFlow: tests/test_tensorflow.py;
MPI beside the newer TensorFlow: tests/ranks/test_mpi.py.
"""

import re
from importlib.metadata import version

import pytest

from .conftest import made_checkout

OTHER = "2.21" if version("tensorflow-cpu").startswith("2.15") else "2.15"
OLDEST_NBGRADER = "nbgrader==0.9.5"
# Labs that do most on ranks; 01 and 07 hardly use any, and of 05, mostly TensorFlow's pipelines, an answer is graded.
ON_RANKS = ("02-horovod-sgd", "03-keras-cnn", "04-estimator-cnn", "06-between-ranks")
# One right answer of each lab that uses ranks; each does something of its own on them.
ANSWERS = {
    "02": "right-root-1",
    "03": "right-evaluate-by-hand",
    "04": "rank-0-evaluates-alone",
    "05": "right-steps-by-allreduce",
    "06": "right-ring-of-its-own",
}
pytestmark = pytest.mark.needs("git", "mpicc", "mpirun", "bwrap")


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    """A function that runs a program in a copy of this checkout with that stack; it must succeed."""
    settings = (f"TENSORFLOW={OTHER}", "HOROVOD=plain", "HOROVOD_WITHOUT_GLOO=1")
    with made_checkout(tmp_path_factory.mktemp("other-stack"), *settings) as run:
        run(".venv/bin/python", "-m", "pip", "install", "--quiet", OLDEST_NBGRADER)
        yield run


def test_the_environment_is_what_was_asked_for(make):
    """It has that TensorFlow, and Keras 2 in it."""
    ask = "import coursekit, tensorflow as tf; print(tf.__version__, hasattr(tf.keras, '__version__'))"
    found, is_keras_3 = make(".venv/bin/python", "-c", ask).split()

    assert (found.startswith(f"{OTHER}."), is_keras_3) == (True, "False")


def test_the_doctor_finds_it_ready(make):
    """Its table names MPI alone, and an allreduce between two ranks has worked."""
    said = make(".venv/bin/coursekit", "doctor")

    assert re.search(r"Horovod +good +0\.28\.1, with MPI *$", said, re.MULTILINE)
    assert re.search(r"Allreduce, 2 ranks +good ", said)


def test_solutions_have_full_points(make):
    """As by `make run`, which ends well only so; with the smallest network, as the speed is not asked for."""
    said = make(".venv/bin/coursekit", "run", *ON_RANKS, "-p", "model", "SmallCNN")

    assert re.findall(r"(\d\d-[\w-]+): passed", said) == [*ON_RANKS]


def test_what_asks_for_the_version_works(make):
    """The modules that do one thing with one TensorFlow and another with the other pass their tests."""
    folders = ("tests/test_tensorflow.py", "tests/test_estimator.py")

    assert " passed" in make(".venv/bin/python", "-m", "pytest", "-q", *folders)


@pytest.mark.parametrize(("lab", "answer"), ANSWERS.items())
def test_right_answers_keep_their_points(make, lab, answer):
    """In the sandbox, where `mpirun` finds no network but the loopback."""
    assert "1 of 1 answers as expected" in make(".venv/bin/workshop", "answers", lab, "-k", answer)


def test_an_attack_by_ranks_does_not_pay(make):
    """The command succeeds only if it earns no point and leaves no trace, whatever MPI makes of a rank that ends."""
    assert "ranks-all-leave" in make(".venv/bin/workshop", "attacks", "-k", "ranks-all-leave")
