"""The launcher takes the steps of job scripts, in a clean environment, and says in a sentence what went wrong."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from coursekit.jupyter.kernel import PlannedKernel, install, launcher
from coursekit.slurm.sites.load import load_site, site_names
from workshop.rehearsal.files import module_names, write_modules

ROOT = Path(__file__).parents[3]
SITES = site_names(ROOT)
ABOUT_ENVIRONMENT = """
import json, os, sys
print(json.dumps({"environ": dict(os.environ), "folder": os.getcwd(), "prefix": sys.prefix, "path": sys.path}))
"""
needs_modules = pytest.mark.skipif(not Path("/etc/profile.d/lmod.sh").exists(), reason="needs Lmod: apt install lmod")


@pytest.fixture
def install_kernel(course):
    """A function that installs the kernel of a site and returns its launcher."""

    def make(site, partition=""):
        kernel = PlannedKernel(load_site(course, site), partition, course)
        return kernel.name, install(kernel) / "launch.sh"

    return make


@pytest.fixture
def start(install_kernel):
    """A function that calls a site's launcher, which fails, and returns its status and last words."""

    def call(site, **variables):
        _, script = install_kernel(site)
        command = ["/bin/bash", script, "-f", "/nowhere.json"]
        environ = {key: value for key, value in os.environ.items() if not key.startswith("SLURM_")}
        done = subprocess.run(
            command, env={**environ, **variables}, capture_output=True, text=True, check=False, timeout=900
        )
        return done.returncode, done.stderr.splitlines()

    return call


