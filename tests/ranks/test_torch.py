"""Ranks that `torch.distributed` joins: of a server that has PyTorch imported, and nothing of TensorFlow."""

import os
import sys

import cloudpickle
import pytest

from coursekit import ranks
from coursekit.framework import VARIABLE
from coursekit.ranks.launched_script import place_torch

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules

pytestmark = pytest.mark.needs("torch")


@pytest.fixture(autouse=True)
def _torch(monkeypatch):
    """Let ranks be of PyTorch; the test after has its own server again."""
    monkeypatch.setenv(VARIABLE, "torch")


def joined():
    """Return the sum of all ranks' numbers, this rank's local rank, a random number, and which frameworks are there."""
    import torch
    import torch.distributed as dist

    dist.init_process_group("gloo")
    own = torch.tensor(float(dist.get_rank() + 1))
    dist.all_reduce(own)
    imported = sorted({"torch", "tensorflow", "horovod"} & {*sys.modules})
    return float(own), dist.get_node_local_rank(), float(torch.rand(1)), imported


def test_ranks_are_joined_and_have_pytorch_alone():
    """All hear of all; each knows its place on its node and draws numbers of its own, which a seed repeats."""
    first, again = (ranks.run(joined, num_ranks=3, ranks_per_node=2, seed=5) for _ in range(2))
    assert first == again
    assert [(total, local) for total, local, *_ in first] == [(6.0, 0), (6.0, 1), (6.0, 0)]
    assert len({number for *_, number, _ in first}) == 3
    assert {tuple(imported) for *_, imported in first} == {("torch",)}


def one_leaves():
    """Rank 0 waits for a rank that has finished."""
    import torch
    import torch.distributed as dist

    dist.init_process_group("gloo")
    if dist.get_rank() == 0:
        dist.all_reduce(torch.ones(3))


def test_a_rank_that_waits_for_one_that_has_finished_is_told_so():
    """As with Horovod, and at once."""
    with pytest.raises(ranks.RankError) as caught:
        ranks.run(one_leaves, num_ranks=2)
    assert (caught.value.code, caught.value.rank) == ("collective.peer-finished", 0)


def unlike_collectives():
    """Rank 0 waits in an allreduce, rank 1 in a broadcast."""
    import torch
    import torch.distributed as dist

    dist.init_process_group("gloo")
    if dist.get_rank() == 0:
        dist.all_reduce(torch.ones(3))
    else:
        dist.broadcast(torch.ones(3), src=0)


def test_a_deadlock_is_told_with_who_waits_where():
    """Before the deadline, in the words of the student's calls."""
    positions = r"rank 0 waits in dist\.all_reduce(.|\n)*rank 1 waits in dist\.broadcast"
    with pytest.raises(ranks.RankTimeoutError, match=positions) as caught:
        ranks.run(unlike_collectives, num_ranks=2)
    assert caught.value.code == "ranks.deadlock"


def test_an_unknown_framework_is_refused():
    """With the names of those that there are."""
    with pytest.raises(ValueError, match="'jax'"):
        ranks.warm_up("jax")


NAMES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")
STEP = {
    "SLURM_STEP_ID": "0",
    "SLURM_PROCID": "5",
    "SLURM_LOCALID": "1",
    "SLURM_STEP_NUM_TASKS": "8",
    "SLURM_LAUNCH_NODE_IPADDR": "10.0.0.1",
    "SLURM_JOB_ID": "30007",
}


@pytest.mark.parametrize(
    ("around", "found"),
    [
        pytest.param(STEP, ("5", "8", "1", "10.0.0.1", "20007"), id="task of srun"),
        pytest.param({"RANK": "3", **STEP}, ("3", None, None, None, None), id="torchrun"),
        pytest.param({"WORLD_SIZE": "8", "MASTER_ADDR": "x"}, ("0", "1", "0", "127.0.0.1", "20000"), id="nobody"),
    ],
)
def test_a_script_learns_its_context_by_the_names_of_torchrun(monkeypatch, around, found):
    """What torchrun has set stays; a script that nobody starts trains alone, whatever another job has left."""
    environ = dict(around)
    monkeypatch.setattr(os, "environ", environ)
    place_torch()
    assert tuple(map(environ.get, NAMES)) == found


def imported():
    """Return which frameworks this rank has imported."""
    return sorted({"torch", "tensorflow", "horovod"} & {*sys.modules})


def test_a_notebook_can_have_ranks_of_the_other_framework_afterwards(monkeypatch):
    """The server of one framework does not serve the other."""
    assert ranks.run(imported, num_ranks=1) == [["torch"]]
    monkeypatch.delenv(VARIABLE)
    assert ranks.run(imported, num_ranks=1) == [["horovod", "tensorflow"]]
