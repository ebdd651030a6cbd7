"""`coursekit predict`, and a job's speed beside what was predicted."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from coursekit.cli.jobs import jobs
from coursekit.cli.predict import predict
from coursekit.errors import CourseKitError
from coursekit.labs.run.results import PASSED, LabResult
from coursekit.slurm.jobs.remembered import SubmittedJob, remember
from coursekit.slurm.jobs.slurm_cli import JobState

ROOT = Path(__file__).parents[3]
LAB = "03-keras-cnn"
SCRIPT = f"slurm/jobs/jean-zay/{LAB}.sbatch"
JOB = SubmittedJob("7", LAB, LAB, "jean-zay", SCRIPT, "2026-11-20T17:00:00+00:00", JobState("COMPLETED"))
PARAMETERS = {"model": "ResNet50", "image_size": 224, "batch_size": 128, "precision": "float32", "compression": "none"}
RESULT = LabResult(LAB, "Keras", PASSED, "", (), 60.0, 900.0, 4, PARAMETERS, images_per_s=1390.0)


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Return a students' folder: the notebooks and the machines."""
    shutil.copytree(ROOT / "labs", tmp_path / "labs")
    for facts in ROOT.glob("solutions/*/lab.toml"):
        shutil.copy(facts, tmp_path / "labs" / facts.parent.name)
    shutil.copytree(ROOT / "slurm", tmp_path / "slurm")
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_result(course, result=RESULT):
    """Leave what a job leaves."""
    folder = course / JOB.folder
    folder.mkdir(parents=True)
    (folder / "result.json").write_text(json.dumps(result.to_json()))
    return JOB.folder


def run(*arguments):
    """Return the lines that the command prints."""
    return CliRunner().invoke(predict, list(arguments), catch_exceptions=False).output.splitlines()


def columns(lines):
    """Return the rows of the table."""
    return [line.split() for line in lines if line.strip()[:1].isdecimal()]


@pytest.mark.parametrize(("site", "num_gpus"), [("karolina", 8), ("jean-zay", 4), ("piz-daint", 1)])
@pytest.mark.usefixtures("course")
def test_a_prediction_from_published_speeds(site, num_gpus):
    """A row for each number of nodes, and where the speed is from."""
    shown = run("03", "--site", site, "--nodes", "4,1,2")
    rows = columns(shown)

    assert [row[:2] for row in rows] == [[str(nodes), str(nodes * num_gpus)] for nodes in (1, 2, 4)]
    assert all(low < int(row[2]) < high for row in rows for low, high in [map(int, row[3].split("-"))])
    assert any(line.startswith("Speed: ") and "images/s on a GPU with batch" in line for line in shown)


@pytest.mark.parametrize(
    ("site", "num_gpus", "parameters"),
    [
        ("karolina", 64, {"batch_size": 128}),
        ("piz-daint", 8, {"model": "VGG16", "batch_size": 64}),  # little is known of its links: a wide band
        ("jean-zay", 32, {"batch_size": 128, "input_images_per_s": 200}),
        ("jean-zay", 32, {"batch_size": 32, "backward_passes_per_step": 4}),
    ],
)
@pytest.mark.usefixtures("course")
def test_the_table_adds_up(site, num_gpus, parameters):
    """Images/s are those of the step's length, an epoch is ImageNet's, and its hours are those of all GPUs."""
    given = [text for name, value in parameters.items() for text in ("-p", name, str(value))]
    (row,) = columns(run("03", "--site", site, "--nodes", "8", *given))
    speed, step_ms = float(row[2]), sum(map(float, row[5].split("+")))
    images = num_gpus * parameters["batch_size"] * parameters.get("backward_passes_per_step", 1)

    assert images / step_ms * 1000 == pytest.approx(speed, rel=0.02)
    assert float(row[6]) == pytest.approx(1_281_167 / speed / 60, rel=0.01)
    assert float(row[7]) == pytest.approx(float(row[6]) / 60 * num_gpus, rel=0.01)


@pytest.mark.usefixtures("course")
def test_how_little_is_known_beyond_a_node_is_said():
    """The width of the last row's band, as factors of its speed; within one node nothing is said."""
    shown = run("03", "--site", "jean-zay", "--nodes", "1,16")
    (_, last) = columns(shown)
    low, high = (int(one) / int(last[2]) for one in last[3].split("-"))

    assert (
        f"Beyond one node nothing is measured here: on 16 nodes, expect {low:.2f} to {high:.2f} times that speed."
        in shown
    )
    assert not any("Beyond one node" in line for line in run("03", "--site", "jean-zay", "--nodes", "1"))


@pytest.mark.usefixtures("course")
def test_a_pipeline_that_is_too_slow():
    """All wait for images: they are a part of the step, what bounds it, and what would help."""
    shown = run("03", "--site", "jean-zay", "--nodes", "8", "-p", "input_images_per_s", "200")

    assert float(columns(shown)[0][2]) == pytest.approx(32 * 200, rel=0.01)
    assert "On 8 nodes, a step is bound by the input pipeline." in shown
    assert [line.partition(":")[0] for line in shown if line.startswith("- ")] == [
        "- an input pipeline of twice the speed"
    ]


@pytest.mark.usefixtures("course")
def test_groups_that_wait_for_each_other():
    """One group for all gradients hides nothing, as on a laptop; the advice is to let them go as they come."""
    given = ("03", "--site", "piz-daint", "--nodes", "8")
    as_they_come, in_one = (run(*given, "-p", "num_groups", number) for number in ("0", "1"))

    assert int(columns(in_one)[0][2]) < 0.95 * int(columns(as_they_come)[0][2])
    assert any(line.startswith("- gradients as they come, num_groups 0: +") for line in in_one)


