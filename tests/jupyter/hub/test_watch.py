"""The demo with `--watch`: a student submits, and the points come back without an instructor."""

import os
import subprocess

import nbformat
import psutil
import pytest

from coursekit.jupyter.hub.demo_hub import NUM_PORTS, demo_hub
from coursekit.labs.build.build import build_sources
from coursekit.labs.build.regions import without_markers
from coursekit.labs.cells import cell_name, is_solution
from coursekit.labs.lab import select_labs

from ...ports import free_ports
from .conftest import ROOT, until

LAB = "01-sgd"
WAIT_S = 600

pytestmark = [
    pytest.mark.needs("bwrap", "unshare", "nsenter"),
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be several people"),
]


def test_points_come_back_by_themselves(tmp_path):
    """What an account puts into the exchange, as nbgrader's Submit does, has points and feedback soon after."""
    solved = nbformat.read(build_sources(ROOT, select_labs(ROOT, ["01"]))[LAB], as_version=4)
    answers = {cell_name(cell): without_markers(cell.source) for cell in solved.cells if is_solution(cell)}
    notebook = nbformat.read(ROOT / "labs" / LAB / f"{LAB}.ipynb", as_version=4)
    for cell in notebook.cells:
        cell.source = answers.get(cell_name(cell), cell.source)
    with demo_hub(ROOT, free_ports(NUM_PORTS), tmp_path, watch=True) as hub:
        course, moment = hub.state / "course", "2026-01-05 12:00:00.000000 UTC"
        place = course / "exchange" / "demo" / "inbound" / f"ada+{LAB}+{moment}+random"
        put = f"mkdir '{place}' && cd '{place}' && printf '{moment}' > timestamp.txt && echo x > submission_secret.txt"
        _as_ada(hub, f"{put} && cat > {LAB}.ipynb", nbformat.writes(notebook))
        page = course / "feedback" / "ada" / LAB / f"{LAB}.html"
        until(page.is_file, WAIT_S)
        assert "(Score: 20.0 / 20.0)" in page.read_text()
        until(lambda: list((course / "exchange" / "demo" / "feedback").glob("*.html")), WAIT_S)


def _as_ada(hub, command, text):
    """Run a command in ada's account within the hub's view of the machine."""
    (first,) = psutil.Process(hub.process.pid).children()
    enter = ("nsenter", f"--target={first.pid}", "--mount", "--pid", "--")
    account = ("setpriv", "--reuid=ada", "--regid=ada", "--clear-groups", "--inh-caps=-all")
    subprocess.run([*enter, *account, "sh", "-c", command], input=text, text=True, check=True, timeout=WAIT_S)
