"""A real JupyterHub whose servers are jobs of a real Slurm with two nodes, as a student meets it in a real browser."""

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import nbformat
import psutil
import pytest

from coursekit.course.init import init_course
from coursekit.errors import codes_in
from coursekit.jupyter.hub.demo_hub import NUM_PORTS, PROXY
from coursekit.processes import plain_environment
from coursekit.slurm.sites.load import load_site
from workshop.rehearsal.cluster import Cluster
from workshop.rehearsal.course_copy import make_course

from ...ports import free_ports
from .conftest import ROOT, until

PROGRAMS = ("slurmctld", "slurmd", "slurmdbd", "munged", "mariadb-install-db", "unshare", "gcc", "chromium")
pytestmark = [
    pytest.mark.needs(*PROGRAMS),
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
    pytest.mark.skipif(not (ROOT / PROXY).exists(), reason="needs hub/node_modules: make env"),
]

PENDING_LIMIT_S = 30  # what the hub must not cancel comes sooner, on a busy machine, too
END_TIMEOUT_S = 600
LAB = "02-horovod-sgd"
# Where ranks are, and what the hub answers a student who tells it more than a port, or the port again.
LAST_CELL = """
import json, os, urllib.error, urllib.request

def where():
    return f"{os.environ['SLURMD_NODENAME']} step {os.environ['SLURM_STEP_ID']}"

def tell(data):
    request = urllib.request.Request(
        os.environ["JUPYTERHUB_API_URL"] + "/batchspawner",
        data=json.dumps(data).encode(),
        headers={"Authorization": "token " + os.environ["JUPYTERHUB_API_TOKEN"]},
    )
    try:
        return urllib.request.urlopen(request).status
    except urllib.error.HTTPError as error:
        return error.code

print("\\n".join(ranks.run(where, num_ranks=4)))
print(tell({"port": 5000, "exec_prefix": "touch here"}), tell({"port": 5000}))
"""
CONFIG = """
load_subconfig({file!r})
c.JupyterHub.services[0]["command"].append("--allow-root")
c.JupyterHub.authenticator_class = "shared-password"
c.SharedPasswordAuthenticator.user_password = {password!r}
c.JupyterHub.db_url = "sqlite://"
c.JupyterHub.cookie_secret = b"0" * 32
c.JupyterHub.log_level = "DEBUG"
c.Spawner.environment.update({environ!r})
c.Spawner.notebook_dir = {course!r}
c.Spawner.args = ["--allow-root"]
c.Spawner.ip = "127.0.0.1"
c.Spawner.poll_interval = 1
c.Spawner.startup_poll_interval = 0.3
c.CourseSpawner.state_exechost_exp = "127.0.0.1"
c.CourseSpawner.pending_limit_s = {limit_s}
"""


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """A hub over two nodes of Karolina: its address and password, the Slurm, the course's folder."""
    folder = tmp_path_factory.mktemp("hub")
    with Cluster(load_site(ROOT, "karolina"), num_nodes=2) as cluster:
        course = make_course(ROOT, cluster.folder / "course", "quick")  # the rehearsals run the rest in jobs
        lab = course / "labs" / LAB / f"{LAB}.ipynb"
        notebook = nbformat.read(lab, as_version=4)
        notebook.cells.append(nbformat.v4.new_code_cell(LAST_CELL.strip()))
        nbformat.write(notebook, lab)
        roster = folder / "event.csv"
        roster.write_text("id\nada\n")
        event = init_course(course, folder / "event", "event", roster).course.folder
        password, port = secrets.token_hex(16), free_ports(NUM_PORTS)
        own = {name: str(folder / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
        environ = {name: cluster.environ[name] for name in cluster.environ if name != "SBATCH_ACCOUNT"} | own
        config = CONFIG.format(
            file=str(ROOT / "hub" / "jupyterhub_config.py"),
            course=str(course),
            password=password,
            environ=environ,
            limit_s=PENDING_LIMIT_S,
        )
        (folder / "config.py").write_text(config)
        with (folder / "hub.log").open("w") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "jupyterhub", "-f", str(folder / "config.py")],
                env={
                    **plain_environment(),
                    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                    "SLURM_CONF": cluster.environ["SLURM_CONF"],
                    "COURSEKIT_HUB_ADDRESS": "127.0.0.1",
                    "COURSEKIT_HUB_PORT": str(port),
                    "COURSEKIT_SITE": "karolina",
                    "COURSEKIT_ROOT": str(course),
                    "COURSEKIT_COURSE": str(event),
                    "COURSEKIT_INSTRUCTORS": "root",
                    "SECRET_OF_THE_HUB": "a key",
                },
                cwd=folder,
                stdout=log,
                stderr=log,
            )
            try:
                address = f"http://127.0.0.1:{port}"
                until(lambda: process.poll() is None and answers(f"{address}/hub/api/"))
                yield SimpleNamespace(
                    address=address, password=password, cluster=cluster, course=course, log=folder / "hub.log"
                )
            finally:
                process.send_signal(signal.SIGTERM)
                process.wait(END_TIMEOUT_S)


