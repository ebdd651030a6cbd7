"""The table of the rehearsals at the end of a run: what became of every site's job scripts."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parents[1]


def pytest_terminal_summary(terminalreporter, config):
    """Show what became of every site's scripts in this session: site by lab by launch pattern."""
    del config
    tests = [one for kind in ("passed", "failed") for one in terminalreporter.stats.get(kind, [])]
    sites = [one.nodeid.partition("[")[2][:-1] for one in tests if "test_every_script_completes[" in one.nodeid]
    reports = [ROOT / "build" / "rehearsal" / f"{site}.json" for site in sorted(sites)]
    if reports:
        terminalreporter.section("job scripts on a real Slurm: seconds")
    for path in (path for path in reports if path.exists()):
        report = json.loads(path.read_text())
        for job in report["jobs"]:
            name = job["script"].removesuffix(".sbatch")
            terminalreporter.line(
                f"{report['site']:11} {name:23} {job['state']:10} {job['elapsed_s']:4} {job['nodes']}"
            )
