"""A Horovod that is built with MPI alone, as by conda-forge and many centres, does the course's work.

It is the nearest thing to conda's environment that can be made here: Horovod compiled with no more changes than
TensorFlow 2.21 needs, its Python files as released, and the oldest nbgrader that environment.yml admits.
"""

import re

import pytest

from coursekit.labs.lab import find_labs
from coursekit.labs.needs import OTHERS
from coursekit.paths import find_root

from .conftest import made_checkout

pytestmark = pytest.mark.needs("git", "mpicc", "mpirun", "bwrap")
# One right answer of each lab; those from 02 to 06 do something of their own on ranks.
ANSWERS = {
    "01": "right-other-ways",
    "02": "right-root-1",
    "03": "right-evaluate-by-hand",
    "04": "rank-0-evaluates-alone",
    "05": "right-steps-by-allreduce",
    "06": "right-ring-of-its-own",
    "07": "right-limit-by-counting",
}
OLDEST_NBGRADER = "nbgrader==0.9.5"
AS_RELEASED = """
cd .venv/lib/python3*/site-packages/horovod/tensorflow/keras
sed -i "s/^    K = keras.backend/    from keras import backend as K/" __init__.py callbacks.py
test 2 = $(cat __init__.py callbacks.py | grep -c "^    from keras import backend as K")
"""


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    """A function that runs a program in a copy of this checkout with that Horovod; it must succeed."""
    with made_checkout(tmp_path_factory.mktemp("mpi-alone"), "HOROVOD=plain", "HOROVOD_WITHOUT_GLOO=1") as run:
        run(".venv/bin/python", "-m", "pip", "install", "--quiet", OLDEST_NBGRADER)
        run("sh", "-c", AS_RELEASED)
        yield run


def test_the_doctor_finds_it_ready(make):
    """Its table names MPI alone, and an allreduce between two ranks has worked."""
    said = make(".venv/bin/coursekit", "doctor")

    assert re.search(r"Horovod +good +0\.28\.1, with MPI *$", said, re.MULTILINE)
    assert re.search(r"Allreduce, 2 ranks +good ", said)


def test_all_solutions_have_full_points(make):
    """As by `make run`, which ends well only so; with the smallest network, as the speed is not asked for."""
    passed = re.findall(r"(\d\d-[\w-]+): passed", make(".venv/bin/coursekit", "run", "-p", "model", "SmallCNN"))

    assert passed == [lab.name for lab in find_labs(find_root()) if lab.framework not in OTHERS]


@pytest.mark.parametrize(("lab", "answer"), ANSWERS.items())
def test_right_answers_keep_their_points(make, lab, answer):
    """In the sandbox, where `mpirun` finds no network but the loopback."""
    assert "1 of 1 answers as expected" in make(".venv/bin/workshop", "answers", lab, "-k", answer)


def test_attacks_by_ranks_do_not_pay(make):
    """The command succeeds only if none of them earns a point or leaves a trace."""
    assert "ranks-one-leaves" in make(".venv/bin/workshop", "attacks", "-k", "ranks-")
