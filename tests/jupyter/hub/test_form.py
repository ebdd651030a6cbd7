"""The form of the hub: what it offers is the site's, and nothing but what it offers gets through."""

import re
from dataclasses import asdict
from html import unescape
from pathlib import Path

import pytest

from coursekit.errors import CourseKitError
from coursekit.jupyter.hub.form import ServerWish, default_wish, form_html, read_wish
from coursekit.slurm.sites.load import load_site

ROOT = Path(__file__).parents[3]
KAROLINA, JEAN_ZAY, LOCAL, PIZ_DAINT = (
    load_site(ROOT, name) for name in ("karolina", "jean-zay", "local", "piz-daint")
)
# What a shell, sbatch, HTML, a path or a job script would take for something else.
HOSTILE = [
    "a\n#SBATCH --uid=0",
    "a; touch b",
    "$(id)",
    "`id`",
    "a b",
    "-A",
    "--uid=0",
    "a'b",
    'a"b',
    "<b>",
    "../a",
    "ä",
]


@pytest.mark.parametrize(
    ("site", "wish"),
    [
        (KAROLINA, ServerWish(KAROLINA.default_partition, 1, 2, 60)),
        (JEAN_ZAY, ServerWish("v100", 1, 2, 60)),
        (LOCAL, ServerWish("main", 1, 2, 60)),
        (PIZ_DAINT, ServerWish("normal", 2, 1, 60)),  # one GPU per node
    ],
)
def test_the_default_is_two_ranks_for_an_hour(site, wish):
    """Nothing typed means the smallest on which the labs are worth running: two ranks, on as few nodes as may be."""
    assert (default_wish(site), read_wish(site, {})) == (wish, wish)


@pytest.mark.parametrize(
    ("given", "wish"),
    [
        ({"num_nodes": ["2"], "time_min": [" 90 "], "unknown": ["x"]}, ServerWish("v100", 2, 2, 90)),
        ({"partition": "a100", "num_ranks_per_node": 8, "account": "abc"}, ServerWish("a100", 1, 8, 60, "abc")),
        ({"partition": "a100", "account": "abc@a100"}, ServerWish("a100", 1, 2, 60, "abc")),
        ({"account": None, "time_min": ""}, ServerWish("v100", 1, 2, 60)),
        ({"reservation": "course-2026_1"}, ServerWish("v100", 1, 2, 60, "", "course-2026_1")),
        (asdict(ServerWish("h100", 4, 4, 1200, "abc", "r")), ServerWish("h100", 4, 4, 1200, "abc", "r")),
    ],
)
def test_what_is_asked_for_is_read(given, wish):
    """Forms send lists of texts, programs send numbers; the account's suffix is the partition's and may be typed."""
    assert read_wish(JEAN_ZAY, given) == wish


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        ({"partition": "k80"}, ("partition.unknown", "v100, v100-8, a100, h100")),
        ({"num_nodes": "5"}, ("form.no-number", "Nodes: ", "1 to 4;")),
        ({"num_ranks_per_node": "0"}, ("form.no-number", "GPUs per node: ", "1 to 4.")),
        ({"time_min": "1201"}, ("form.no-number", "Minutes: ", "1 to 1200.")),
        ({"time_min": "1e2"}, ("form.no-number", "Minutes: ")),
        ({"time_min": ["10", "20"]}, ("form.no-number", "Minutes: ")),
        ({"account": "abc@a100"}, ("form.no-name", "Project: ", "abc@v100")),
    ],
)
def test_a_wrong_value_is_refused(given, parts):
    """The message names the field and says what to write."""
    with pytest.raises(CourseKitError) as caught:
        read_wish(JEAN_ZAY, given)
    assert [part for part in parts if part not in str(caught.value)] == []


@pytest.mark.parametrize("field", list(asdict(default_wish(JEAN_ZAY))))
@pytest.mark.parametrize("value", HOSTILE)
def test_nothing_hostile_gets_through(field, value):
    """Whatever a shell, sbatch or HTML would take for something else is refused in every field."""
    with pytest.raises(CourseKitError):
        read_wish(JEAN_ZAY, {field: value})


def values_of(html):
    """Return the values that a form's fields show, by name."""
    values = {name: unescape(value) for name, value in re.findall(r'<input[^>]* name="(\w+)"[^>]* value="(.*?)"', html)}
    return values | {"partition": re.search(r'<option value="([\w-]+)" selected>', html)[1]}


def test_every_field_has_a_label_and_its_hint():
    """Each field of the wish is there, with a label and hints that belong to it, and shows the default."""
    html = form_html(JEAN_ZAY, {})
    default = asdict(default_wish(JEAN_ZAY))

    assert set(re.findall(r'<label[^>]* for="(\w+)"', html)) == set(default)
    assert set(re.findall(r'aria-describedby="([\w-]+)"', html)) <= set(re.findall(r' id="([\w-]+)"', html))
    assert values_of(" ".join(html.split())) == {name: str(value) for name, value in default.items()}


def test_the_form_shows_again_what_was_typed():
    """After a mistake everything typed is still there, and nothing of it becomes HTML."""
    typed = {"partition": "a100", "num_nodes": "9", "account": '"><script>alert(1)</script>'}
    html = " ".join(form_html(JEAN_ZAY, typed).split())
    shown = values_of(html)

    assert {name: shown[name] for name in typed} == typed
    assert "<script" not in html
