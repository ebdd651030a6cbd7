"""What a student's code sees in a sandbox: nothing of the kit that knows what is right, the data, few variables."""

from __future__ import annotations

import sys
from pathlib import Path

from coursekit.grading.isolation.sandbox import View
from coursekit.imagenet import find_data
from coursekit.paths import PACKAGE

# Of the kit only these are seen, beside the `__init__.py` of their packages. The contract "What a
# sandbox shows does not know what is right" in pyproject.toml names the same.
MODULES = (
    "coursekit.drivers",
    "coursekit.errors",
    "coursekit.estimator",
    "coursekit.files",
    "coursekit.grading.inside",
    "coursekit.grading.isolation",
    "coursekit.imagenet",
    "coursekit.intervals",
    "coursekit.mime_types",
    "coursekit.paths",
    "coursekit.pictures",
    "coursekit.processes",
    "coursekit.quiz",
    "coursekit.ranks",
    "coursekit.scaling",
    "coursekit.text",
    "coursekit.throughput",
    "coursekit.toml_files",
    "coursekit.way_out",
)
DATA = "/data"


def shown_files() -> set[Path]:
    """Return the files and folders of the kit that are seen."""
    modules = [PACKAGE.parent.joinpath(*module.split(".")) for module in MODULES]
    packages = {parent for path in modules for parent in path.parents if parent.is_relative_to(PACKAGE)}
    shown = {path if path.is_dir() else path.with_suffix(".py") for path in modules}
    return shown | {package / "__init__.py" for package in packages}


def submission_view(folder: str, tmp_bytes: int, *, with_data: bool = True) -> View:
    """Return what is seen; `folder` is the home with the sandbox `none`, '' with others, which have their own.

    Only `with_data` are there images, which the first call makes.
    """
    home = folder or "/tmp"  # noqa: S108  # the sandbox's own
    seen = {str(path): path for path in sorted(shown_files())}
    environ = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": home,
        "TMPDIR": home,
        "LANG": "C.UTF-8",
        "MPLBACKEND": "Agg",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "TF_ENABLE_ONEDNN_OPTS": "0",  # it rewrites graphs, which takes longer than these tiny ones save by it
        "CUDA_VISIBLE_DEVICES": "-1",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    if with_data:
        seen[DATA] = find_data().parent
        environ["COURSEKIT_DATA"] = str(seen[DATA]) if folder else DATA
    return View(seen, environ, tmp_bytes)
