"""Hand-ins judged by a job array on a real Slurm: nothing is lost when a node, a task or the one who submitted dies."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner

from coursekit.cli import cli
from coursekit.errors import CourseKitError
from coursekit.grading.array.by_slurm import NUM_TRIES, judge_by_slurm
from coursekit.grading.array.job_array import JobArray, batch_size
from coursekit.grading.array.round_folder import append, open_round, write_round
from coursekit.grading.judge.pool import PoolSettings, judge_all
from coursekit.grading.judge.slot import SubmissionLimits
from coursekit.grading.submission.program import read_program
from coursekit.grading.submission.work import Submission, Work
from coursekit.grading.verdict import Verdict
from coursekit.labs.build.build import build_sources
from coursekit.labs.lab import select_labs
from coursekit.slurm.jobs.render import render_job
from coursekit.slurm.jobs.states import look
from coursekit.slurm.rehearsal.cluster import Cluster
from coursekit.slurm.sites.load import load_site

ROOT = Path(__file__).parents[3]
LAB = "01-sgd"
SITE = "local"
SETTINGS = PoolSettings(num_slots=0)
DEADLINE_S = 900  # for a machine that does much else
LATE_S = 1.0  # all nodes of a rehearsal have the same disk

on_slurm = [
    pytest.mark.needs("slurmctld", "slurmd", "slurmdbd", "munged", "mariadb-install-db", "unshare", "bwrap"),
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]

WRONG = {
    "gradient": "def gradient(slope, offset, x, y):\n    return 0.0, 0.0",
    "step": "def step(slope, offset, x, y, rate):\n    return slope, offset",
    "hessian": "def hessian(x):\n    raise ZeroDivisionError",
}
# What would end the array, if anything of Slurm were within reach.
REACHES_FOR_SLURM = """
import os as _os, subprocess as _run
_found = sorted(name for name in _os.environ if name.startswith(("SLURM", "SBATCH", "MUNGE")))
for _folder in ("/run", "/var/run", "/tmp", "/etc/slurm", "/etc/munge"):
    for _path, _inner, _files in _os.walk(_folder):
        _names = [name for name in _files if ".py" not in name]  # where the environment lies in /tmp
        _found += [name for name in _names if "munge" in name or "slurm" in name or name == "socket"]
for _words in (["squeue", "--noheader"], ["scancel", "--name=grade"], ["sbatch", "--wrap=true"]):
    try:
        _done = _run.run(_words, capture_output=True, text=True, timeout=20)
        _found += [_words[0]] if _done.returncode == 0 else []
    except OSError:
        pass
print("of Slurm:", _found)
"""


@pytest.fixture(scope="module")
def cluster():
    """Return a private Slurm with two nodes, each for a task with one hand-in at a time."""
    with Cluster(load_site(ROOT, SITE), num_nodes=2) as started, pytest.MonkeyPatch.context() as patch:
        # In a node's sandbox /tmp is another one, so that no Python of a checkout in there would be found.
        for name, value in {**started.environ, "COURSEKIT_VENV": sys.prefix}.items():
            patch.setenv(name, value)
        yield started


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """Return a checkout with job scripts, as it is seen from every node."""
    root = tmp_path_factory.mktemp("checkout")
    shutil.copytree(ROOT / "slurm", root / "slurm")
    return root


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Return the source of lab 01 and the solution's answers."""
    source = tmp_path_factory.mktemp("source") / f"{LAB}.ipynb"
    shutil.copy(build_sources(ROOT, select_labs(ROOT, ["01"]))[LAB], source)
    program = read_program(LAB, nbformat.read(source, as_version=4))
    return source, {part.name: part.source for part in program.run if part.is_answer}


@pytest.fixture
def small_jobs(small_lab, work, tmp_path):
    """Return three jobs of seconds, of which the last is wrong."""
    source = tmp_path / "small.ipynb"
    nbformat.write(small_lab, source)
    wrong = {"loss": "def loss(*anything):\n    return 0.0"}
    return [Submission(source, work(**(wrong if number > 1 else {})), f"key-{number}") for number in range(3)]


@pytest.fixture
def array(checkout, tmp_path):
    """Return where to submit, and the sentences that were told."""
    told = []
    site, folder = load_site(ROOT, SITE), tmp_path / "grading"
    return JobArray(checkout, site, folder, told.append, num_tasks=2, late_s=LATE_S), told