@pytest.fixture
def page(hub, browser):
    """A browser in which the student has logged in; at the end no job of theirs is left."""
    context = browser.new_context(viewport={"width": 1200, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(300_000)
    page.goto(f"{hub.address}/hub/login?next=%2Fhub%2Fspawn")
    page.fill("input[name=username]", "root")
    page.fill("input[name=password]", hub.password)
    page.click("#login_submit")
    page.wait_for_selector("#num_nodes")
    yield page
    context.close()
    hub.cluster.call("scancel", "--user=root")  # what a test that failed has left
    until(lambda: jobs(hub) == [])


def nodes(hub):
    """Return the nodes on which servers run."""
    return hub.cluster.nodes[hub.cluster.site.default_partition]


def test_lab_02_runs_on_two_nodes_until_the_time_is_over(hub, page):
    """The form gives two nodes, where lab 02's ranks are those of a job step; at its time limit the hub says why."""
    fill(page, num_nodes=2, num_ranks_per_node=2, time_min=30, account="OPEN-00-00")
    start(page)
    job = newest_job(hub)
    executed = run_lab(page, hub)

    assert errors(executed) == []
    assert "".join(executed[-1]["outputs"][0]["text"]).splitlines() == [
        *(f"{node} step 0" for node in nodes(hub) for _ in range(2)),
        "400 404",
    ]
    assert_no_secret_is_seen()

    hub.cluster.call("scontrol", "update", f"JobId={job}", "TimeLimit=0")
    until(lambda: "server stopped, with exit code" in hub.log.read_text().rpartition("Job submitted")[2])

    assert jobs(hub) == []

    page.goto(f"{hub.address}/user/root/lab")
    said = page.inner_text("#why-ended")

    assert (f"job {job} on {nodes(hub)[0][:-1]}[1-2]" in said, codes_in(said)) == (True, ["server.time-limit"])


def start(page):
    """Send the form and wait for JupyterLab."""
    page.click("#spawn_form button[type=submit]")
    page.wait_for_url("**/user/root/lab*")


def run_lab(page, hub):
    """Run the lab's notebook as a student does, save it, and return its code cells."""
    notebook = hub.course / "labs" / LAB / f"{LAB}.ipynb"
    page.goto(f"{hub.address}/user/root/lab/tree/labs/{LAB}/{LAB}.ipynb")
    page.wait_for_selector(".jp-NotebookPanel-toolbar [data-status=idle]")
    num_before = 0

    def all_are_run():
        nonlocal num_before
        page.wait_for_selector(".jp-NotebookPanel-toolbar [data-status=idle]", timeout=600_000)
        page.keyboard.press("Control+s")
        time.sleep(1)
        try:
            cells = [cell for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == "code"]
        except json.JSONDecodeError:  # it is just being written
            return None
        if (cells[-1]["execution_count"] and cells[-1]["outputs"]) or errors(cells):
            return cells
        num_run = sum(bool(cell["execution_count"]) for cell in cells)
        if num_run == num_before:  # the menu opened before the kernel was there, or the run broke off
            page.get_by_role("menuitem", name="Run", exact=True).click()
            page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
            time.sleep(1)
        num_before = num_run
        return None

    return until(all_are_run)


def errors(cells):
    """Return what went wrong in cells."""
    return [output["evalue"] for cell in cells for output in cell["outputs"] if output["output_type"] == "error"]


def assert_no_secret_is_seen():
    """The server's token stands on no command line, and nothing of the hub's own environment reaches the server."""
    processes = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):  # it just ended; a zombie is one, too
            processes.append((" ".join(process.cmdline()), process.environ()))
    servers = [environ for line, environ in processes if "jupyterhub-singleuser" in line]
    (environ,) = (each for each in servers if "SLURM_JOB_ID" in each)  # the other one is formgrader

    assert len(environ["JUPYTERHUB_API_TOKEN"]) >= 32
    assert [line for line, _ in processes if environ["JUPYTERHUB_API_TOKEN"] in line] == []
    assert "SECRET_OF_THE_HUB" not in environ


def answers(url):
    """Whether somebody serves this address."""
    try:
        with urllib.request.urlopen(url, timeout=60):  # noqa: S310  # our own hub on loopback
            return True
    except OSError:
        return False


def fill(page, **values):
    """Fill in the form."""
    for name, value in values.items():
        page.fill(f"#{name}", str(value))


def jobs(hub):
    """Return the jobs that wait or run."""
    return hub.cluster.call("squeue", "--noheader", "--format=%i").split()


def newest_job(hub):
    """Return the number of the newest job."""
    return max(jobs(hub), key=int)
