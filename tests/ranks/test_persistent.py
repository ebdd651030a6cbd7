"""Persistent ranks: variables from cell to cell, and a notebook that goes on whatever a cell does."""

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from coursekit import ranks
from coursekit.corrected_time import threads_of
from coursekit.errors import Interrupted, codes_in
from coursekit.ranks import fork_client, persistent
from coursekit.ranks.forked_rank import execute

SETUP = "import horovod.tensorflow as hvd, numpy as np\nhvd.init()\nrank = hvd.rank()"
SUM = "float(hvd.allreduce(np.float32(10.0 ** rank), op=hvd.Sum).numpy())"
NUM_CELLS, NUM_STARTS = 300, 10
MIB = 1 << 20
LOST = "persistent-ranks.lost"


@pytest.fixture(autouse=True)
def _nothing_stays():
    """End what a test leaves."""
    yield
    persistent.stop()


@pytest.fixture
def cell():
    """Start two persistent ranks; return a function that runs a cell and gives the values of their last lines."""
    there = ranks.start(2)

    def run(source, **settings):
        return [shown["value"] for shown in there.cell(execute, source, "<a cell>", **settings)]

    run(SETUP)
    return run


def refusal(cell, source):
    """Return the codes of what is said of a cell that fails, the first cause first, and all of it."""
    with pytest.raises((ranks.RankError, Interrupted)) as caught:
        cell(source)
    return codes_in(str(caught.value)), str(caught.value)


def test_variables_stay_and_ranks_talk(cell):
    """What one cell sets the next one reads, on each rank its own, and collectives join them; fresh ones run beside."""
    cell("mine = rank * 3")
    assert ranks.run(abs, -3) == [3, 3]
    assert cell("mine") == ["0", "3"]
    assert cell(SUM) == ["11.0", "11.0"]
    assert cell("_") == ["11.0", "11.0"]


def test_a_cell_may_be_for_some_ranks(cell):
    """The others keep what they have."""
    cell("mine = 5", ranks=[1])
    assert cell("'mine' in globals()") == ["False", "True"]
    with pytest.raises(ValueError, match="expected ranks from 0 to 1, got 2"):
        cell("1", ranks=[2])


def test_what_is_pushed_is_pulled(cell):
    """Arrays and functions travel; a name that a rank does not have is told with its rank."""
    ranks.push(table=np.arange(4), double=lambda number: 2 * number)
    cell("mine = double(table[rank:].sum())")
    assert ranks.pull("mine") == [12, 12]
    np.testing.assert_array_equal(ranks.pull("table"), [np.arange(4)] * 2)
    assert "NameError: name 'nothing'" in refusal(ranks.pull, "nothing")[1]


def test_what_has_a_seed_of_its_own_is_alike(cell):
    """As in any program: ranks shuffle alike where the shuffle has a seed, and differently where nothing has."""
    cell("import random\nimport tensorflow as tf")
    numbers = "tf.random.uniform([3], {}).numpy().tolist()"
    one, other = cell(numbers.format("seed=7"))
    assert one == other
    for draw in (numbers.format(""), "np.random.rand()", "random.random()"):
        one, other = cell(draw)
        assert one != other
    with ranks.start(2, seed=1) as seeded:
        one, other = seeded.cell(execute, f"import tensorflow as tf\n{numbers.format('seed=7')}", "<a cell>")
    assert one != other


def test_after_a_failure_everywhere_the_ranks_stay(cell):
    """The first cause is shown, and variables are kept."""
    cell("mine = rank")
    codes, said = refusal(cell, "1 / mine if rank == 0 else mine")
    assert (codes, "ZeroDivisionError" in said) == (["rank.raised"], True)
    assert cell("mine") == ["0", "1"]
    assert cell(SUM) == ["11.0", "11.0"]


def test_who_waits_for_a_rank_that_failed_is_ended(cell):
    """Nothing reaches a rank inside a collective: all are ended, the cause is told, and new ones can be started."""
    codes, said = refusal(cell, "if rank == 0:\n    raise ValueError('own words')\nhvd.allreduce(np.zeros(1))")
    assert (codes, "own words" in said) == (["rank.raised", LOST], True)
    assert refusal(cell, "1")[0] == [LOST]
    persistent.required().restart()
    cell(SETUP)
    assert cell(SUM) == ["11.0", "11.0"]


