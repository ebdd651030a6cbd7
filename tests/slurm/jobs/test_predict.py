"""`coursekit predict`: tables that add up, and one sentence for what cannot be predicted."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from coursekit.cli.predict import predict
from coursekit.errors import CourseKitError
from coursekit.scaling.sharding import WAYS

ROOT = Path(__file__).parents[3]
OWN = "-p images_per_s 300 -p batch_size 64 -p global_batch_size 4096"


def run(*arguments):
    """Return the lines that the command prints."""
    return (
        CliRunner(env={"COURSEKIT_ROOT": str(ROOT)})
        .invoke(predict, list(arguments), catch_exceptions=False)
        .output.splitlines()
    )


def columns(lines):
    """Return the rows of the table."""
    return [line.split() for line in lines if line.strip()[:1].isdecimal()]


@pytest.mark.parametrize(("site", "num_gpus"), [("karolina", 8), ("jean-zay", 4), ("piz-daint", 1)])
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
        ("jean-zay", 32, {"batch_size": 128, "images_per_s": 200}),
    ],
)
def test_the_table_adds_up(site, num_gpus, parameters):
    """Images/s are those of the step's length, an epoch is ImageNet's, and its hours are those of all GPUs."""
    given = [text for name, value in parameters.items() for text in ("-p", name, str(value))]
    (row,) = columns(run("03", "--site", site, "--nodes", "8", *given))
    speed, step_ms = float(row[2]), sum(map(float, row[5].split("+")))
    images = num_gpus * parameters["batch_size"]

    assert images / step_ms * 1000 == pytest.approx(speed, rel=0.02)
    assert float(row[6]) == pytest.approx(1_281_167 / speed / 60, rel=0.01)
    assert float(row[7]) == pytest.approx(float(row[6]) / 60 * num_gpus, rel=0.01)


def test_a_speed_of_ones_own():
    """It takes the place of a published one, also of a GPU without any; in 16 bits less is sent."""
    given = ("03", "--site", "daint-alps", "--nodes", "1,8", "-p", "images_per_s", "1000", "-p", "batch_size", "256")
    shown = run(*given)
    (one, eight) = columns(shown)

    assert 0.8 * 4000 < int(one[2]) < 4000
    assert int(one[2]) < int(eight[2]) < 8 * int(one[2])
    assert "Speed: 1000 images/s on a GPU with batch 256, as you gave it." in shown
    (_, halved) = columns(run(*given, "-p", "compression", "fp16"))
    assert int(halved[2]) >= int(eight[2])


def test_measured_nodes_are_compared_with_one_gpu():
    """They move the prediction of more nodes, whose band is then no guess; a node alone tells nothing of the links."""
    given = ("03", "--site", "jean-zay", "--nodes", "8", "-p", "images_per_s", "362", "-p", "batch_size", "128")
    alone, node, nodes = (run(*given, *more) for more in ((), ("--measured", "1", "1300"), ("--measured", "2", "2000")))
    (one,), (two,) = columns(alone), columns(nodes)

    assert int(two[2]) < int(one[2])
    assert [any("Beyond one node" in line for line in shown) for shown in (alone, node, nodes)] == [True, True, False]


def test_sharding_holds_less_and_sends_more():
    """Of ResNet50's 25.6 million parameters, 16 bytes each on one GPU, and a share on 16; weights travel, too."""
    shown = {way: run("08", "--site", "jean-zay", "--nodes", "4", "-p", "sharding", way) for way in WAYS}
    held = {way: re.findall(r"([\d.]+) GB", " ".join(lines)) for way, lines in shown.items()}
    speeds = {way: float(columns(lines)[0][2]) for way, lines in shown.items()}

    assert held == {"ddp": ["0.409", "0.409"], "zero": ["0.409", "0.217"], "fsdp": ["0.409", "0.0256"]}
    assert speeds["zero"] == speeds["fsdp"] < speeds["ddp"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("01 --site karolina", "01-sgd.*forecast.no-network"),
        ("03 --site karolina -p model VGG16", "A100.*VGG16.*forecast.no-speed"),
        ("03 --site daint-alps", "GH200.*ResNet50.*forecast.no-speed"),
        ("03 --site local", "forecast.no-gpus"),
        ("03 --site jean-zay --partition h100", "jean-zay.*forecast.no-fabric"),
        ("03 --site karolina --nodes 1,two", "forecast.nodes"),
        ("03 --site karolina -p learning_rate 1", "learning_rate.*forecast.unknown-parameter"),
        ("03 --site karolina -p batch_size many", "batch_size.*'many'"),
        ("03 --site karolina -p compression gzip", "none, fp16.*'gzip'.*forecast.bad-value"),
        ("08 --site karolina -p sharding tensors", "ddp, zero, fsdp.*'tensors'.*forecast.bad-value"),
        ("03 --site karolina -p sharding fsdp", "sharding.*forecast.unknown-parameter"),
        ("03 --site karolina -p images_per_s 700", "forecast.no-batch"),
        ("03 --site karolina -p images_per_s 700 -p batch_size 10000000", " 80000000 .*batch.exceeds-data"),
        ("03 --site karolina --measured 1 2700", "forecast.no-baseline"),
        ("03 --site karolina -p batch_size 512", "^512 .*batch.exceeds-memory"),
        # Of a speed of one's own only the batch that was measured is known to fit.
        (f"03 --site karolina --nodes 1 {OWN}", "^512 .*batch.exceeds-memory"),
        ("03 --site jean-zay --nodes 2,8 -p global_batch_size 4096", "^512 .* 186 .*batch.exceeds-memory"),
        ("03 --site jean-zay --nodes 512 -p global_batch_size 1024", "2048 .* 1024 .*batch.fewer-than-ranks"),
    ],
)
def test_what_cannot_be_predicted(arguments, words):
    """One sentence: what was wrong, and what to give."""
    with pytest.raises(CourseKitError, match=words):
        run(*arguments.split())
