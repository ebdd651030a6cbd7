"""The committed job scripts: `slurm/jobs/<site>/`, made from sites, labs and templates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coursekit.files import no_report, write_if_changed
from coursekit.slurm.jobs.render import JOBS, SUFFIX, render_all
from coursekit.slurm.sites.load import load_site, site_names

if TYPE_CHECKING:
    from pathlib import Path

    from coursekit.files import Report


def generate_jobs(root: Path, report: Report = no_report) -> None:
    """Write the scripts of all sites, and remove those of sites, labs and patterns that are no more.

    Raises:
        CourseKitError: a site's file is wrong, or a script would have a trap in it; nothing is written then.
    """
    scripts = {
        root / JOBS / name / file: text
        for name in site_names(root)
        for file, text in render_all(root, load_site(root, name)).items()
    }
    for path, text in scripts.items():
        write_if_changed(path, text.encode(), report)
    for old in sorted((root / JOBS).glob(f"*/*{SUFFIX}")):
        if old not in scripts:
            old.unlink()
            report("removed", old)