def test_who_sleeps_after_a_failure_comes_back(cell):
    """A rank that waits without need is interrupted, and all stay."""
    codes, _ = refusal(cell, "import time\nif rank == 0:\n    raise ValueError('own words')\ntime.sleep(900)")
    assert codes == ["rank.raised"]
    assert cell("rank") == ["0", "1"]


@pytest.mark.parametrize(
    ("source", "place"),
    [
        pytest.param("if rank == 0:\n    hvd.broadcast(np.zeros(1), 0)", "waits in hvd.broadcast", id="eager"),
        pytest.param(
            "import tensorflow as tf\nif rank == 0:\n    tf.function(hvd.allreduce)(tf.ones(1))",
            "is inside a compiled TensorFlow step",
            id="compiled",
        ),
    ],
)
def test_a_deadlock_is_found(cell, source, place):
    """A rank that has finished comes into no collective, whether another one waits in plain or in compiled code."""
    codes, said = refusal(cell, source)
    assert codes == ["ranks.deadlock", LOST]
    assert f"rank 0 {place}" in said


def test_a_rank_that_dies_is_told(cell):
    """Also when it dies between two cells."""
    os.kill(persistent.required().cell(lambda _: os.getpid())[1], signal.SIGKILL)
    codes, _ = refusal(cell, "import time\ntime.sleep(900)")
    assert codes == ["rank.killed", LOST]


def interrupted(cell, source):
    """Return what is said of a cell that is interrupted once its ranks have begun."""
    pids = persistent.required().cell(lambda _: os.getpid())

    def num_timeslices():
        return [threads_of(pid)[pid].num_timeslices for pid in pids]

    def wait_and_interrupt():
        while not all(Path(f"began-{pid}").exists() for pid in pids):
            time.sleep(0.1)
        before = []
        # A rank that had no timeslice in a second, and is not in the queue for one, has come to where it waits.
        while before != (before := num_timeslices()) or any(psutil.Process(pid).status() != "sleeping" for pid in pids):
            time.sleep(1)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=wait_and_interrupt)
    thread.start()
    try:
        return refusal(cell, f"import os, time\nopen(f'began-{{os.getpid()}}', 'w').close()\n{source}")
    finally:
        thread.join()


@pytest.fixture
def _there(tmp_path, monkeypatch, cell):
    """Let ranks stay in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    persistent.required().restart()
    cell(SETUP)


@pytest.mark.usefixtures("_there")
def test_an_interrupt_keeps_the_variables_but_of_who_waits_in_a_collective(cell):
    """Ranks that compute or sleep come back; else the message says where they stood, and new ones can be started."""
    assert interrupted(cell, "time.sleep(900)")[0] == ["cell.interrupted"]
    assert cell("rank") == ["0", "1"]
    for began in Path().glob("began-*"):
        began.unlink()
    codes, said = interrupted(cell, "if rank == 0:\n    time.sleep(900)\nhvd.allreduce(np.zeros(1))")
    assert (codes, "rank 1 waits in hvd.allreduce" in said) == (["ranks.interrupted", LOST], True)
    persistent.required().restart()
    assert cell("1 + 1") == ["2", "2"]


def test_nothing_grows(cell):
    """Many cells, starts and stops leave as many processes and open files as one, and no memory to speak of."""
    me = psutil.Process()

    def counts():
        return me.num_fds(), len(me.children(recursive=True))

    def memory():
        return [psutil.Process(pid).memory_info().rss for pid in persistent.required().cell(lambda _: os.getpid())]

    before = counts()
    cell("1")
    used = memory()
    for _ in range(NUM_CELLS):
        cell("1 + 1")
    assert counts() == before
    assert max(now - then for now, then in zip(memory(), used)) < 8 * MIB
    for _ in range(NUM_STARTS):
        ranks.start(2)
    assert counts() == before
    persistent.stop()
    assert psutil.Process(fork_client.shared.get().pid).children(recursive=True) == []


def test_with_stops_them():
    """At the end of a block they are gone, and the server serves runs again."""
    with ranks.start(2) as there:
        pids = there.cell(lambda _: os.getpid())
    assert not any(map(psutil.pid_exists, pids))
    assert ranks.run(abs, -3) == [3, 3]