def scores_of(verdicts):
    """Return by key the points of every test; nobody's verdict may come twice."""
    verdicts = list(verdicts)
    assert [(verdict.key, verdict.fault) for verdict in verdicts if verdict.fault] == []
    assert len({verdict.key for verdict in verdicts}) == len(verdicts)
    return {
        verdict.key: {score.grade_id: (score.points, score.max_points) for score in verdict.scores}
        for verdict in verdicts
    }


def wait_for(found):
    """Return the first true value that a function gives."""
    deadline = time.monotonic() + DEADLINE_S
    while not (value := found()):
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.2)
    return value


class TestOnSlurm:
    """With a Slurm, its daemons and its nodes."""

    pytestmark = on_slurm

    def test_a_node_that_dies_loses_nothing(self, cluster, lab, array):
        """What was judged is kept, the rest is judged on another node, and all is as without Slurm; none reaches it."""
        source, right = lab
        answers = [right, *({**right, name: text} for name, text in WRONG.items())]
        answers += [{**right, "loss": right["loss"] + REACHES_FOR_SLURM}, dict.fromkeys(right, "")]
        works = [Work(LAB, f"s{number}", given) for number, given in enumerate(answers)]
        jobs = [Submission(source, one, f"key-{number}") for number, one in enumerate(works)]
        place, told = array
        stream = judge_by_slurm(jobs, SETTINGS, place)

        verdicts = [next(stream)]
        cluster.fail("main-1")
        (first,) = [open_round(folder) for folder in place.folder.iterdir()]
        rounds = {}
        for verdict in stream:
            verdicts.append(verdict)
            rounds.update({folder.name: open_round(folder).keys for folder in place.folder.iterdir()})

        assert scores_of(verdicts) == scores_of(judge_all(jobs, replace(SETTINGS, num_slots=1)))
        assert sum(" ended as NODE_FAIL. " in sentence for sentence in told) == 1
        del rounds[first.folder.name]
        assert rounds
        assert all(verdicts[0].key not in keys for keys in rounds.values())
        assert {verdict.outputs.get("loss") for verdict in verdicts if verdict.key == "key-4"} == {"of Slurm: []\n"}
        assert list(place.folder.iterdir()) == []

    def test_a_second_call_goes_on_after_a_kill(self, cluster, small_jobs, array, tmp_path):
        """Killed after its first verdict, a call leaves an array that runs, and the next call takes that up."""
        del cluster
        place, told = replace(array[0], num_tasks=1), array[1]
        words = tmp_path / "call.json"
        sources = [[str(job.source), dict(job.work.answers), job.key] for job in small_jobs]
        words.write_text(json.dumps([str(place.root), str(place.folder), sources]))
        call = subprocess.Popen([sys.executable, "-c", CALL, str(words)], stdout=subprocess.PIPE, text=True)
        line = call.stdout.readline()
        call.kill()
        call.communicate()

        judged = scores_of(judge_by_slurm(small_jobs, SETTINGS, place))

        assert line.strip() in judged
        expected = {"loss-tests": (2.0, 2.0), "facts-tests": (1.0, 1.0)}
        wrong = {**expected, "loss-tests": (0.0, 2.0)}
        assert judged == {"key-0": expected, "key-1": expected, "key-2": wrong}
        assert [sentence for sentence in told if "is submitted" in sentence] == [], told
        assert list(place.folder.iterdir()) == []

    def test_ctrl_c_cancels_and_keeps_what_was_judged(self, cluster, small_jobs, array):
        """Closed after the first verdict, the array is cancelled; the next call submits only what is missing."""
        del cluster
        place, told = replace(array[0], num_tasks=1), array[1]
        # The second one takes long enough for the first verdict to be taken meanwhile.
        slow = replace(small_jobs[1].work, extra=(("imports", "import time\ntime.sleep(10)"),))
        small_jobs[1] = replace(small_jobs[1], work=slow)
        with closing(judge_by_slurm(small_jobs, SETTINGS, place)) as stream:
            first = next(stream)
        (left,) = [open_round(folder) for folder in place.folder.iterdir()]
        tasks = [f"{left.array_id}_{number}" for number in range(len(left.batches))]
        states = wait_for(lambda: (now := look(tasks)) and all(state.ended for state in now.values()) and now)
        kept = {verdict.key for verdict in left.all_verdicts()}

        judged = list(judge_by_slurm(small_jobs, SETTINGS, place))

        assert "CANCELLED" in {state.state for state in states.values()}
        assert first.key in kept
        assert {verdict.key for verdict in judged[: len(kept)]} == kept
        assert {verdict.key for verdict in judged} == {job.key for job in small_jobs}
        submitted = [sentence for sentence in told if "is submitted" in sentence]
        assert f": {len(small_jobs) - len(kept)} hand-in" in submitted[1]

    def test_what_is_never_judged_gets_a_fault(self, cluster, small_jobs, array, monkeypatch):
        """Tasks that fail each time are not submitted for ever; the fault says why, from their log."""
        del cluster
        place, told = replace(array[0], num_tasks=1), array[1]
        monkeypatch.setenv("COURSEKIT_VENV", "gone/.venv")

        verdicts = list(judge_by_slurm(small_jobs, SETTINGS, place))

        assert {verdict.key for verdict in verdicts} == {job.key for job in small_jobs}
        assert all(f"submitted {NUM_TRIES} times and never judged" in verdict.fault for verdict in verdicts)
        assert all("The course's Python is not there." in verdict.fault for verdict in verdicts)
        assert sum("is submitted" in sentence for sentence in told) == NUM_TRIES

    def test_a_refusal_is_one_sentence(self, cluster, small_jobs, array, monkeypatch):
        """What Slurm refuses is told in plain words, and leaves no folder behind."""
        del cluster
        place, _ = array
        monkeypatch.setenv("SBATCH_ACCOUNT", "nobodys")
        with pytest.raises(CourseKitError, match=r"^local refused the job: the account nobodys \(SBATCH_ACCOUNT\)"):
            list(judge_by_slurm(small_jobs, SETTINGS, place))
        assert list(place.folder.iterdir()) == []


