"""A small lab with a warm slot for all tests of judging."""

import gc
import json
import os
import time

import nbformat
import pytest

from coursekit.grading.isolation import cgroups
from coursekit.grading.judge.slot import Slot, SubmissionLimits
from coursekit.grading.submission.cells import Cells
from coursekit.grading.submission.program import read_program
from coursekit.grading.submission.student_folder import Submission

IMPORTS = "import numpy as np\nfrom coursekit.checks import check, lab01_linear, lab02_pieces"
LOSS = "def loss(slope, offset, x, y):\n    return np.mean((slope * x + offset - y) ** 2)"
FACTS = """
import horovod.tensorflow as hvd

def rank_facts():
    hvd.init()
    return {"rank": hvd.rank(), "size": hvd.size(), "local_rank": hvd.local_rank()}
"""
LOSS_TESTS = "with check('loss', section='2'):\n    lab01_linear.check_loss(loss)"
FACTS_TESTS = """
with check('rank facts', section='1'):
    lab02_pieces.check_rank_facts(rank_facts, num_ranks=4, ranks_per_node=2)
"""
ANSWER = "answer"
CELLS = {
    "imports": (IMPORTS, None),
    "loss": (LOSS, ANSWER),
    "facts": (FACTS, ANSWER),
    "loss-tests": (LOSS_TESTS, 2),
    "facts-tests": (FACTS_TESTS, 1),
}
# Files with the limit of a control group, of which a machine has one: of version 1, and of version 2.
LIMITS = {
    "memory": ("memory.limit_in_bytes", "memory.max"),
    "pids": ("pids.max",),
    "cpu": ("cpu.cfs_quota_us", "cpu.max"),
}
GONE_S = 60


def _cell(name, source, role):
    made = nbformat.v4.new_code_cell(source, id=name)
    if role is not None:
        grade = role != ANSWER
        made.metadata["nbgrader"] = {"grade_id": name, "solution": not grade, "grade": grade, "schema_version": 3}
        made.metadata.nbgrader.update({"points": role} if grade else {})
    return made


@pytest.fixture(scope="session")
def small_lab():
    """The source notebook of a lab with two answers."""
    return nbformat.v4.new_notebook(cells=[_cell(name, *cell) for name, cell in CELLS.items()])


@pytest.fixture(scope="session")
def program(small_lab):
    """The small lab in two parts."""
    return read_program("01-small", small_lab)


@pytest.fixture(scope="module")  # not longer: other folders' tests ask whether anything of a grader still runs
def slot():
    """A warm slot with tight limits."""
    with Slot(limits=SubmissionLimits(notebook_s=60, cell_s=5, memory_gb=2)) as warm:
        with warm.submission():  # starts it here, so that no test has left its processes
            pass
        yield warm


@pytest.fixture
def work():
    """Return a function that makes a student's work: the solution, with some answers changed."""
    sources = {name: source for name, (source, role) in CELLS.items() if role == ANSWER}

    def make(*extra, **changes):
        cells = {name: source for name, source in {**sources, **changes}.items() if source is not None}
        return Submission("ada", "01-small", cells=Cells(cells, extra))

    return make


@pytest.fixture
def in_fork():
    """Return a function that calls another one in a fork of this process, and returns what that returns, plain data."""

    def call(function):
        listen, tell = os.pipe()
        if (pid := os.fork()) == 0:
            gc.disable()  # it would copy this process's memory into the fork's group
            try:
                os.write(tell, json.dumps(function()).encode())
            except BaseException as error:  # noqa: BLE001  # the test tells it
                os.write(tell, json.dumps(repr(error)).encode())
            finally:
                os._exit(0)
        os.close(tell)
        with os.fdopen(listen, "rb") as said:
            text = said.read()
        os.waitpid(pid, 0)
        return json.loads(text)

    return call


@pytest.fixture
def limited():
    """Return a function that makes a control group with limits by controller, and returns how a process enters it.

    It may be called again for a group in that group.
    """
    if os.getuid() != 0:
        pytest.skip("only root can make control groups")
    tops = {controller: cgroups.folders(controller)[-1] for controller in LIMITS}
    made = []

    def make(**limits):
        for controller, limit in limits.items():
            tops[controller] /= f"coursekit-test-{os.getpid()}"
            tops[controller].mkdir()
            made.append(tops[controller])
            [file] = [file for name in LIMITS[controller] if (file := tops[controller] / name).exists()]
            file.write_text(str(limit))
        entered = [tops[controller] / "cgroup.procs" for controller in limits]
        return lambda: [file.write_text(str(os.getpid())) for file in entered]

    yield make
    deadline_s = time.monotonic() + GONE_S
    for folder in reversed(made):
        while (folder / "cgroup.procs").read_text() and time.monotonic() < deadline_s:
            time.sleep(0.05)  # until the kernel has buried what ran in it
        folder.rmdir()


def pytest_collection_modifyitems(items):
    """Mark what uses a real sandbox."""
    for item in items:
        sandboxed = {"slot", "sandbox", "own_sandbox", "ordinary_sandbox"} & {*getattr(item, "fixturenames", ())}
        if sandboxed and "grading" in item.path.parts:
            item.add_marker(pytest.mark.needs("bwrap"))
