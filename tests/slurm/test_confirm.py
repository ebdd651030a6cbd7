"""What a machine's answers make of a site's file and of the report; tests/workshop/rehearsal has a real Slurm."""

from __future__ import annotations

import json

import pytest
import tomllib

from coursekit.slurm import confirm
from coursekit.slurm.confirm import Answer, State, corrected, page, report, state_of
from coursekit.slurm.sites.load import load_site
from coursekit.slurm.sites.questions import Question, questions

from .sites.conftest import NAME, TOML, checkout  # noqa: F401  # a fixture

DOUBTS = """
[[confirm]]
key = "partitions.deep"
doubt = "the sea is deep"
command = "scontrol show partition abyss"

[[confirm]]
key = "launch.interface"
doubt = "nobody has seen it"
command = "ip -brief address"
finds = '^(ib\\d+)'
expect = ["ib0"]
partition = "deep"
"""


@pytest.fixture
def site(checkout):  # noqa: F811  # the fixture
    """Return a site with three doubts: on MPI, on a whole partition, and on a node's interface."""
    checkout.file.write_text(TOML + DOUBTS, encoding="utf-8")
    return checkout.load()


def answers_of(site, **changes):
    """Return answers to all questions of a site: as its file says, but for these values by the end of the key."""
    found = []
    for one in questions(site):
        (seen,) = [changes[key] for key in changes if one.key.replace(".", "_").endswith(key)] or [one.expected]
        found.append(Answer(one, seen))
    return found


def test_an_answer_is_settled_by_all_values_that_are_expected():
    """More may be there; without any value there is no answer."""
    two = Question("software.modules", "", "", ("water", "light"))

    assert Answer(two, ("light", "air", "water")).state is State.SETTLED
    assert Answer(two, ("water",)).state is State.DIFFERS
    assert Answer(two).state is State.NOT_ASKED


def test_a_doubt_is_settled_if_all_questions_about_it_are(site):
    """One that differs decides; one without an answer leaves the doubt."""
    states = [[state_of(note, answers) for note in site.confirm] for answers in (
        answers_of(site),
        answers_of(site, deep_max_time_min=("600",)),
        answers_of(site, deep_max_time_min=()),
    )]  # fmt: skip

    assert states == [
        [State.SETTLED, State.SETTLED, State.SETTLED],
        [State.SETTLED, State.DIFFERS, State.SETTLED],
        [State.SETTLED, State.NOT_ASKED, State.SETTLED],
    ]


def test_a_copy_has_the_machines_values_and_no_settled_doubt(site):
    """A value of one partition is set there only; a choice between two values is left to a person, with its doubt."""
    answers = answers_of(
        site, deep_max_time_min=("600",), test_slurm_name=("shoal",), deep_num_gpus_per_node=("4", "8"), launch_mpi=()
    )
    answers = [*answers[:-1], Answer(answers[-1].question, ("ib1",))]  # its file names what to look for, not the value
    before, after = tomllib.loads(TOML + DOUBTS), tomllib.loads(corrected(TOML + DOUBTS, site, answers))

    before["partitions"]["deep"]["max_time_min"] = 600
    before["partitions"]["test"]["slurm_name"] = "shoal"
    del before["confirm"][1]  # the partition's: 4 GPUs are among those seen, and the time is set
    assert after == before


def test_a_copy_without_doubts_is_a_site(site, checkout):  # noqa: F811  # the fixture
    """All doubts settled: the file has none, and is read."""
    checkout.file.write_text(corrected(TOML + DOUBTS, site, answers_of(site)), encoding="utf-8")

    assert load_site(checkout.root, NAME).confirm == ()


def test_a_report_names_nobody(site, monkeypatch):
    """Neither the user, the home folder, the project nor raw output is in it; the page has the same answers."""
    monkeypatch.setenv("USER", "nemo20000")
    monkeypatch.setenv("HOME", "/home/deep/nemo20000")
    first, second, *_ = questions(site)
    mine = Answer(first, ("pmix", "/home/deep/nemo20000/x", "nemo20000", "/open-12-34/y"))
    found = report(site, [mine, Answer(second, why="the command printed: no such user: nemo20000")], "OPEN-12-34")

    assert found["answers"][0]["seen"] == ["pmix", "…/x", "…", "/…/y"]
    assert "nemo20000" not in json.dumps(found) + page(found)
    assert "| settled | `launch.mpi` | `pmix` | `pmix`, `…/x`, `…`, `/…/y` |" in page(found)


def test_a_command_that_never_ends_is_killed_with_all_it_started(tmp_path, monkeypatch):
    """The other questions are asked; tests/conftest.py looks for what is left."""
    monkeypatch.setattr(confirm, "ASK_S", 5)  # a login shell takes a while on a busy machine
    asked = [Question("a", "sleep 1000 | cat", ".+", ("x",)), Question("b", "echo x", "^x$", ("x",))]
    shown = []

    answers = confirm.ask(tmp_path, asked, {}, shown.append)

    assert [one.state for one in answers] == [State.NOT_ASKED, State.SETTLED]
    assert shown == answers