CALL = f"""
import json, sys
from pathlib import Path
from coursekit.grading.array.by_slurm import judge_by_slurm
from coursekit.grading.array.job_array import JobArray
from coursekit.grading.judge.pool import PoolSettings
from coursekit.grading.submission.work import Submission, Work
from coursekit.slurm.sites.load import load_site
root, folder, jobs = json.loads(Path(sys.argv[1]).read_text())
jobs = [Submission(Path(source), Work("01-small", "ada", answers), key) for source, answers, key in jobs]
array = JobArray(Path(root), load_site(Path(root), "{SITE}"), Path(folder), lambda words: None, num_tasks=1)
for verdict in judge_by_slurm(jobs, PoolSettings(num_slots=0), array):
    print(verdict.key, flush=True)
"""


def test_only_whole_lines_of_ones_own_are_taken(small_jobs, tmp_path):
    """Half a line waits for its end; what is not a verdict, or on another hand-in, is not taken."""
    written = write_round(tmp_path / "grading", small_jobs, SETTINGS, 2)
    opened = open_round(written.folder)
    given = [Verdict("01-small", "ada", (), key=key) for key in ("key-0", "key-1", "key-99")]
    with written.open_verdicts(0, "7-0") as file:
        append(file, given[0])
        append(file, given[2])
        file.write('{"lab": "01-small", "key": "key-1"}\nnonsense\n')
        text = json.dumps(json.loads(given[1].dumps()))
        file.write(text[:40])
        file.flush()
        before = list(opened.new_verdicts())
        file.write(text[40:] + "\n")
        file.flush()
        after = list(opened.new_verdicts())

    assert (before, after, list(opened.new_verdicts())) == ([given[0]], [given[1]], [])
    assert list(opened.all_verdicts()) == given[:2]
    assert opened.batches == (("key-0", "key-1"), ("key-2",))
    read = [one for task in (0, 1) for one in opened.submissions(task)]
    assert [replace(one, source=small_jobs[0].source) for one in read] == small_jobs
    assert opened.settings() == SETTINGS
    assert written.folder.stat().st_mode & 0o077 == 0


def test_what_was_left_needs_no_slurm(small_jobs, array):
    """All judged, but not taken when a call was killed: nothing is submitted; what has a fault is judged again."""
    place, _ = array
    given = [Verdict("01-small", "ada", (), key=job.key, fault="bad luck" * (job.key == "key-2")) for job in small_jobs]
    written = write_round(place.folder, small_jobs, SETTINGS, 3)
    with written.open_verdicts(0, "7-0") as file:
        for verdict in given:
            append(file, verdict)

    assert list(judge_by_slurm(small_jobs[:1], SETTINGS, place)) == given[:1]
    assert open_round(written.folder) == written  # the others may be asked for
    nowhere = replace(place, root=Path("gone"))
    with pytest.raises(CourseKitError, match=r"grade\.sbatch is missing"):
        next(judge_by_slurm(small_jobs[:1], SETTINGS, nowhere, again=True))
    with closing(judge_by_slurm(small_jobs, SETTINGS, nowhere)) as stream:
        assert [next(stream), next(stream)] == given[:2]
        with pytest.raises(CourseKitError, match=r"grade\.sbatch is missing"):
            next(stream)


