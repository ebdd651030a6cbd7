"""Every attack of tests/attacks pays nothing, raises its flags, and leaves nothing behind."""

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner

from coursekit.errors import CourseKitError
from coursekit.grading.judge.slot import Slot
from coursekit.grading.submission.cells import Cells
from coursekit.grading.submission.student_folder import Submission
from coursekit.labs.build.build import build_sources
from coursekit.labs.lab import find_labs
from coursekit.paths import find_root
from workshop.attacks.attack import load_attacks
from workshop.attacks.traces import Bait, Before
from workshop.attacks.trial import LIMITS, AttackedLab, grade_staged, run_attack, write_hand_in
from workshop.cli.attacks import attacks as command

BANK = load_attacks(Path(__file__).parents[2] / "attacks")
pytestmark = pytest.mark.needs("bwrap")


@pytest.fixture(scope="module")
def courses():
    """Each lab's source and what students get of it."""
    root = find_root()
    sources = build_sources(root, find_labs(root))
    return {name: AttackedLab(name, source, root / "labs" / name / f"{name}.ipynb") for name, source in sources.items()}


# One test, for the slot is a process that outlives each attack, and a test may leave none behind.
def test_no_attack_pays_or_leaves_anything(courses):
    """Of every attack: no points for what it attacks, all points for the rest, its flags, and no trace."""
    complaints = {}
    with Slot(LIMITS) as slot:
        for attack in BANK:
            outcome = run_attack(attack, courses[attack.lab], slot)
            if outcome.complaints:
                complaints[attack.name] = outcome.complaints
    assert complaints == {}


SPACE = """
def rank_facts():
    import os
    import socket

    socket.create_server(("127.0.0.1", 0)).close()
    space = os.statvfs("/shared")
    in_use = (space.f_blocks - space.f_bavail) * space.f_frsize
    raise ValueError("all is free" if in_use < 1 << 20 else f"{in_use} bytes are in use")
"""


def test_what_a_submission_leaves_costs_the_next_student_nothing(courses):
    """Neither files that it has locked away in the folder of its ranks, nor ports that wait after their end."""
    with Slot(LIMITS) as slot:
        for name in ("shared-folder-filled", "ports-that-wait"):
            attack = next(one for one in BANK if one.name == name)
            course = courses[attack.lab]
            probe = Submission("next", attack.lab, cells=Cells({**course.honest(), "rank-facts": SPACE}))
            outcome = run_attack(attack, course, slot)
            [score] = grade_staged(attack, probe, course, slot).scores
            assert outcome.complaints == ()
            assert "all is free" in score.message


def test_an_attack_that_pays_is_told(tmp_path, monkeypatch):
    """The command ends with status 1 and says so where an attack gets points, here for a right answer."""
    (tmp_path / "right.py").write_text(
        '# %% honest\n# title = "A right answer"\n# fails = ["num-updates-tests"]\n# flags = ["process"]\n'
        "def num_updates(num_samples, batch_size, num_epochs):\n    return num_epochs * -(-num_samples // batch_size)\n"
    )
    monkeypatch.chdir(find_root())
    result = CliRunner().invoke(command, [str(tmp_path)], env={"COLUMNS": "200"})
    assert result.exit_code == 1
    assert "honest: num-updates-tests got 1 of 1 points" in result.output
    assert "honest: the flags process are missing; there are none" in result.output


def test_traces_are_found(courses):
    """What changes the bait course, leaves a file in /tmp or a process is told: else no attack would ever leave any."""
    source = courses["01-sgd"].source.read_bytes()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory(prefix="markabc") as left:
        bait = Bait.make(Path(folder), "01-sgd", source)
        before = Before.look(bait, time.time() - 60)
        (bait.folder / "gradebook.db").write_bytes(b"changed")
        with subprocess.Popen([sys.executable, "-c", "input()", "markabc"], stdin=subprocess.PIPE) as process:
            found = before.traces("markabc")
            process.kill()
    assert "gradebook.db in the course was changed" in found
    assert f"{left} was left" in found
    assert any(sentence.startswith(f"process {process.pid} runs") for sentence in found)


def test_a_dead_process_is_no_trace(tmp_path, courses):
    """Neither one that was dead before and is buried meanwhile, nor one that dies meanwhile and is not yet buried."""

    def dead(*command):
        process = subprocess.Popen(command)
        while psutil.Process(process.pid).status() != psutil.STATUS_ZOMBIE:
            time.sleep(0.01)
        return process

    first = dead("true")
    before = Before.look(Bait.make(tmp_path, "01-sgd", courses["01-sgd"].source.read_bytes()), time.time())
    first.wait()
    second = dead("sleep", "0")
    found = before.traces("markabc")
    second.wait()
    assert found == ()


@pytest.mark.parametrize(
    ("attack", "code"),
    [
        ("# %% odd\nx = 1\n", "title"),
        ('# %% odd\n# title = "a"\n# surprise = 1\nx = 1\n', "surprise"),
        ('# %% odd\n# title = "a"\n', "bank.blank"),
        ('# %% odd\n# title = "a"\n# %% id="loss" after="loss"\nx = 1\n', "bank.odd-cell"),
    ],
)
def test_damaged_attacks_are_refused(tmp_path, attack, code):
    """A mistake is one sentence that names the file and the mistake; see also the tests of answer banks."""
    (tmp_path / "right.py").write_text(attack)
    with pytest.raises(CourseKitError, match=r"right\.py:\d") as refused:
        load_attacks(tmp_path)
    assert code in str(refused.value)


def test_the_page_has_a_row_for_each_attack():
    """The page of the documentation is of this bank: no attack is missing in its table, and none is gone."""
    page = (find_root() / "docs" / "attacks.md").read_text()
    rows = re.findall(r"^\| \[([\w-]+)\]\(\.\./tests/attacks/([\w-]+)\.py\) \|", page, re.MULTILINE)
    assert sorted(rows) == [(attack.name, attack.kind) for attack in BANK]


def test_hand_in_holds_the_attack_and_the_solution(tmp_path, courses):
    """The notebook has the attack's cells, with its mark filled in, and the solution's for the rest."""
    import nbformat

    attack = next(one for one in BANK if one.name == "daemon")
    course = courses[attack.lab]
    released = nbformat.read(course.released, as_version=4)
    write_hand_in(attack, released, course.honest(), tmp_path, mark="markxyz", course=tmp_path)
    cells = {cell.id: cell.source for cell in nbformat.read(tmp_path / "01-sgd.ipynb", as_version=4).cells}
    assert '"markxyz"' in cells["num-updates"]
    assert cells["loss"] == course.honest()["loss"]
