"""What a site's file claims becomes questions that the machine answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from coursekit.slurm.sites.load import load_site, site_names
from coursekit.slurm.sites.questions import Question, about, questions, value_at

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", site_names(ROOT))
def test_a_program_can_settle_every_doubt(name):
    """Each doubt of each site has a question, each question expects something, and it names a key of the file."""
    site = load_site(ROOT, name)
    asked = questions(site)

    assert [note.key for note in site.confirm if not about(note, asked)] == []
    assert [one.key for one in asked if not one.expected] == []
    for one in asked:
        value_at(site, one.key)
    assert {one.partition for one in asked} <= {"", *site.partitions}


def test_the_questions_about_a_site(checkout):
    """What Slurm knows of each partition, of each QOS, and the plugin that starts ranks."""
    asked = {one.key: one.expected for one in questions(checkout.load())}

    assert asked == {
        "launch.mpi": ("pmix",),
        "partitions.deep.slurm_name": ("abyss",),
        "partitions.deep.default_time_min": ("90",),
        "partitions.deep.max_time_min": ("1440",),
        "partitions.deep.num_cpus_per_node": ("32",),
        "partitions.deep.num_gpus_per_node": ("4",),
        "partitions.deep.features": ("cold", "dark"),
        "partitions.test.slurm_name": ("shallow",),
        "partitions.test.default_time_min": ("10",),
        "partitions.test.max_time_min": ("30",),
        "partitions.test.num_cpus_per_node": ("32",),
        "partitions.test.num_gpus_per_node": ("4",),
        "partitions.test.features": ("cold", "dark"),
        "qos.dive.max_time_min": ("600",),
    }


def test_modules_are_loaded_as_a_job_script_loads_them(checkout):
    """Those of the site first, then those of the partition, after the lines that come before them."""
    checkout.change("[software]\n", '[software]\nbefore = ["module purge"]\nmodules = ["water"]\n')
    checkout.change('slurm_name = "abyss"\n', 'slurm_name = "abyss"\nmodules = ["pressure/2", "light"]\n')
    asked = {one.key: one for one in questions(checkout.load())}

    both = asked["partitions.deep.modules"]
    assert both.expected == ("water", "pressure/2", "light")
    assert both.command == "module purge; module load water; module load pressure/2; module load light; module -t list"
    assert both.seen("Lmod says:\nwater\npressure/2\nNo module light\n") == ("water", "pressure/2")


@pytest.mark.parametrize(
    ("written", "minutes"),
    [
        *(("2-00:30:00", "2910"), ("01:30:00", "90"), ("30:00", "30"), ("00:00:30", "1"), ("1-00:00:00", "1440")),
        *(("UNLIMITED", "UNLIMITED"), ("NONE", "NONE")),
    ],
)
def test_times_are_compared_in_minutes(written, minutes):
    """As the file has them; Slurm writes days, hours, minutes and seconds."""
    question = Question("partitions.deep.max_time_min", "", r"MaxTime=(\S+)", ("90",))

    assert question.seen(f"DefaultTime=NONE MaxTime={written} MinNodes=0") == (minutes,)
