"""A server as a job: what the hub asks Slurm, what it makes of the answers, and that it loses sight of no job.

`sbatch`, `squeue` and `scancel` are stand-ins here, for what a real Slurm cannot be made to say at will;
the real ones are in test_site.py.
"""

import asyncio
import getpass
import os
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from batchspawner import JobStatus
from traitlets.config import Config

from coursekit.errors import codes_in
from coursekit.jupyter.hub.form import ServerWish, explain_ended, explain_refused
from coursekit.jupyter.hub.site import AS_STUDENT, configure
from coursekit.jupyter.hub.spawner import CourseSpawner, Refused
from coursekit.slurm.jobs.explain import WHY_REFUSED
from coursekit.slurm.jobs.slurm_cli import JobState
from coursekit.slurm.sites.load import load_site

ROOT = Path(__file__).parents[3]
JEAN_ZAY = load_site(ROOT, "jean-zay")
BUSY = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)"
FORGOTTEN = "slurm_load_jobs error: Invalid job id specified"
JOB_77 = (
    "{state} {node}|77\x1f{state}\x1f{reason}\x1f{start}\x1f{nodes}\x1f77\x1f2026-01-01T09:00:00\x1f"
    "hub\x1f/home/ada\x1f(null)\x1e"
)
WHY_WAITING = JOB_77.format(state="PENDING", node="", reason="Priority", start="2030-01-01T10:00:00\x1f0:00", nodes="")
RUNS = JOB_77.format(state="RUNNING", node="n1", reason="None", start="2026-01-01T10:00:00\x1f0:05", nodes="n[1-2]")


@pytest.fixture
def say(tmp_path, monkeypatch):
    """Put a stand-in for a command on the PATH: what it prints, or says as an error, after a while; calls are noted."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    def make(program, text="", error="", after_s=0):
        lines = [f'echo "$*" >> {tmp_path}/{program}.calls', f"sleep {after_s}"]
        lines += [f"echo '{program}: error: {error}' >&2", "exit 1"] if error else [f"echo '{text}'"]
        (tmp_path / program).write_text("\n".join(["#!/bin/sh", *lines]))
        (tmp_path / program).chmod(0o755)

    return make


@pytest.fixture
def spawner(monkeypatch, tmp_path):
    """A spawner of this account's own server, with nothing of a hub around it."""
    monkeypatch.setattr(CourseSpawner, "get_env", lambda self: {"PATH": os.environ["PATH"], "USER": self.user.name})
    made = CourseSpawner(
        root=str(ROOT), site_name="jean-zay", notebook_dir=str(tmp_path), startup_poll_interval=0.05, exec_prefix=""
    )
    made.user = SimpleNamespace(name=getpass.getuser(), db=SimpleNamespace(commit=lambda: None))
    made.orm_spawner = SimpleNamespace(name="", user_options={}, state={}, server=None)
    made.user_options = {}
    yield made
    CourseSpawner.endings.clear()


def test_options_by_the_api_are_checked_too(spawner):
    """A student can start a server by the hub's API, past the form: what is wrong there never becomes a script."""
    spawner.user_options = {"num_nodes": 2, "account": "abc\n#SBATCH --uid=0"}
    with pytest.raises(Refused, match=r"Project: .*\[form\.no-name\]"):
        script(spawner)

    spawner.user_options = {"num_nodes": 2, "account": "abc", "req_options": "--uid=0", "root": "/home"}
    options = [line.split(" #")[0].strip() for line in script(spawner).splitlines() if line.startswith("#SBATCH ")]

    assert options == [
        "#SBATCH --job-name=hub",
        "#SBATCH --output=%x-%j.out",
        "#SBATCH --hint=nomultithread",
        "#SBATCH --account=abc@v100",
        "#SBATCH --qos=qos_gpu-t3",
        "#SBATCH --nodes=2",
        "#SBATCH --ntasks-per-node=2",
        "#SBATCH --cpus-per-task=10",
        "#SBATCH --gres=gpu:2",
        "#SBATCH --time=01:00:00",
        "#SBATCH --no-requeue",
    ]


