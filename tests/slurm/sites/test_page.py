"""docs/sites.md is made from the profiles, and so is fresh; docs/site-format.md names every key of a profile."""

import re
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from coursekit.labs.lab import find_labs
from coursekit.slurm.jobs.render import PAGE, page_text, write_page
from coursekit.slurm.sites import profile
from coursekit.slurm.sites.load import load_sites

ROOT = Path(__file__).parents[3]
CLASSES = [one for one in vars(profile).values() if is_dataclass(one) and one.__module__ == profile.__name__]
DEEP = "`--partition=abyss` `--constraint=cold&dark` `--gres=gpu:4` `--ntasks-per-node=4` `--cpus-per-task=8`"
OPEN_AND_JOBS = "".join(
    f" {kind}: a student | a class of 30 |" for kind in ("open for all labs", "notebooks by sbatch", "training jobs")
)
TEST = "`--partition=shallow` `--gres=gpu:4` `--ntasks-per-node=4` `--cpus-per-task=8`"


def test_the_committed_page_is_fresh():
    """`coursekit build` would not change a byte of it."""
    assert (ROOT / PAGE).read_text(encoding="utf-8") == page_text(ROOT, load_sites(ROOT))


def test_the_page_has_a_row_for_each_partition_and_each_doubt(checkout):
    """What stands in the file stands in the tables."""
    checkout.change("srun --mpi=list", "srun --mpi=list | head")

    write_page(checkout.root)

    text = (checkout.root / PAGE).read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith(("|", "###"))]
    assert rows == [
        "| site | machine | partition | GPUs of a node | longest time | options for a whole node |",
        "| --- | --- | --- | --- | --- | --- |",
        f"| [nautilus](../slurm/sites/nautilus.toml) | Nautilus, Vulcania | deep | 4 x Kraken 8 | 24 h | {DEEP} |",
        f"|  |  | test | 4 x Kraken 8 | 30 min | {TEST} |",
        f"| site |{OPEN_AND_JOBS} charged |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
        f"| nautilus, deep |{' 0 GPU hours |' * 6} a node |",
        "### nautilus",
        "| key | in doubt | the command that settles it |",
        "| --- | --- | --- |",
        "| `launch.mpi` | nobody came back to tell | `srun --mpi=list \\| head` |",
    ]


def test_an_open_notebook_is_priced_for_as_long_as_people_sit():
    """Two of Karolina's GPUs are charged for the minutes of all labs, on Barbora the four of a whole node."""
    sitting_h = sum(lab.minutes for lab in find_labs(ROOT)) / 60
    rows = dict(re.findall(r"^\| (\w+), \w+ \| ([\d.]+) GPU hours \|", page_text(ROOT, load_sites(ROOT)), re.MULTILINE))

    assert [float(rows[name]) / sitting_h for name in ("barbora", "karolina")] == pytest.approx([4, 2], abs=0.01)


def test_the_page_on_the_format_has_every_key():
    """Each part of a machine's file has a table there, with exactly the keys that the loader takes."""
    text = (ROOT / "docs/site-format.md").read_text(encoding="utf-8")
    tables = [re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE) for part in text.split("\n## ")[1:]]
    keys = [[field.name for field in fields(cls)] for cls in CLASSES]
    top = next(names for names in keys if "title" in names)
    parts = {"name", "access", "software", "launch", "storage", "jupyter", "partitions", "qos", "confirm"}

    assert sorted(map(sorted, tables)) == sorted(
        sorted(set(names) - (parts if names is top else {"pytorch"})) for names in keys
    )
