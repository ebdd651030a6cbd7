"""Find and read the files of sites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coursekit import toml_files
from coursekit.errors import CourseKitError
from coursekit.slurm.sites.check import check_site
from coursekit.slurm.sites.profile import Site

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "slurm/sites"


def site_names(root: Path) -> list[str]:
    """Return the names of all sites, sorted."""
    return sorted(path.stem for path in (root / FOLDER).glob("*.toml"))


def load_site(root: Path, name: str) -> Site:
    """Read one site's file and check it.

    Raises:
        CourseKitError: there is no such site, or its file is wrong; the message names file and key.
    """
    names = site_names(root)
    if name not in names:
        raise CourseKitError(f"there is no site {name!r}: {FOLDER}/ has {', '.join(names) or 'none'}.")
    where = f"{FOLDER}/{name}.toml"
    site = toml_files.load(Site, root / where, where, name=name)
    check_site(site, where)
    return site


def load_sites(root: Path) -> list[Site]:
    """Read all sites, sorted by name.

    Raises:
        CourseKitError: the first file that is wrong, with its key.
    """
    return [load_site(root, name) for name in site_names(root)]