def test_a_job_is_not_lost_when_its_student_stops_at_once(spawner, say, tmp_path):
    """A stop while sbatch still talks to Slurm waits for the job's number and cancels it; nothing is to explain."""
    say("sbatch", "77", after_s=0.5)
    say("squeue", error=FORGOTTEN)
    say("scancel")

    async def interrupted():
        start = asyncio.ensure_future(spawner.start())
        await asyncio.sleep(0.1)
        await spawner.stop()
        with pytest.raises(Refused):
            await start

    asyncio.run(interrupted())

    assert (tmp_path / "scancel.calls").read_text() == "77\n"
    assert CourseSpawner.endings == {}


def test_a_submission_without_an_answer_leaves_no_job(spawner, say, tmp_path):
    """A busy Slurm may take a job and say that it did not: what has the name of this submission is cancelled."""
    say("sbatch", error="Batch job submission failed: Socket timed out on send/recv operation")
    say("scancel")
    with pytest.raises(Refused):
        asyncio.run(spawner.start())
    submitted = (tmp_path / "sbatch.calls").read_text().split()
    (name,) = [word.partition("=")[2] for word in submitted if word.startswith("--job-name=")]

    assert len(name) > len("hub-")
    assert (tmp_path / "scancel.calls").read_text() == f"--name={name}\n"


def test_a_slurm_that_does_not_answer_ends_nothing(spawner, say):
    """While the controller is away a server counts as running; its job stays known."""
    spawner.job_id = "77"
    say("squeue", error=BUSY)

    assert (asyncio.run(spawner.poll()), spawner.job_id, CourseSpawner.endings) == (None, "77", {})


def test_a_job_that_slurm_has_forgotten_is_gone(spawner, say):
    """Without accounting Slurm forgets a job minutes after its end: the server is missed, and the page says so."""
    spawner.job_id = "77"
    say("squeue", error=FORGOTTEN)

    assert (asyncio.run(spawner.poll()), spawner.job_id) == (1, "")
    (ending,) = CourseSpawner.endings.values()
    assert (codes_in(ending), "77" in ending) == (["server.unknown"], True)


def test_a_job_that_ends_before_its_server_is_there(spawner, say):
    """The start ends at once, with what Slurm calls it and the place of its log, and not after the hub's patience."""
    say("sbatch", "77")
    say("squeue", RUNS.replace("RUNNING", "FAILED"))
    with pytest.raises(Refused, match=r"job 77 on n\[1-2\]\) .* 0:05: .* FAILED.*hub-77") as caught:
        asyncio.run(spawner.start())

    assert list(CourseSpawner.endings.values()) == [caught.value.jupyterhub_message]


def test_a_job_that_waits_too_long_is_cancelled(spawner, say, tmp_path):
    """The page then says for how long it may wait, and why it did."""
    spawner.pending_limit_s = 0.2
    say("sbatch", "77")
    say("squeue", WHY_WAITING)
    say("scancel")
    # What scancel would do.
    (tmp_path / "scancel").write_text(
        f'#!/bin/sh\necho "$*" > {tmp_path}/scancel.calls\nsed -i s/PENDING/CANCELLED/g {tmp_path}/squeue\n'
    )
    with pytest.raises(Refused, match=r"\(Priority\).*\[server\.not-started\]"):
        asyncio.run(spawner.start())

    assert (tmp_path / "scancel.calls").read_text() == "77\n"


def test_what_waits_is_said_once(spawner, say):
    """The progress page gets a sentence each time that the reason changes, and the last when the job runs."""
    spawner.job_id = "77"

    async def tell():
        said = []
        say("squeue", WHY_WAITING)
        await spawner.query_job_status()  # as `start` does all the time
        progress = spawner.progress()
        said.append(await progress.__anext__())
        pending = asyncio.ensure_future(progress.__anext__())
        await asyncio.sleep(0.2)
        assert not pending.done()
        say("squeue", RUNS)
        await spawner.query_job_status()
        said.append(await pending)
        spawner.port = 5000
        return said + [each async for each in progress]

    first, last = asyncio.run(tell())

    assert first["message"].startswith("Job 77 waits: ")
    assert last["message"].startswith("Job 77 runs on n[1-2]")


