"""The allreduce between two ranks that make env and the doctor start."""

from __future__ import annotations

import json
import subprocess
import sys

from coursekit.slurm.doctor import allreduce


def test_two_ranks_add_up_in_a_process_apart():
    """Each rank gets 1 + 2 = 3, which neither can know alone, and times are positive."""
    command = [sys.executable, "-m", "coursekit.slurm.doctor.allreduce"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=900)
    measured = json.loads(done.stdout)

    assert [rank["sum"] for rank in measured["ranks"]] == [3.0, 3.0]
    assert min(rank["allreduce_ms"] for rank in measured["ranks"]) > 0
    assert measured["launch_s"] > 0


def test_wrong_sum_fails(monkeypatch, capsys):
    """An allreduce that does not add gives exit status 1."""
    monkeypatch.setattr(allreduce, "expected_sum", lambda: 4)

    assert allreduce.main() == 1
    assert json.loads(capsys.readouterr().out)["ranks"][0]["sum"] == 3.0
