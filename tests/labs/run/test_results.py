"""Results as files, and the facts about machine and checkout."""

import json
import subprocess

import pytest

from coursekit.files import write_json
from coursekit.labs.cells import CellScore
from coursekit.labs.run.results import Facts, FailedCell, LabResult, format_speed, gather_facts

RESULT = LabResult(
    lab="01-a",
    title="Größe",
    verdict="failed",
    reason="why",
    scores=(CellScore("one", 1.5, 2.0, "PartialCredit"), CellScore("two", 3.0, 3.0, "")),
    time_s=1.25,
    peak_memory_mb=12.5,
    num_ranks=2,
    parameters={"rate": 0.1, "name": "x", "on": True},
    started="2026-01-01T00:00:00+00:00",
    failed_cell=FailedCell(3, "one", "1/0", "ZeroDivisionError"),
    raised=(FailedCell(2, "two", "1/0", "ZeroDivisionError"),),
    facts=Facts("host", "device", 2, {"python": "3.11"}, "abc", dirty=True),
)


def test_a_result_comes_back_as_it_was_saved(tmp_path):
    """Nested records as well; fields of another version are left out."""
    write_json(tmp_path / "result.json", {**RESULT.to_json(), "of another version": 1})
    data = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert LabResult.from_json(data) == RESULT
    assert (data["points"], data["max_points"]) == (4.5, 5.0)


@pytest.mark.parametrize(
    ("images_per_s", "text"), [(0.0, "-"), (0.256, "0.256"), (61.54, "61.5"), (100.4, "100"), (2409.6, "2410")]
)
def test_speeds_are_short_and_plain(images_per_s, text):
    """Three digits where decimals matter, whole numbers above, a dash where nothing was measured."""
    assert format_speed(images_per_s) == text


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A git repository with one commit, away from the settings of this machine."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    git(tmp_path, "init", "-q")
    (tmp_path / "file").write_text("old")
    git(tmp_path, "add", "file")
    git(tmp_path, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "one")
    return tmp_path


def git(folder, *words):
    """Run git and return what it prints."""
    return subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True, text=True).stdout.strip()


def test_the_commit_is_that_of_the_checkout(checkout):
    """A clean checkout, then a changed file, then an unknown one."""
    head = git(checkout, "rev-parse", "HEAD")
    clean = gather_facts(checkout)
    (checkout / "file").write_text("new")
    changed = gather_facts(checkout)
    git(checkout, "checkout", "file")
    (checkout / "other").touch()
    added = gather_facts(checkout)
    assert [(facts.commit, facts.dirty) for facts in (clean, changed, added)] == [
        (head, False),
        (head, True),
        (head, True),
    ]
    assert [facts.in_words()[2] for facts in (clean, changed)] == [head[:10], f"{head[:10]} with local changes"]


def test_a_gpu_is_named_only_when_labs_may_use_it(tmp_path, monkeypatch):
    """A machine's GPUs count by kind; hidden ones, and those that this TensorFlow cannot drive, do not."""
    nvidia_smi = tmp_path / "nvidia-smi"
    nvidia_smi.write_text("#!/bin/sh\nprintf 'NVIDIA A100\\nNVIDIA A100\\nNVIDIA H100\\n'\n")
    nvidia_smi.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    on_cpu = gather_facts(tmp_path).device
    monkeypatch.setattr(
        "coursekit.labs.run.results._version", lambda package: "" if package == "tensorflow-cpu" else "1"
    )
    on_gpu = gather_facts(tmp_path).device
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    hidden = gather_facts(tmp_path).device
    assert on_gpu == "2 x NVIDIA A100, 1 x NVIDIA H100"
    assert hidden == on_cpu != on_gpu