def test_slurms_commands_see_nothing_of_the_hub(spawner, monkeypatch):
    """They get what finds Slurm, and none of the hub's secrets: what runs as a student, the student can look into."""
    monkeypatch.setenv("CONFIGPROXY_AUTH_TOKEN", "secret")
    monkeypatch.setenv("SLURM_CONF", "/etc/slurm.conf")
    names = {line.partition("=")[0] for line in asyncio.run(spawner.run_command("env")).splitlines()}

    assert {"PATH", "SLURM_CONF"} <= names <= {"PATH", "SLURM_CONF", "LANG", "LC_ALL", "TZ", "PWD"}


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.needs("runuser")
def test_slurms_commands_run_as_the_student(spawner):
    """A hub that runs as root asks Slurm in the student's name, whatever that name looks like to a shell."""
    spawner.exec_prefix, spawner.batch_query_cmd, spawner.job_id = AS_STUDENT, "id -un", "77"
    said = []
    for name in ("nobody", "nobody; id -un #"):
        spawner.user.name = spawner.req_homedir = name
        spawner.req_username = spawner._default_username()  # noqa: SLF001 - once for each spawner
        asyncio.run(spawner.query_job_status())
        said.append(spawner.job_status)

    assert said[0] == "nobody"
    assert "root" not in said[1].splitlines()


def test_a_wrong_site_is_said_at_the_start():
    """The hub does not come up with a site that does not exist."""
    with pytest.raises(Exception, match="'karolin'"):
        configure(Config(), "karolin", ROOT)


@pytest.mark.parametrize(
    ("state", "parts"),
    [
        (JobState("TIMEOUT", elapsed="1:00:12", nodes="n[1-2]"), ("job 5 on n[1-2]", "1:00:12", "server.time-limit")),
        (JobState("OUT_OF_MEMORY"), ("job 5", "at once", "more memory")),
        (JobState("SPECIAL_EXIT"), ("SPECIAL_EXIT", "/home/ada/hub-5.out")),
    ],
)
def test_why_a_server_is_gone(state, parts):
    """After how long, where, and why, in one line for the hub's page."""
    said = explain_ended("5", state, "/home/ada/hub-5.out")
    assert [part for part in parts if part not in said] == []


@pytest.mark.parametrize("row", WHY_REFUSED, ids=lambda row: row.pattern)
def test_why_a_server_is_refused(row):
    """The sentence speaks of the form's fields where a command line has options and variables, and quotes Slurm."""
    said = explain_refused(row.pattern, JEAN_ZAY, ServerWish("v100", 1, 2, 60, "", "tea"))

    assert said.endswith(f"Slurm says: {row.pattern}.")
    assert "SBATCH" not in said
    assert not re.search("--(nodes|partition)", said)


@pytest.mark.parametrize(("account", "part"), [("", "abc@v100"), ("mine", "the project mine")])
def test_a_refusal_names_what_was_typed(account, part):
    """A project that is wrong is named, and for one that is missing there is an example."""
    words = "Invalid account or account/partition combination specified"

    assert part in explain_refused(words, JEAN_ZAY, ServerWish("v100", 1, 2, 60, account))


@pytest.mark.parametrize(
    ("queue", "status", "node"),
    [
        (WHY_WAITING, JobStatus.PENDING, None),
        (RUNS, JobStatus.RUNNING, "n1"),
        (RUNS.replace("RUNNING", "CONFIGURING"), JobStatus.PENDING, None),  # nodes may still boot
        (RUNS.replace("RUNNING", "SUSPENDED"), JobStatus.UNKNOWN, None),
        (RUNS.replace("RUNNING", "OUT_OF_MEMORY"), JobStatus.NOTFOUND, None),
    ],
)
def test_where_the_server_is_and_how_it_waits(spawner, say, queue, status, node):
    """A job that waits has no node to go to, one that runs has its first one, and one that has ended is gone."""
    say("squeue", queue)
    spawner.job_id = "77"

    assert asyncio.run(spawner.query_job_status()) == status
    assert not spawner.state_isrunning() or spawner.state_gethost() == node
    assert [("more memory" in words) for words in CourseSpawner.endings.values()] == [True] * (
        status == JobStatus.NOTFOUND
    )


def script(spawner):
    """Return the job script that a spawner submits."""
    return asyncio.run(spawner._get_batch_script())  # noqa: SLF001 - batchspawner's own hook