def test_a_node_without_a_sandbox_judges_nothing(small_jobs, tmp_path):
    """Where no wall can be built, each hand-in gets a fault that names the node, and nothing of it runs."""
    written = write_round(tmp_path / "grading", small_jobs, SETTINGS, 2)
    task = {"SLURM_ARRAY_TASK_ID": "0", "SLURM_JOB_ID": "7", "PATH": "/nowhere"}
    words = [sys.executable, "-m", "coursekit.grading.array.task", str(written.folder)]
    for _ in range(2):  # started again, it has nothing left to do
        done = subprocess.run(words, env=task, capture_output=True, text=True, check=False)
        task["SLURM_RESTART_COUNT"] = "1"

    assert (done.returncode, done.stdout.partition(",")[0]) == (0, "0 hand-ins")
    verdicts = list(written.new_verdicts())
    assert [verdict.key for verdict in verdicts] == ["key-0", "key-1"]
    fault = f"on {os.uname().nodename}: bubblewrap is not installed"
    assert all(verdict.fault.startswith(fault) and verdict.scores == () for verdict in verdicts)


def test_a_folder_that_was_never_finished_is_no_round(tmp_path):
    """Killed while it wrote the batches, a call leaves nothing that another one would take for a round."""
    (tmp_path / "batch-0000.jsonl").write_text("")
    assert open_round(tmp_path) is None


@pytest.mark.parametrize(
    ("num_jobs", "num_tasks", "num_slots", "num_batches"),
    [
        (1, 4, 16, 1),
        (6, 2, 1, 2),  # something for each task
        (200, 4, 16, 4),  # 50 of 160 that would be minutes of work
        (2000, 4, 16, 13),  # 160 for each
        (2000, 4, 1, 4),  # as many as there are slots
    ],
)
def test_batches_are_minutes_of_work(num_jobs, num_tasks, num_slots, num_batches):
    """Every task that may run has something to do, none too little, and there are never more tasks than slots."""
    assert -(-num_jobs // batch_size(num_jobs, num_tasks, num_slots)) == num_batches


@pytest.mark.parametrize(
    ("partition", "num_cpus", "num_at_a_time"),
    [
        ("local/main", 2, 1),  # a rank's share of its memory is 4 GB: too little
        ("karolina/qgpu", 16, 16),  # an eighth of the node, with 128 GB
        ("jean-zay/v100", 10, 5),  # a quarter of the node, with 40 GB
    ],
)
def test_a_task_has_memory_for_what_it_judges_at_a_time(partition, num_cpus, num_at_a_time):
    """The smallest share of a node that has 8 GB, and a hand-in for each core, or for each 8 GB if these are fewer."""
    name, key = partition.split("/")
    site = load_site(ROOT, name)
    script = render_job(ROOT, name, "grade", partition=key)
    assert f"#SBATCH --cpus-per-task={num_cpus} " in script
    assert JobArray(ROOT, site, Path(), print, key).num_slots(SubmissionLimits()) == num_at_a_time


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--tasks", "2"], "--partition, --tasks and --event are of jobs: name the machine with --slurm SITE."),
        (
            ["--event", "event.toml"],
            "--partition, --tasks and --event are of jobs: name the machine with --slurm SITE.",
        ),
    ],
)
def test_options_of_jobs_need_a_machine(words, sentence):
    """Said before anything is read."""
    done = CliRunner().invoke(cli, ["grade", *words])
    assert str(done.exception) == sentence


def test_without_sbatch(array, monkeypatch):
    """Somewhere else than on a login node, one is told where to go."""
    place, _ = array
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CourseKitError, match=r"there is no sbatch here: grade on a login node of .*ssh USER@HOST"):
        place.require()


def test_a_partition_that_is_not_there(array):
    """Said before anything is submitted."""
    place, _ = array
    with pytest.raises(CourseKitError, match="local has no partition 'gone'"):
        replace(place, partition="gone").require()