def hub_environment(site, folder):
    """Return the environment of a notebook server in which somebody has loaded the site's modules, and its own Python.

    The site's modules need another one, as real ones do; what that one set, the server has set otherwise since.
    """
    variables = {**os.environ, **write_modules(site, folder)}
    (folder / "libraries.lua").write_text('prepend_path("LD_LIBRARY_PATH", "/site/lib")\n')
    for name in module_names(site):
        with (folder / f"{name}.lua").open("a") as text:
            text.write('if not isloaded("libraries") then load("libraries") end\n')  # as EasyBuild writes it
    script = f"module load {module_names(site)[0]} && env --null"
    done = subprocess.run(["bash", "-lc", script], env=variables, capture_output=True, text=True, check=True)
    loaded = dict(entry.split("=", 1) for entry in done.stdout.split("\0") if "=" in entry)
    assert (loaded.pop("COURSEKIT_REHEARSED_MODULES"), loaded["LD_LIBRARY_PATH"]) == (
        module_names(site)[0],
        "/site/lib",
    )
    hub = dict.fromkeys(("PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "CONDA_PREFIX"), "/hub")
    return {**loaded, **hub}


@needs_modules
@pytest.mark.parametrize("nodes", [("karolina", ""), ("jean-zay", "a100")])
def test_kernel_has_the_sites_modules_and_nothing_of_the_hub(nodes, install_kernel, course, monkeypatch, answer_of):
    """The kernel loads its partition's modules anew and the course's Python, and has nothing of the hub's."""
    site, partition = nodes
    profile = load_site(ROOT, site)
    name, _ = install_kernel(site, partition)
    for key, value in hub_environment(profile, course.parent / "modules").items():
        monkeypatch.setenv(key, value)
    notebook_folder = course / "labs" / "01-sgd"
    monkeypatch.chdir(notebook_folder)

    facts = json.loads(answer_of(name, ABOUT_ENVIRONMENT))
    environ = facts.pop("environ")
    chosen = profile.partitions[partition or profile.default_partition]
    wanted = [*profile.software.modules, *chosen.modules]
    assert environ["COURSEKIT_REHEARSED_MODULES"].split(":") == wanted
    assert environ["LD_LIBRARY_PATH"] == "/site/lib"
    assert not {"PYTHONPATH", "PYTHONHOME", "CONDA_PREFIX"} & set(environ)
    assert environ["VIRTUAL_ENV"] == f"{course}/.venv"
    assert environ["PATH"].split(":")[0] == f"{course}/.venv/bin"
    assert (facts["folder"], facts["prefix"]) == (str(notebook_folder.resolve()), f"{course}/.venv")
    assert not [place for place in facts["path"] if place.startswith("/hub")]
    assert {key: environ.get(key) for key in profile.software.environment} == dict(profile.software.environment)


@pytest.mark.parametrize("site", SITES)
def test_steps_are_those_of_the_sites_job_scripts(site, course):
    """From `set -e` to the environment, and in a job up to the first command, launcher and job script read the same."""
    profile = load_site(ROOT, site)
    ours = [line.strip() for line in launcher(PlannedKernel(profile, "", course)).splitlines()]
    script = (ROOT / "slurm" / "jobs" / site / "02-horovod-sgd.sbatch").read_text().splitlines()
    steps = script[script.index("set -euo pipefail # the first command that fails ends the job") :]
    steps = steps[: steps.index(next(x for x in steps if x.startswith("# papermill")))]
    steps = [line for line in steps if line and not line.startswith("#")]  # doubts stand in scripts only

    assert len(steps) >= 5
    assert [line for line in ours if line in steps] == steps


@pytest.mark.needs("shellcheck")
def test_shellcheck_finds_nothing(course, tmp_path):
    """The launcher of every site has none of the faults that shellcheck knows, whatever the folder is called."""
    scripts = []
    for site in SITES:
        scripts.append(tmp_path / f"{site}.sh")
        scripts[-1].write_text(launcher(PlannedKernel(load_site(ROOT, site), "", course, "it's a/venv")))

    done = subprocess.run(["shellcheck", *scripts], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, "")


@needs_modules
def test_missing_module_is_named(start, home, tmp_path):
    """Where a module is not there, the last line names the step, after what `module` said; the file says the same."""
    module = load_site(ROOT, "karolina").software.modules[0]

    (tmp_path / "none").mkdir()

    status, said = start("karolina", MODULEPATH=str(tmp_path / "none"), LMOD_SHORT_TIME="86400")

    assert (status, f'"module load {module}"' in said[-1]) == (1, True)
    assert f'"{module}"' in said
    assert (home / ".local/state/coursekit/coursekit-karolina.log").read_text().splitlines() == said


def test_missing_environment_is_named(start, course):
    """Without .venv in the checkout, the sentence says where it should be and who says how to make it."""
    (course / ".venv").unlink()

    status, (sentence,) = start("local")

    assert status == 1
    assert f"{course}/.venv" in sentence
    assert "coursekit sites show local" in sentence


def test_course_that_moved_is_named(install_kernel, course):
    """After the checkout moved, the sentence says to install the kernel again."""
    _, script = install_kernel("local")
    os.chdir(course.parent)
    course.rename(course.parent / "moved")

    done = subprocess.run(["/bin/bash", script], capture_output=True, text=True, check=False, timeout=900)

    sentence = done.stderr.splitlines()[-1]

    assert done.returncode == 1
    assert str(course) in sentence
    assert "coursekit kernel install" in sentence


def test_container_takes_a_job(start):
    """A container's kernel outside a Slurm job says that it needs one, and starts none by itself."""
    status, (sentence,) = start("daint-alps")

    assert (status, "Slurm job" in sentence) == (1, True)


def test_environment_of_an_image_is_looked_for_in_the_container(start, course):
    """No other folder of that path is asked for: the container's own words, here those of `env`, say what it lacks."""
    (course / "slurm").unlink()
    shutil.copytree(ROOT / "slurm", course / "slurm")
    site = course / "slurm/sites/local.toml"
    site.write_text(
        site.read_text().replace("[software]\n", '[software]\ncontainer = "env"\nvenv = "/in/the/image/.venv"\n')
    )

    status, said = start("local", LC_ALL="C")

    assert (status, said[-2]) == (1, "env: '/in/the/image/.venv/bin/python': No such file or directory")
