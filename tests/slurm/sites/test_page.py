"""docs/sites.md is made from the profiles, and so is fresh; it names every doubt and every key."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from coursekit.errors import CourseKitError
from coursekit.slurm.jobs.page import FORMAT_PAGE, PAGE, page_text, write_page
from coursekit.slurm.sites import profile
from coursekit.slurm.sites.guide import attributes, guide_text
from coursekit.slurm.sites.load import load_sites

ROOT = Path(__file__).parents[3]
CLASSES = [one for one in vars(profile).values() if is_dataclass(one) and one.__module__ == profile.__name__]
DEEP = "`--partition=abyss` `--constraint=cold&dark` `--gres=gpu:4` `--ntasks-per-node=4` `--cpus-per-task=8`"
TEST = "`--partition=shallow` `--gres=gpu:4` `--ntasks-per-node=4` `--cpus-per-task=8`"


def test_the_committed_page_is_fresh():
    """`coursekit build` would not change a byte of it, nor of the page on the format."""
    assert (ROOT / PAGE).read_text(encoding="utf-8") == page_text(ROOT, load_sites(ROOT))
    assert (ROOT / FORMAT_PAGE).read_text(encoding="utf-8").endswith(guide_text())


def test_the_page_has_a_row_for_each_partition_and_each_doubt(checkout):
    """What stands in the file stands in the tables."""
    checkout.change("srun --mpi=list", "srun --mpi=list | head")

    write_page(checkout.root)

    text = (checkout.root / PAGE).read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert rows == [
        "| site | machine | partition | GPUs of a node | longest time | a node is asked for with |",
        "| --- | --- | --- | --- | --- | --- |",
        f"| [nautilus](../slurm/sites/nautilus.toml) | Nautilus, Vulcania | deep | 4 x Kraken 8 | 24 h | {DEEP} |",
        f"|  |  | test | 4 x Kraken 8 | 30 min | {TEST} |",
        "| site | all notebooks: a student | a class of 30 | all trainings: a student | a class of 30 | charged |",
        "| --- | --- | --- | --- | --- | --- |",
        "| nautilus, deep | 0 GPU hours | 0 GPU hours | 0 GPU hours | 0 GPU hours | a node |",
        "| site | key | in doubt | the command that will tell |",
        "| --- | --- | --- | --- |",
        "| nautilus | `launch.mpi` | nobody came back to tell | `srun --mpi=list \\| head` |",
    ]


def test_a_page_written_by_hand_is_not_overwritten(checkout):
    """Only the builder's own work is replaced."""
    page = checkout.root / PAGE
    page.parent.mkdir()
    page.write_text("# My sites\n", encoding="utf-8")

    with pytest.raises(CourseKitError, match="was not made by the builder"):
        write_page(checkout.root)
    assert page.read_text(encoding="utf-8") == "# My sites\n"


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_key_is_explained(cls):
    """A docstring lists exactly the keys there are, since the guide is made from it."""
    assert set(attributes(cls)) == {field.name for field in fields(cls)}


def test_the_guide_has_a_table_for_each_part_of_the_file():
    """In the file's order, the machine's own keys first."""
    headings = [line.removeprefix("## ") for line in guide_text().splitlines() if line.startswith("## ")]

    assert [heading.split(",")[0] for heading in headings] == [
        "At the top of the file",
        "`[access]`",
        "`[software]`",
        "`[launch]`",
        "`[storage]`",
        "`[jupyter]`",
        "`[partitions.<name>]`",
        "`[qos.<name>]`",
        "`[[confirm]]`",
    ]
    assert (
        "| `num_nodes` | a whole number, at least 1 | how many nodes trainings and the run of all solutions ask for;"
        in guide_text()
    )
    assert "| `max_num_nodes` | a whole number, optional | the most that one job may have" in guide_text()
