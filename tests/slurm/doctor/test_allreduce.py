"""The allreduce between two ranks that make env and the doctor start."""

from __future__ import annotations

import json
import subprocess
import sys

import cloudpickle

from coursekit.slurm.doctor import allreduce

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules


def test_two_ranks_add_up_in_a_process_apart():
    """Each rank gets 1 + 2 = 3, which neither can know alone, and times are positive."""
    command = [sys.executable, "-m", "coursekit.slurm.doctor.allreduce"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=900)
    measured = json.loads(done.stdout)

    assert [rank["sum"] for rank in measured["ranks"]] == [3.0, 3.0]
    assert min(rank["allreduce_ms"] for rank in measured["ranks"]) > 0
    assert measured["launch_s"] > 0


def own_number():
    """Measure on a rank what an allreduce that adds nothing gives: the rank's own number."""
    import horovod.tensorflow as hvd

    hvd.init()
    return {"sum": hvd.rank() + 1.0, "allreduce_ms": 1.0}


def test_wrong_sum_fails(monkeypatch, capsys):
    """An allreduce that does not add gives exit status 1."""
    monkeypatch.setattr(allreduce, "measure", own_number)

    assert allreduce.main() == 1
    assert [rank["sum"] for rank in json.loads(capsys.readouterr().out)["ranks"]] == [1.0, 2.0]
