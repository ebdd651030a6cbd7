"""`make test-horovod` runs tests on real ranks, and tells on which of them one failed."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# In the style of Horovod's own.
TESTS = """\
import unittest

import horovod.tensorflow as hvd
import tensorflow as tf


class ParallelTests(unittest.TestCase):
    def test_sum(self):
        hvd.init()
        total = hvd.allreduce(tf.constant(hvd.rank() + 1.0), op=hvd.Sum)
        self.assertEqual(float(total), hvd.size() * (hvd.size() + 1) / 2)

    def test_same_rank(self):
        hvd.init()
        self.assertEqual(hvd.rank(), 0)
"""


def run(folder, *words):
    """Return what the program says, and its exit status."""
    program = [sys.executable, str(ROOT / "tools" / "horovod_tests.py"), str(folder), *words]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr, done.returncode


@pytest.mark.parametrize(
    ("words", "how"), [((), ""), pytest.param(("--mpi",), " with MPI", marks=pytest.mark.needs("mpirun", "mpicc"))]
)
def test_each_rank_runs_the_file(tmp_path, words, how):
    """A test that holds on rank 0 only is counted there as passed, and told where it failed."""
    (tmp_path / "test_both.py").write_text(TESTS)

    said, status = run(tmp_path, "test_both.py", "--ranks", "2", *words)

    assert f"test_both.py on 2 ranks{how} … rank 0: 2 passed; rank 1: 1 failed, 1 passed" in said
    assert "[1] test_both.py::ParallelTests::test_same_rank" in said
    assert "AssertionError: 1 != 0" in said
    assert status == 1


def test_what_no_library_can_pass_is_left_out(tmp_path):
    """Products of more than two random numbers are not compared; all other tests are run."""
    products = TESTS.replace("test_same_rank", "test_horovod_allreduce_product_cpu")
    (tmp_path / "test_both.py").write_text(products)

    on_two, on_three = (run(tmp_path, "test_both.py", "--ranks", number) for number in ("2", "3"))

    assert "rank 1: 1 failed, 1 passed" in on_two[0]
    assert "rank 0: 1 passed; rank 1: 1 passed; rank 2: 1 passed" in on_three[0]
    assert (on_two[1], on_three[1]) == (1, 0)


def test_a_folder_without_them_is_told(tmp_path):
    """The tests are not ours to ship: the sentence says where they are."""
    said, status = run(tmp_path)

    assert "name the folder test/parallel of Horovod 0.28.1's repository" in said
    assert status == 2
