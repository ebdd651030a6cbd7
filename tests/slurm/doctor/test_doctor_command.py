"""`coursekit doctor`: the whole of it, in a healthy and in a broken environment."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

COURSEKIT = Path(sys.executable).with_name("coursekit")


@pytest.fixture
def doctor(tmp_path):
    """A function that calls the doctor and returns exit status, output and error output."""

    def run(*words, **extra):
        variables = {**os.environ, "HOME": str(tmp_path), "COLUMNS": "200", **extra}
        command = [COURSEKIT, "doctor", *words]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False, timeout=900)
        return done.returncode, done.stdout, done.stderr

    return run


def test_healthy_environment_is_ready(doctor):
    """In the environment of make env nothing needed is missing, two ranks add up, and the exit status is 0."""
    status, output, errors = doctor("--json")
    report = json.loads(output)
    findings = {finding["name"]: finding for finding in report["findings"]}

    assert (status, report["ready"], errors) == (0, True, "")
    assert {finding["state"] for finding in findings.values() if finding["needed"]} == {"good"}
    assert re.fullmatch(r"[\d.]+ ms for 1 MB; .*", findings["Allreduce, 2 ranks"]["text"])


def test_broken_environment_is_not_ready(doctor, tmp_path):
    """Without TensorFlow the exit status is 1, and the last line names all that has to be fixed first."""
    package = tmp_path / "broken" / "tensorflow"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'tensorflow'\")")

    status, output, _ = doctor(PYTHONPATH=str(tmp_path / "broken"))
    lines = output.strip().splitlines()

    assert status == 1
    assert lines[-1].startswith("Fix first: TensorFlow, Keras, Horovod, Horovod controllers, Allreduce, 2 ranks.")
    assert any(line.split()[:3] == ["TensorFlow", "missing", "cannot"] for line in lines)
    assert "→ run make env" in output