@pytest.mark.parametrize(
    ("site", "nodes", "sentence"),
    [
        ("karolina", "72", ""),
        ("karolina", "73", "karolina has only 72 such nodes: larger counts are hypothetical."),
    ],
)
@pytest.mark.usefixtures("course")
def test_more_nodes_than_there_are(site, nodes, sentence):
    """They can be predicted, and a sentence says that nobody gets them."""
    assert ([line for line in run("03", "--site", site, "--nodes", nodes) if " such nodes" in line] or [""]) == [
        sentence
    ]


def test_ones_own_job_on_one_node(course):
    """From the job's folder: the one node comes out as measured, and more nodes follow; other wishes are for -p."""
    folder = write_result(course)
    shown = run("03", "--site", "jean-zay", "--nodes", "1,8", "--from", folder)
    (one, eight) = columns(shown)

    assert int(one[2]) == pytest.approx(1390, abs=2)
    assert 0.75 < int(eight[2]) / (8 * int(one[2])) < 1
    assert "from 1390 on 4 in jobs/03-keras-cnn-7." in " ".join(shown)
    (half,) = columns(run("03", "--site", "jean-zay", "--nodes", "8", "--from", folder, "-p", "compression", "fp16"))
    assert int(half[2]) >= int(eight[2])


def test_a_job_beside_its_prediction(course, monkeypatch):
    """`coursekit jobs 7` says what was measured on a whole node, and what was to be expected."""
    monkeypatch.setenv("COLUMNS", "100")
    remember(course, JOB)
    write_result(course)
    said = CliRunner().invoke(jobs, ["7"], catch_exceptions=False).output.splitlines()[-1]
    found = re.fullmatch(
        r"Job 7 measured 1390 images/s on 4 ranks; "
        r"predicted were (\d+), nine times of ten (\d+) to (\d+) \(362.44 .*\).",
        said,
    )

    assert found, said
    predicted, low, high = map(int, found.groups())
    assert low < 1390 < high
    assert predicted == pytest.approx(4 * 362.44, rel=0.05)


def test_a_job_that_compares_with_nothing(course):
    """Of two ranks on a node of four, the sentence tells how to predict from them; of no speed, nothing is said."""
    remember(course, JOB)
    said = []
    for changes in ({"num_ranks": 2, "images_per_s": 700.0}, {"images_per_s": 0.0}):
        shutil.rmtree(course / JOB.folder, ignore_errors=True)
        write_result(course, replace(RESULT, **changes))
        said.append(CliRunner().invoke(jobs, ["7"], catch_exceptions=False).output)

    assert "measured 700 images/s on 2 ranks" in said[0]
    assert "coursekit predict 03 --site jean-zay --nodes 1,2,4,8 --from jobs/03-keras-cnn-7\n" in said[0]
    assert "measured" not in said[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["01", "--site", "karolina"], "01-sgd trains no network whose speed is known"),
        (["03", "--site", "karolina", "-p", "model", "VGG16"], "how fast one NVIDIA A100 trains VGG16"),
        (["03", "--site", "daint-alps"], "nobody published how fast one NVIDIA GH200 trains ResNet50"),
        (["03", "--site", "local"], "local has no GPUs in its profile"),
        (["03", "--site", "jean-zay", "--partition", "h100"], "how much a node of jean-zay sends is not known"),
        (
            ["03", "--site", "jean-zay", "--partition", "x"],
            "jean-zay has no partition 'x': .*toml has a100",
        ),
        (["03", "--site", "karolina", "--nodes", "1,two"], "--nodes must be whole numbers above 0"),
        (["03", "--site", "karolina", "-p", "learning_rate", "1"], "learning_rate is not known to predictions"),
        (["03", "--site", "karolina", "-p", "batch_size", "many"], "batch_size must be a whole number, not 'many'"),
        (["03", "--site", "karolina", "-p", "compression", "gzip"], "must be one of none, fp16, not 'gzip'"),
        (["03", "--site", "karolina", "-p", "precision", "half"], "precision must be one of float32, mixed_float16"),
        (["03", "--site", "karolina", "-p", "backward_passes_per_step", "0"], "must be at least 1"),
        (["03", "--site", "karolina", "-p", "batch_size", "10000000"], "would have 80000000 images, and ImageNet has"),
        (["03", "--site", "karolina", "-p", "image_size", "64"], "images of 224 pixels, not 64"),
        (["03", "--site", "karolina", "--from", "jobs/none"], "jobs/none holds no readable result.json"),
    ],
)
@pytest.mark.usefixtures("course")
def test_what_cannot_be_predicted(arguments, message):
    """One sentence: what was wrong, and what to give."""
    with pytest.raises(CourseKitError, match=message):
        run(*arguments)


def test_a_job_on_several_nodes_cannot_calibrate(course):
    """Its speed already holds what is to be predicted."""
    folder = write_result(course, replace(RESULT, num_ranks=8))
    with pytest.raises(CourseKitError, match="ran on 8 ranks, more than a node of jean-zay has"):
        run("03", "--site", "jean-zay", "--from", folder)


@pytest.mark.usefixtures("course")
def test_tables_are_whole_where_the_terminal_is_narrow(monkeypatch):
    """No cell is cut short."""
    monkeypatch.setenv("COLUMNS", "40")

    assert not any("…" in line for line in run("03", "--site", "karolina"))
