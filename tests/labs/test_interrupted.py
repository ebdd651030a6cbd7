"""The script of lab 03 under Horovod's own launcher: a killed rank ends it soon, and a second run continues."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from coursekit.environ import scrubbed
from coursekit.labs.build.build import build_sources
from coursekit.labs.lab import load_lab

ROOT = Path(__file__).parents[2]
LAB = "03-keras-cnn"
NUM_EPOCHS = 3
NUM_STEPS = 30
START_TIMEOUT_S = 900
END_TIMEOUT_S = 300


@pytest.fixture(scope="module")
def script(tmp_path_factory) -> Path:
    """Return the solution's `train.py`."""
    root = tmp_path_factory.mktemp("course")
    shutil.copytree(ROOT / "solutions" / LAB, root / "solutions" / LAB)
    return build_sources(root, [load_lab(root / "solutions" / LAB)])[LAB].with_name("train.py")


def command(script: Path, folder: Path) -> Sequence[str]:
    """Return the command that trains a small network on two ranks."""
    launcher = [str(Path(sys.executable).with_name("horovodrun")), "-np", "2", "--gloo", sys.executable, str(script)]
    options = {"model": "SmallCNN", "num-epochs": NUM_EPOCHS, "max-num-steps": NUM_STEPS, "folder": folder}
    return [*launcher, *(f"--{name}={value}" for name, value in options.items())]


def rank_1_of(launcher: psutil.Process) -> psutil.Process | None:
    """Return the process of rank 1 that this launcher started, once it is there."""
    for process in launcher.children(recursive=True):
        with suppress(psutil.Error):  # it ended between two questions
            if process.environ().get("HOROVOD_RANK") == "1" and "python" in Path(process.exe()).name:
                return process
    return None


def wait_for(found: Callable[[], Any], process: subprocess.Popen[str]) -> Any:
    """Return the first true value that a function gives, as long as the process lives."""
    deadline = time.monotonic() + START_TIMEOUT_S
    while not (value := found()):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.02)
    return value


def end(process: subprocess.Popen[str]) -> None:
    """End a launcher with all that it started."""
    everything = [*psutil.Process(process.pid).children(recursive=True), process] if process.poll() is None else []
    for one in everything:
        with suppress(psutil.NoSuchProcess):
            one.kill()
    process.communicate()


def test_a_killed_rank_ends_the_run_and_the_next_run_goes_on(script, tmp_path):
    """After the first epoch's checkpoint rank 1 is killed; the rerun trains just the epochs that have no checkpoint."""
    folder = tmp_path / "training"
    environ = {**scrubbed(), "TF_CPP_MIN_LOG_LEVEL": "2", "OMP_NUM_THREADS": "1"}
    first = subprocess.Popen(
        command(script, folder), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environ, cwd=tmp_path
    )
    try:
        # Looked for before: from the checkpoint on, each moment counts.
        rank_1 = wait_for(lambda: rank_1_of(psutil.Process(first.pid)), first)
        wait_for((folder / "epoch-001.index").exists, first)
        rank_1.kill()
        output, _ = first.communicate(timeout=END_TIMEOUT_S)
    finally:
        end(first)
    assert first.returncode != 0
    assert "Process name: 1\nExit code: 137" in output
    assert not (folder / "result.json").exists()
    num_done = len(list(folder.glob("epoch-*.index")))
    assert num_done < NUM_EPOCHS

    done = subprocess.run(
        command(script, folder),
        check=True,
        text=True,
        capture_output=True,
        env=environ,
        cwd=tmp_path,
        timeout=START_TIMEOUT_S,
    )

    line = next(line for line in done.stdout.splitlines() if "result: " in line)
    result = json.loads(line.partition("result: ")[2])
    assert len(result["history"]["loss"]) == NUM_EPOCHS - num_done
    assert json.loads((folder / "result.json").read_text())["validation"] == result["validation"]
    assert sorted(path.name for path in folder.glob("epoch-*.index")) == [
        f"epoch-{epoch:03d}.index" for epoch in range(1, NUM_EPOCHS + 1)
    ]
    assert os.listdir(tmp_path) == ["training"]  # noqa: PTH208  # names are enough
