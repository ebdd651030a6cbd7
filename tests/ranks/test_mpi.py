"""Ranks that join by MPI: as with Gloo, by a real `mpirun` that starts no rank itself."""

import os
import sys

import cloudpickle
import numpy as np
import psutil
import pytest

from coursekit import ranks
from coursekit.ranks.fork_client import shared
from coursekit.ranks.horovod_build import CONTROLLER_VARIABLE

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules
pytestmark = pytest.mark.needs("mpirun")


@pytest.fixture
def environ(monkeypatch):
    """Set variables for servers that start from now on; by MPI join the ranks of those that start here."""

    def use(**variables):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        shared.close()

    use(**{CONTROLLER_VARIABLE: "mpi"})
    yield use
    monkeypatch.undo()
    shared.close()


def place_and_sum():
    """Return where Horovod and MPI say this rank is, and the sum over ranks of 10 ** rank."""
    import horovod.tensorflow as hvd

    hvd.init()
    place = hvd.rank(), hvd.size(), hvd.local_rank(), hvd.local_size(), hvd.cross_rank(), hvd.cross_size()
    total = float(hvd.allreduce(np.float32(10.0 ** hvd.rank()), op=hvd.Sum).numpy())
    return *place, os.environ["OMPI_COMM_WORLD_RANK"], hvd.mpi_enabled(), total


def test_ranks_are_where_pretended_nodes_put_them(environ):
    """Five on nodes of two, then two on one: MPI and Horovod agree, and nothing of a launcher is left afterwards."""
    del environ
    five = [(0, 5, 0, 2, 0, 3), (1, 5, 1, 2, 0, 2), (2, 5, 0, 2, 1, 3), (3, 5, 1, 2, 1, 2), (4, 5, 0, 1, 2, 3)]
    two = [(0, 2, 0, 2, 0, 1), (1, 2, 1, 2, 0, 1)]

    found = ranks.run(place_and_sum, num_ranks=5, ranks_per_node=2), ranks.run(place_and_sum)
    left = psutil.Process(shared.get().pid).children(recursive=True)

    assert found == tuple(
        [(*place, str(place[0]), True, total) for place in places] for places, total in ((five, 11111.0), (two, 11.0))
    )
    assert left == []


def fail_or_die(what):
    """On rank 1 raise an error, or end without a word, while rank 0 waits for it."""
    import horovod.tensorflow as hvd

    hvd.init()
    if hvd.rank() == 1 and what == "fail":
        raise ValueError("own words")
    if hvd.rank() == 1:
        os._exit(3)
    hvd.allreduce(np.zeros(1))


def test_a_rank_that_fails_or_dies_is_named(environ):
    """As with Gloo; the next run is not disturbed."""
    del environ
    for what, code in (("fail", "rank.raised"), ("die", "rank.ended")):
        with pytest.raises(ranks.RankError) as caught:
            ranks.run(fail_or_die, what)
        assert (caught.value.code, caught.value.rank) == (code, 1)
    assert [place[:2] for place in ranks.run(place_and_sum)] == [(0, 2), (1, 2)]


def wait_in_two_collectives():
    """Call another collective on each rank."""
    import horovod.tensorflow as hvd

    hvd.init()
    if hvd.rank() == 0:
        hvd.broadcast(np.zeros(1), root_rank=0)
    hvd.allgather(np.zeros(1))


def test_a_deadlock_is_certain_although_mpi_polls(environ):
    """Horovod's own thread never rests, and main threads that wait in collectives of two kinds tell all the same."""
    del environ
    with pytest.raises(ranks.RankTimeoutError, match=r"rank 0 waits in hvd\.broadcast") as caught:
        ranks.run(wait_in_two_collectives, timeout_s=600)
    assert caught.value.code == "ranks.deadlock"


def remember(namespace):
    """Join, and keep the place."""
    namespace["place"] = place_and_sum()[:2]


def add_up(namespace):
    """Return the sum of what the cell before has kept."""
    import horovod.tensorflow as hvd

    return float(hvd.allreduce(np.float32(namespace["place"][0] + 1), op=hvd.Sum).numpy())


def test_persistent_ranks_stay_joined(environ):
    """One cell joins, the next one exchanges."""
    del environ
    with ranks.start(3) as there:
        there.cell(remember)
        assert there.cell(add_up) == [6.0] * 3


def test_without_mpirun_one_sentence_says_what_to_do(environ, tmp_path):
    """No rank is started, and none is waited for."""
    environ(PATH=str(tmp_path))
    with pytest.raises(ranks.RankError) as caught:
        ranks.run(place_and_sum)
    assert caught.value.code == "mpi.no-mpirun"


OTHERS_MPIRUN = """\
#!/bin/sh
shift 2
PMI_RANK=0 "$@" &
PMI_RANK=1 "$@" &
wait
"""


def test_the_mpirun_of_another_mpi_is_refused(environ, tmp_path):
    """Each rank would be alone in the world of its MPI, as rank 0 of 1, and train by itself."""
    program = tmp_path / "mpirun"
    program.write_text(OTHERS_MPIRUN)
    program.chmod(0o755)
    environ(PATH=f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(ranks.RankError) as caught:
        ranks.run(place_and_sum)
    assert caught.value.code == "mpi.other-launcher"


def test_a_controller_that_is_not_built_is_refused(environ):
    """The sentence names the variable that asks for it, and what there is."""
    environ(**{CONTROLLER_VARIABLE: "nccl"})
    with pytest.raises(ranks.RankError) as caught:
        ranks.run(place_and_sum)
    assert caught.value.code == "controller.not-built"
    assert "nccl" in str(caught.value)
