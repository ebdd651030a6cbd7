"""A new machine is one file and no other change."""

from __future__ import annotations

from pathlib import Path

import pytest

from coursekit.slurm.jobs.render import render_all
from coursekit.slurm.sites.load import load_site
from workshop.rehearsal.shape import shape_of

ROOT = Path(__file__).parents[3]


@pytest.fixture
def course(checkout, monkeypatch) -> Path:
    """Return this course with its own machines and, beside them, the made-up one."""
    for path in (ROOT / "slurm" / "sites").glob("*.toml"):
        (checkout.file.parent / path.name).symlink_to(path)
    (checkout.root / "slurm" / "templates").symlink_to(ROOT / "slurm" / "templates")
    (checkout.root / "solutions").rmdir()
    for name in ("solutions", "labs"):
        (checkout.root / name).symlink_to(ROOT / name)
    monkeypatch.setenv("COURSEKIT_ROOT", str(checkout.root))
    return checkout.root


def test_a_new_site_gets_job_scripts(course):
    """With its own directives, for the same jobs as every other site of its kind."""
    scripts = render_all(course, load_site(course, "nautilus"))

    assert set(scripts) == set(render_all(course, load_site(course, "karolina")))
    lines = scripts["02-horovod-sgd"].splitlines()
    options = {line.split()[1] for line in lines if line.startswith("#SBATCH ")}
    assert {"--partition=abyss", "--constraint=cold&dark", "--qos=dive", "--nodes=1", "--gres=gpu:2"} <= options


def test_a_new_site_can_be_rehearsed(course):
    """The private Slurm takes its shape from the file alone."""
    shape = shape_of(load_site(course, "nautilus"), num_nodes=2)

    assert len(shape.all_nodes) == 2
    assert set(shape.nodes) == {"deep", "test"}
    assert list(shape.accounts) == ["nemo"]
